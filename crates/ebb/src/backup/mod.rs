//! `ebb backup`, `ebb restore`, and `ebb verify` of backups: where backups lie, how far the work is, and
//! what is said of it. What a backup is and what is made of it, the server's crates know.
//!
//! ```text
//! place       TARGET and SOURCE as they are typed
//! kept        backups of a directory, and which belong together
//! file        one that is written: under another name until it is whole
//! taking      ebb backup
//! restoring   ebb restore
//! verifying   ebb verify BACKUP
//! ```

mod file;
mod kept;
mod place;
mod progress;
mod restoring;
mod taking;
mod verifying;

pub(crate) use restoring::{restore_command, run_restore};
pub(crate) use taking::{backup_command, run_backup};
pub(crate) use verifying::run_verify;
