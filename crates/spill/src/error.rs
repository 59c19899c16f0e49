//! Errors of temporary files, classified by how the caller must react.

use std::{fmt, io};

/// A temporary file could not be created, written or read.
#[derive(Debug)]
pub enum Error {
    /// The maximum number of files is in use; the operation may be retried later.
    Busy,
    /// The size limit is reached, or the device has no space to spare.
    Full,
    /// The device returned this error.
    Device(io::Error),
    /// The data read is incomplete or does not match its checksum.
    Damaged,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Busy => f.write_str("too many operations use temporary files: try again later"),
            Self::Full => f.write_str("no space left for temporary files"),
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
