//! Temporary files for what operations cannot hold in memory. A file has no name: its space is free
//! again as soon as nobody holds it, also after the process was killed. How records are written and
//! ordered is their owner's business.

mod area;
mod error;
mod file;
mod run;

pub use area::{Area, Limits};
pub use error::Error;
pub use file::TempFile;
pub use run::{Reader, Run, Writer};
