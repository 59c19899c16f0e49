//! The tree's errors and those of I/O as errors of the contract, sorted by what the caller does
//! next.

use store::{Error, Kind};

/// Turns an error of a tree into one of the contract.
pub(crate) fn from_tree(context: &str, error: &lsm_tree::Error) -> Error {
    match error {
        lsm_tree::Error::Io(io) => from_io(context, io),
        other => Error::new(Kind::Corrupt, format!("{context}: {other}")),
    }
}

/// Turns an I/O error into one of the contract.
pub(crate) fn from_io(context: &str, error: &std::io::Error) -> Error {
    Error::new(kind_of_io(error), format!("{context}: {error}"))
}

/// A full disk has a kind of its own; a file that is not as we left it is damage; the rest may
/// pass.
fn kind_of_io(error: &std::io::Error) -> Kind {
    match error.kind() {
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => Kind::Full,
        // A file of ours is cut, is not there, or is there when it should not be.
        std::io::ErrorKind::UnexpectedEof
        | std::io::ErrorKind::InvalidData
        | std::io::ErrorKind::InvalidInput
        | std::io::ErrorKind::NotFound
        | std::io::ErrorKind::AlreadyExists => Kind::Corrupt,
        _ => Kind::Unavailable,
    }
}
