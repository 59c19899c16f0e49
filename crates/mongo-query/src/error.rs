//! Errors of the language: MongoDB's error code and a text. Codes without a name (shown as
//! `Location40324`) are the numbers of single assertions in mongod.

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
