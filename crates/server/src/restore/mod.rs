//! Restores a data directory from backups: pieces of the store's image go directly into trees, then
//! journal entries are applied. Clock and format file are written last, so that an interrupted
//! restore leaves no data directory.
//!
//! ```text
//!  directory marked "being restored" → pieces → entries → engine at the backup's instant
//!      → clock file → mark → engine at the present: counts later expirations
//! ```

mod apply;
mod checked;
mod counting;
mod ending;
mod parts;
mod run;
mod stopped_clock;
mod whole;

pub use checked::{BackupChecked, clock_of_backup, verify_backup};
pub use run::{Restore, Restored, Source, restore};
