//! Converts errors of trees and of I/O to the store's errors, classified by how the caller must
//! react.

use store::{Error, Kind};

/// Converts an error of a tree to an error of the store; `context` names the failed action.
pub(crate) fn from_tree(context: &str, error: &lsm_tree::Error) -> Error {
    match error {
        lsm_tree::Error::Io(io) => from_io(context, io),
        other => Error::new(Kind::Corrupt, format!("{context}: {other}")),
    }
}

pub(crate) fn from_io(context: &str, error: &std::io::Error) -> Error {
    Error::new(kind_of_io(error), format!("{context}: {error}"))
}

/// Returns the kind of an I/O error. A full disk has its own kind; an unexpected state of a file
/// means damage; other errors may be temporary.
fn kind_of_io(error: &std::io::Error) -> Kind {
    match error.kind() {
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => Kind::Full,
        // These errors mean that a file is truncated, missing, or exists unexpectedly.
        std::io::ErrorKind::UnexpectedEof
        | std::io::ErrorKind::InvalidData
        | std::io::ErrorKind::InvalidInput
        | std::io::ErrorKind::NotFound
        | std::io::ErrorKind::AlreadyExists => Kind::Corrupt,
        _ => Kind::Unavailable,
    }
}
