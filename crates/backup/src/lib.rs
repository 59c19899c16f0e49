//! The byte format of backups: a stream of compressed, checksummed frames between a line that names
//! the format and a trailer with a hash of everything before it. A stream without a complete
//! trailer is not a backup. The crate only reads and writes streams, without stores, sockets or
//! files.
//!
//! ```text
//! ebb backup, format 1 ⏎ | header | pieces, or entries | clock | switches | trailer
//! ```
//!
//! `docs/format.md` specifies the bytes.

mod chain;
mod copy;
mod error;
mod frame;
mod header;
mod reader;
mod survey;
#[cfg(test)]
mod tests;
mod writer;

pub use chain::{Link, check_chain, check_next};
pub use copy::copy_checked;
pub use error::Error;
pub use frame::{FrameKind, FrameReader, FrameWriter};
pub use header::{Clock, Header, Kind, Stamp, Trailer};
pub use reader::{Part, Reader, read_header};
pub use survey::{Skip, Survey, survey};
pub use writer::Writer;
