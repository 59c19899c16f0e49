//! Converts errors of the tree and of I/O to the store's errors, classified by how the caller must
//! react.

use store::{Error, Kind};

/// Converts an error of the tree to an error of the store; `context` names the failed action.
pub(crate) fn from_tree(context: &str, error: &tree::Error) -> Error {
    Error::new(kind_of_tree(error), format!("{context}: {error}"))
}

/// Returns the kind of an error of the tree. Of a tree that has stopped, it is that of the cause.
fn kind_of_tree(error: &tree::Error) -> Kind {
    match error {
        tree::Error::Io { source, .. } => kind_of_io(source),
        tree::Error::SnapshotEnded => Kind::ViewEnded,
        tree::Error::Stopped(cause) => kind_of_tree(cause),
        tree::Error::Damaged(_) | tree::Error::UnknownSpace(_) | tree::Error::Refused(_) => {
            Kind::Corrupt
        }
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

/// Returns the error for requests to a store that is being closed.
pub(crate) fn closed_error() -> Error {
    Error::new(Kind::Unavailable, "the store is closed")
}
