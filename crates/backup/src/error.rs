//! Why a stream of a backup is not read or written, as a sentence for the person who asked.

use std::{fmt, io};

/// Why a stream was not read or written.
#[derive(Debug)]
pub enum Error {
    /// Reading or writing failed, for a reason outside.
    Io(io::Error),
    /// It is no backup, or not as it was written.
    Damaged(String),
    /// Another version wrote it, or it does not fit what it is to be used with.
    Refused(String),
}

impl Error {
    /// The stream is not as it was written.
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

/// An end of the stream where more has to follow is damage, everything else is the system's.
impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::damaged("the backup ends early"),
            _ => Self::Io(error),
        }
    }
}
