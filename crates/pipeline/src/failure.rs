//! Failures with MongoDB's numbers, by what the request got wrong. The number is what drivers show
//! and applications compare; the text is MongoDB's own.

use evaluation::{Error, Kind};

/// A failure that the request has to correct.
pub(crate) fn invalid_request(number: i32, message: impl Into<String>) -> Error {
    Error::new(Kind::Invalid, number, message)
}

/// A failure because a value has a type that the operation does not take.
pub(crate) fn type_mismatch(number: i32, message: impl Into<String>) -> Error {
    Error::new(Kind::TypeMismatch, number, message)
}
