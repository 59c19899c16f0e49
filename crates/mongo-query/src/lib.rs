//! MongoDB's query language: filters, projections, sorts, updates, expressions and pipelines,
//! parsed from BSON into plans of the crate `pipeline`. Nothing is evaluated here, and the parsers
//! have no access to collections.
//!
//! Numbers and texts of errors are those of mongod 6.0 (of 8.0 for later features). Drivers pass
//! them on to applications, whose tests compare numbers and often texts, so neither may be changed
//! here, not even to improve them. Features of MongoDB that this server lacks are refused with 238
//! and a text that names the feature; `support` lists them. Codes without a name (shown as
//! `Location40324`) are the numbers of single assertions in mongod.
//!
//! Modules import each other in one direction: `field_path`, `text_score`, then `sort`, `expression`, `filter`,
//! `projection`, `pipeline` and `update`. `support` is separate.

/// Expressions such as `{$add: ["$a", 1]}`.
pub mod expression;
/// The validation of dotted paths.
pub mod field_path;
/// Filters such as `{a: {$gt: 1}}`.
pub mod filter;
/// Pipelines such as `[{$match: {..}}, {$group: {..}}]`.
pub mod pipeline;
/// Projections such as `{a: 1, b: 0}`.
pub mod projection;
#[cfg(test)]
mod shell_text;
/// Sorts such as `{a: 1, b: -1}`.
pub mod sort;
/// The supported operators and stages, for the documentation.
pub mod support;
/// The score of a search for texts.
pub mod text_score;
/// Updates such as `{$set: {a: 1}}`.
pub mod update;

use std::fmt;

/// A request that is invalid in MongoDB's language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// MongoDB's error code, such as 2 (BadValue) or 40324 (unrecognized stage).
    pub code: i32,
    /// Error message, worded as in MongoDB where that wording is known.
    pub message: String,
}

impl Error {
    /// Creates an error with this code.
    pub fn new(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    /// Creates an error 2 (BadValue).
    pub fn bad_value(message: impl Into<String>) -> Self {
        Self::new(2, message)
    }

    /// Creates an error 9 (FailedToParse).
    pub fn failed_to_parse(message: impl Into<String>) -> Self {
        Self::new(9, message)
    }

    /// Creates an error 14 (TypeMismatch).
    pub fn type_mismatch(message: impl Into<String>) -> Self {
        Self::new(14, message)
    }

    /// Creates an error 238 (NotImplemented) for a feature of MongoDB that this server lacks. The
    /// text names the feature.
    pub(crate) fn unsupported(name: &str) -> Self {
        Self::new(238, format!("{name} is not supported"))
    }
}

/// Converts an evaluator's error, which already has MongoDB's number.
impl From<evaluation::Error> for Error {
    fn from(error: evaluation::Error) -> Self {
        Self::new(error.number, error.message)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
