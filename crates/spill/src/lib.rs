//! Temporary files for data that operations cannot hold in memory. A file has no name, so its space
//! is freed when it is closed, even if the process is killed. The format and order of records are
//! defined by the caller.
//!
//! An [`Area`] limits the number and size of files; a [`TempFile`] reserves its space from it,
//! chunk by chunk; a [`Run`] is a sequence of records in one file, written by a [`Writer`] and read
//! by a [`Reader`], possibly several times. Several runs may share a file, so that a merge of many
//! runs needs few descriptors.

mod area;
mod error;
mod file;
mod run;

pub use area::{Area, Limits};
pub use error::Error;
pub use file::TempFile;
pub use run::{Reader, Run, Writer};
