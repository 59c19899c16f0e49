//! Errors of reading or writing a backup stream, as sentences for the operator.

use std::{fmt, io};

/// The reason why a stream could not be read or written.
#[derive(Debug)]
pub enum Error {
    /// An I/O error of the stream that is read or written.
    Io(io::Error),
    /// Not a backup, or damaged.
    Damaged(String),
    /// The backup was written by another version, or cannot be used in this context.
    Refused(String),
}

impl Error {
    pub(crate) fn damaged(why: impl Into<String>) -> Self {
        Self::Damaged(why.into())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Damaged(why) | Self::Refused(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for Error {}

/// A premature end of the stream is damage; other errors come from the system.
impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::damaged("the backup ends early"),
            _ => Self::Io(error),
        }
    }
}
