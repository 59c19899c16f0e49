//! Maps I/O errors to errors of the store's contract, by how the caller has to react.

use std::io;

use store::{Error, Kind};

/// Converts an I/O error into an error of the store's contract.
pub(crate) fn from_io(context: &str, error: &io::Error) -> Error {
    Error::new(kind_of_io(error), format!("{context}: {error}"))
}

/// Returns the kind of an I/O error. A full disk has its own kind. A file with other contents than
/// the journal has written counts as damage. Other errors may be transient.
fn kind_of_io(error: &io::Error) -> Kind {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Kind::Full,
        io::ErrorKind::UnexpectedEof
        | io::ErrorKind::InvalidData
        | io::ErrorKind::NotFound
        | io::ErrorKind::AlreadyExists => Kind::Corrupt,
        io::ErrorKind::WouldBlock => Kind::Refused,
        _ => Kind::Unavailable,
    }
}

/// Creates the error for an append or read that violates a limit of the journal.
pub(crate) fn invalid(message: impl Into<String>) -> Error {
    Error::new(Kind::Invalid, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_say_what_to_do() {
        for (error, kind) in [
            (io::Error::from_raw_os_error(28), Kind::Full),
            (io::Error::from_raw_os_error(122), Kind::Full),
            (io::Error::from_raw_os_error(5), Kind::Unavailable),
            (io::ErrorKind::UnexpectedEof.into(), Kind::Corrupt),
            (io::ErrorKind::WouldBlock.into(), Kind::Refused),
        ] {
            assert_eq!(from_io("write", &error).kind, kind, "{error}");
        }
    }
}
