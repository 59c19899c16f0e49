//! MongoDB's semantics: filters, expressions, projections, edits, sorts and aggregation pipelines
//! over documents, with MongoDB's rules, error numbers and error texts. `mongo-query` makes the
//! plans and the engine runs them.
//!
//! The crate is not async and has no access to a store; its only I/O are temporary files of stages
//! that exceed their memory. If a pipeline needs another collection it returns a request
//! (`exec::Next::Want`), and the caller supplies the rows. The SQL of the other API has its own
//! evaluator (`select`).
//!
//! ```text
//! filter    conditions on documents   project   projections
//! expr      values over a document    edit      updates
//! sort      sort orders               group     accumulators
//! exec      pipelines of stages
//! ```
//!
//! Messages and numbers are MongoDB's because drivers and applications compare them. They are set
//! where the failure is detected, and the API passes them on. This file formats values for
//! messages.

pub mod accumulate;
pub mod edit;
pub mod exec;
pub mod expr;
pub mod filter;
pub mod group;
pub mod path;
pub mod project;
pub mod sort;
mod text;

pub use expr::{Env, Expr};
pub use filter::Filter;

use document::{ValueRef, shell};
use evaluation::{Error, Evaluated, Kind};
use text::{double_text, iso_text};

/// Returns the failure of an invalid request.
pub(crate) fn invalid_request(number: i32, message: impl Into<String>) -> Error {
    Error::new(Kind::Invalid, number, message)
}

/// Returns the failure of an operation on a value of a wrong type.
pub(crate) fn type_mismatch(number: i32, message: impl Into<String>) -> Error {
    Error::new(Kind::TypeMismatch, number, message)
}

/// Name of the field that identifies the row of a document in a result (`showRecordId`).
pub const RECORD_ID: &str = "$recordId";

/// Name of the field in which rows have the score of a search, between the stage that computes it
/// and the last one that uses it. A path in a request cannot begin with a dollar.
pub const SCORE_FIELD: &str = "$textScore";

/// Formats the result of an expression, `MISSING` if it has no value.
pub(crate) fn shown_or_missing(got: &Evaluated<'_>) -> String {
    got.value().map_or_else(|| "MISSING".to_owned(), |value| shown(value))
}

/// Formats a value for a message. Doubles inside documents and arrays are formatted alike, without
/// trailing zeros.
pub(crate) fn shown(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Double(v) => double_text(v, 6),
        ValueRef::DateTime(v) => iso_text(v),
        ValueRef::Document(v) => {
            let fields: Vec<String> =
                v.iter().map(|(name, value)| format!("{name}: {}", shown(value))).collect();
            format!("{{{}}}", fields.join(", "))
        }
        ValueRef::Array(v) => {
            format!("[{}]", v.iter().map(shown).collect::<Vec<_>>().join(", "))
        }
        other => shell(other).to_string(),
    }
}
