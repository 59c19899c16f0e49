//! Making a data directory of backups: pieces go straight into trees, entries behind them, and the clock
//! and the mark come last, so that what was interrupted is no data directory.
//!
//! ```text
//!  directory marked "being restored" → pieces → entries → engine at the backup's instant
//!      → clock file → mark → engine at the present: what has expired on arrival
//! ```

mod apply;
mod checked;
mod counting;
mod ending;
mod parts;
mod run;
mod standing_clock;
mod whole;

pub use checked::{BackupChecked, clock_of_backup, verify_backup};
pub use run::{Restore, Restored, Source, restore};
