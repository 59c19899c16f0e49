//! Temporary files for data that operations cannot hold in memory. A file has no name, so its space
//! is freed when it is closed, even if the process is killed. The caller defines the format and
//! order of records.
//!
//! An [`Area`] limits the number and size of files; a [`TempFile`] reserves its space from it,
//! chunk by chunk; a [`Run`] is a sequence of records in one file, written by a [`Writer`] and read
//! by a [`Reader`], possibly several times. Several runs may share a file, so that a merge of many
//! runs needs few descriptors.

mod area;
mod file;
mod run;

pub use area::{Area, Limits};
pub use file::TempFile;
pub use run::{Reader, Run, Writer};

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
