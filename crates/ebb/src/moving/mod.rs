//! `ebb export` and `ebb import`: command line, progress and output. The requests to the server and
//! the file formats are in crate `transfer`.
//!
//! ```text
//! flags       flags of both commands: the server, the collection, the format
//! watching    the progress bar, and interruption
//! exporting   ebb export
//! importing   ebb import
//! ```

mod exporting;
mod flags;
mod importing;
mod watching;

pub(crate) use exporting::{export_command, run_export};
pub(crate) use importing::{import_command, run_import};
