//! `ebb export` and `ebb import`: which server and which file are meant, how far it is, and what is said in the
//! end. What is asked of the server and how documents stand in a file is the crate `transfer`'s.
//!
//! ```text
//! flags       what both commands are told: the server, the collection, the format
//! watching    the bar, and whether the command was asked to end
//! exporting   ebb export
//! importing   ebb import
//! ```

mod exporting;
mod flags;
mod importing;
mod watching;

pub(crate) use exporting::{export_command, run_export};
pub(crate) use importing::{import_command, run_import};
