//! Taking a backup of an open store: its image (a snapshot of all data) or its latest journal
//! entries, the clock and the feature switches, as a stream in the format of the crate `backup`.
//!
//! ```text
//!  image ──pieces──▶ reading thread ──▶ packing thread ──bounded channel──▶ client
//! ```

mod backup_run;
mod lineage;
mod stream;

pub use backup_run::{BackupKind, BackupRun};
pub use lineage::{begin_lineage, lineage_of};
pub use stream::write_to_stream;
