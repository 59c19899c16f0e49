//! The byte format of backups: a stream of compressed, checksummed frames between a line that names
//! the format and a trailer with a hash of everything before it. A stream without a complete
//! trailer is not a backup. The crate only reads and writes streams, without stores, sockets or
//! files.
//!
//! ```text
//! ebb backup, format 1 ⏎ | header | pieces, or entries | clock | switches | trailer
//! ```
//!
//! A full backup has the store's image in pieces, an incremental one has journal entries.
//! `docs/format.md` specifies the bytes.

mod chain;
mod copy;
mod frame;
mod header;
mod reader;
mod survey;
#[cfg(test)]
mod tests;
mod writer;

pub use chain::{Link, check_chain, check_next};
pub use copy::copy_checked;
pub use frame::{FrameKind, FrameReader, FrameWriter};
pub use header::{Clock, Header, Kind, Stamp, Trailer};
pub use reader::{Part, Reader, read_header};
pub use survey::{Skip, Survey, survey};
pub use writer::Writer;

use std::{fmt, io};

/// The reason why a stream could not be read or written, as a sentence for the operator.
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
