//! `ebb backup`, `ebb restore`, and `ebb verify` of backups: where backups lie, how far the work is, and
//! what is said of it. What a backup is and what is made of it, the server's crates know.
//!
//! ```text
//! place       TARGET and SOURCE as they are typed
//! kept        backups of a directory, and which belong together
//! file        a file that is written: under another name until it is whole
//! s3          objects of a store that speaks S3
//! s3_client   the HTTP client of such a store
//! sink        where one goes: a file, an object, standard output
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

/// The word for a kind of backup.
fn kind_name(kind: backup::Kind) -> &'static str {
    match kind {
        backup::Kind::Full => "full",
        backup::Kind::Incremental => "incremental",
    }
}

/// An instant as people and programs read it; one too far away for a calendar in milliseconds.
fn instant(ms: i64) -> String {
    match jiff::Timestamp::from_millisecond(ms) {
        Ok(at) => format!("{at:.3}"),
        Err(_) => format!("{ms} ms"),
    }
}
