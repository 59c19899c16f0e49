//! What a backup is as bytes: one stream of compressed, checksummed frames between a line that names the
//! format and a trailer with a hash over everything before it. A stream without a whole trailer is no
//! backup. The crate reads and writes streams; it knows no store, no socket and no place to keep them.
//!
//! ```text
//! ebb backup, format 1 ⏎ | header | pieces, or entries | clock | switches | trailer
//! ```
//!
//! `docs/format.md` has the bytes.

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
