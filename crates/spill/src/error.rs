//! What can go wrong with a temporary file, sorted by what the caller does next.

use std::{fmt, io};

/// A temporary file cannot be made, written or read.
#[derive(Debug)]
pub enum Error {
    /// Operations hold as many files as they may together: it may go well later.
    Busy,
    /// Temporary files may not take more space, or the device has none to spare.
    Full,
    /// The device failed.
    Device(io::Error),
    /// What was read is not what was written.
    Damaged,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Busy => f.write_str("too many operations use temporary files: try again later"),
            Self::Full => f.write_str("there is no space left for temporary files"),
            Self::Device(error) => write!(f, "a temporary file failed: {error}"),
            Self::Damaged => f.write_str("a temporary file was damaged"),
        }
    }
}

impl std::error::Error for Error {}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full,
            _ => Self::Device(error),
        }
    }
}
