//! Failures with MongoDB's numbers, by what the request got wrong.

use evaluation::{Error, Kind};

/// A failure the request has to correct.
pub(crate) fn invalid_request(number: i32, message: impl Into<String>) -> Error {
    Error::new(Kind::Invalid, number, message)
}

/// A value of a type that does not fit.
pub(crate) fn type_mismatch(number: i32, message: impl Into<String>) -> Error {
    Error::new(Kind::TypeMismatch, number, message)
}
