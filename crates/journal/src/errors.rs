//! Errors of I/O as errors of the store's contract, sorted by what the caller does next.

use std::io;

use store::{Error, Kind};

/// Turns an error of I/O into one of the contract.
pub(crate) fn from_io(context: &str, error: &io::Error) -> Error {
    Error::new(kind_of_io(error), format!("{context}: {error}"))
}

/// A full disk has a kind of its own; a file that is not as we left it is damage; the rest may
/// pass.
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

/// The error of an append or a read that breaks a limit of the journal.
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
