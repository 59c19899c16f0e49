//! Temporary files for what operations cannot hold in memory. A file has no name: its space is free
//! again as soon as nobody holds it, also after the process was killed. How records are written and
//! ordered is their owner's business.
//!
//! An [`Area`] bounds how many files and bytes there are; a [`TempFile`] takes its space from it,
//! chunk by chunk; a [`Run`] is a sequence of records in one file, written by a [`Writer`] and read
//! once or more by a [`Reader`]. Several runs may share a file, so that a merge of many needs few
//! descriptors.

mod area;
mod error;
mod file;
mod run;

pub use area::{Area, Limits};
pub use error::Error;
pub use file::TempFile;
pub use run::{Reader, Run, Writer};
