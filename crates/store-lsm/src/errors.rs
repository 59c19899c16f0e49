//! The tree's errors and those of I/O as errors of the contract, sorted by what the caller does
//! next.

use store::{Error, Kind};

/// Turns an error of the tree into one of the contract.
pub(crate) fn from_fjall(context: &str, error: &fjall::Error) -> Error {
    let kind = match error {
        fjall::Error::Io(io) => kind_of_io(io),
        fjall::Error::Storage(fjall::LsmError::Io(io)) => kind_of_io(io),
        fjall::Error::Locked | fjall::Error::InvalidVersion(_) => Kind::Refused,
        fjall::Error::Poisoned | fjall::Error::KeyspaceDeleted => Kind::Unavailable,
        _ => Kind::Corrupt,
    };
    let why = match error {
        // It says no more of what happened to one of its threads.
        fjall::Error::Poisoned => "an earlier error of the disk stopped the tree".to_owned(),
        fjall::Error::Io(io) => io.to_string(),
        other => other.to_string(),
    };
    Error::new(kind, format!("{context}: {why}"))
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
