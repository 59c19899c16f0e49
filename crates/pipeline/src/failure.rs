//! Failures with MongoDB's numbers, by kind of mistake in the request. Drivers show and
//! applications compare the number; the text is MongoDB's, too.

use evaluation::{Error, Kind};

/// Returns the failure of an invalid request.
pub(crate) fn invalid_request(number: i32, message: impl Into<String>) -> Error {
    Error::new(Kind::Invalid, number, message)
}

/// Returns the failure of an operation on a value of a wrong type.
pub(crate) fn type_mismatch(number: i32, message: impl Into<String>) -> Error {
    Error::new(Kind::TypeMismatch, number, message)
}
