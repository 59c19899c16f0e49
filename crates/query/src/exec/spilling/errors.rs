//! Failures of temporary files as failures of an operation.

use crate::{Error, Kind, expr::SHORT};

/// MongoDB's number for a device without space.
const FULL: i32 = 14031;
/// MongoDB's number for an operation that may go well later.
const AGAIN: i32 = SHORT;

/// What an operation says when a temporary file fails.
pub(in crate::exec) fn failed(error: spill::Error) -> Error {
    let text = error.to_string();
    match error {
        spill::Error::Busy => Error::new(Kind::Short, SHORT, text),
        spill::Error::Full => Error::new(Kind::Full, FULL, text),
        spill::Error::Device(_) | spill::Error::Damaged => Error::new(Kind::Device, AGAIN, text),
    }
}

/// A record is not what was written, although its checksum is right.
pub(in crate::exec) fn damaged() -> Error {
    failed(spill::Error::Damaged)
}
