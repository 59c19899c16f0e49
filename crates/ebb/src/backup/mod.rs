//! `ebb backup`, `ebb restore`, and `ebb verify` of backups: locations of backups, progress and
//! output. The backup format and its processing are in crates of the server.
//!
//! ```text
//! place       TARGET and SOURCE of the command line
//! kept        backups of a directory, and their chains
//! file        a file being written, under a temporary name until it is complete
//! s3          objects of an S3-compatible store
//! s3_client   the HTTP client for such a store
//! sink        destination of a backup: a file, an object, standard output
//! taking      ebb backup
//! restoring   ebb restore
//! verifying   ebb verify BACKUP
//! ```

mod file;
mod kept;
mod place;
mod restoring;
mod s3;
mod s3_client;
mod sink;
mod taking;
mod verifying;

pub(crate) use restoring::{restore_command, run_restore};
pub(crate) use taking::{backup_command, run_backup};
pub(crate) use verifying::run_verify;

/// Returns the name of a kind of backup.
fn kind_name(kind: backup::Kind) -> &'static str {
    match kind {
        backup::Kind::Full => "full",
        backup::Kind::Incremental => "incremental",
    }
}

/// Formats an instant as a date, or in milliseconds if it is outside of the calendar's range.
fn instant(ms: i64) -> String {
    match jiff::Timestamp::from_millisecond(ms) {
        Ok(at) => format!("{at:.3}"),
        Err(_) => format!("{ms} ms"),
    }
}
