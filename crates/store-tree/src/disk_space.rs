//! Free space of the device: commits are refused with a clear error before the tree runs out of
//! space during a write. Commits that free space may also use a reserve: free space that other
//! commits leave and, when other programs have taken that, the space of a file that is then
//! truncated.
//!
//! ```text
//!  device:  │ used … │ free for commits │ reserve (5 %, 4 to 32 MiB) │
//!                                       │  3/4 for deletes │ 1/4 stays free
//!  the file has half of the reserve; it is emptied when other programs have filled the rest
//! ```
//!
//! Writes are counted between two checks, ten per second: each byte takes space in the journal and,
//! later, in tables.

use std::{
    path::PathBuf,
    sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
};

use store::{Error, Kind};

use crate::reserve::Reserve;

/// 1/PART of the device, within bounds, is reserved for commits that free space.
const PART: u64 = 20;
/// Minimum size of the reserve, enough for deletes on a small device.
const LEAST_RESERVE: u64 = 4 * 1024 * 1024;
/// Maximum size of the reserve of free disk space.
const MOST_RESERVE: u64 = 32 * 1024 * 1024;
/// The last 1/LAST_PART of the reserve is never used.
const LAST_PART: u64 = 4;
/// 1/FILE_PART of the reserve is occupied by a file.
const FILE_PART: u64 = 2;
/// Minimum duration of a refusal in checks, of which there are ten per second.
const REFUSED_CHECKS: u32 = 5;
/// Space that other programs may use up between two checks. If less is left, commits that free
/// space check the device themselves.
const NEAR: u64 = 256 * 1024 * 1024;

/// Tracks the free space of a directory's device.
pub(crate) struct DiskSpace {
    folder: PathBuf,
    /// Bytes that ordinary commits may write until the next check.
    left: AtomicU64,
    /// Bytes that commits which free space may write until the next check.
    left_for_freeing: AtomicU64,
    /// Bytes in memtables at the last check.
    in_memory: AtomicU64,
    /// Whether commits that need space are refused.
    short: AtomicBool,
    /// Number of checks until a refusal may end, so that the refusal lasts long enough to be
    /// visible in the status.
    checks_left: AtomicU32,
    /// The file that is shrunk so that deletes can be written to a full disk.
    file: Reserve,
}

impl DiskSpace {
    /// Creates the state before the first check.
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self {
            file: Reserve::new(&folder),
            folder,
            in_memory: AtomicU64::new(0),
            left: AtomicU64::new(u64::MAX),
            left_for_freeing: AtomicU64::new(u64::MAX),
            short: AtomicBool::new(false),
            checks_left: AtomicU32::new(0),
        }
    }

    /// Checks the free space, and fills the reserve file if there is plenty. `in_memory` bytes will
    /// be written to tables.
    pub(crate) fn check_device(&self, in_memory: u64) {
        self.in_memory.store(in_memory, Ordering::SeqCst);
        let less = |looks: u32| looks.checked_sub(1);
        let _ = self.checks_left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less);
        let Some((free, total)) = self.measure_free() else { return };
        let wanted = reserve_of(total) / FILE_PART;
        let plenty = reserve_of(total).saturating_mul(2).saturating_add(in_memory);
        if self.file.held_bytes() < wanted && plenty.saturating_add(wanted) < free {
            // A file system that cannot preallocate files has no reserve file.
            let _ = self.file.hold_bytes(wanted);
        }
    }

    /// Empties the reserve file, so that a start has space on a full disk; returns false if it was
    /// empty.
    pub(crate) fn release_reserve(&self) -> bool {
        self.file.release_left()
    }

    /// Returns the free bytes of the device, if known.
    pub(crate) fn free_bytes(&self) -> Option<u64> {
        let stat = rustix::fs::statvfs(&self.folder).ok()?;
        Some(stat.f_bavail.saturating_mul(stat.f_frsize))
    }

    /// Updates the limits from the device; returns the free and the total bytes.
    fn measure_free(&self) -> Option<(u64, u64)> {
        let stat = rustix::fs::statvfs(&self.folder).ok()?;
        let free = stat.f_bavail.saturating_mul(stat.f_frsize);
        let total = stat.f_blocks.saturating_mul(stat.f_frsize);
        self.set_left(free, total, self.in_memory.load(Ordering::SeqCst));
        Some((free, total))
    }

    /// Computes, from the free bytes of the device, how much may be written.
    fn set_left(&self, free: u64, total: u64, in_memory: u64) {
        let reserve = reserve_of(total);
        let left = free.saturating_sub(reserve.saturating_add(in_memory));
        // Hysteresis: once short, the free space must clearly improve before commits are accepted.
        let was_short = self.short.load(Ordering::SeqCst);
        let lasts = 0 < self.checks_left.load(Ordering::SeqCst) || left < reserve / LAST_PART;
        let short = if was_short { lasts } else { left == 0 };
        self.short.store(short, Ordering::SeqCst);
        self.left.store(if short { 0 } else { left }, Ordering::SeqCst);
        // Commits that free space need not leave space for data in memory, whose flush can wait.
        self.left_for_freeing.store(free.saturating_sub(reserve / LAST_PART), Ordering::SeqCst);
    }

    /// Records bytes written to the journal, which are also in memory until flushed.
    pub(crate) fn record_written(&self, bytes: u64) {
        for left in [&self.left, &self.left_for_freeing] {
            let less = |left: u64| Some(left.saturating_sub(bytes.saturating_mul(2)));
            let _ = left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less);
        }
    }

    /// Fails if there is too little free space for a commit. If the commit frees space (`frees`)
    /// and little is left, first measures the free space again.
    pub(crate) fn check_commit(&self, frees: bool) -> Result<(), Error> {
        // Other programs may have used the remaining space since the last check.
        if frees && self.left_for_freeing.load(Ordering::SeqCst) < NEAR {
            self.measure_free();
            if self.check_measured(frees).is_err() && self.file.release() {
                self.measure_free();
            }
        }
        self.check_measured(frees)
    }

    /// Fails if, according to the last measurement, there is too little free space for a commit;
    /// `frees` is true if the commit frees space.
    fn check_measured(&self, frees: bool) -> Result<(), Error> {
        let left = if frees { &self.left_for_freeing } else { &self.left };
        if 0 < left.load(Ordering::SeqCst) {
            return Ok(());
        }
        // A refused client must be able to see the reason in the status, even if a flush frees
        // space at once.
        if !self.short.swap(true, Ordering::SeqCst) {
            self.checks_left.store(REFUSED_CHECKS, Ordering::SeqCst);
        }
        Err(full_error())
    }
}

/// Returns the size of the reserve for a device of this total size.
fn reserve_of(total: u64) -> u64 {
    (total / PART).clamp(LEAST_RESERVE, MOST_RESERVE)
}

/// Returns the error that clients see.
fn full_error() -> Error {
    Error::new(Kind::Full, "no space is left on the device of the data directory")
}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: u64 = 1024 * 1024;

    #[test]
    fn what_gives_space_back_goes_on_longer_and_nobody_takes_the_last() {
        let disk_space = DiskSpace::new(PathBuf::from("/"));
        disk_space.check_measured(false).unwrap();
        // Free, in memory, whether a plain and a freeing commit are accepted.
        for (free, in_memory, plain, freeing) in [
            (100, 0, true, true),
            (100, 70, false, true),
            (41, 0, true, true),
            (33, 0, true, true),
            (32, 0, false, true),
            (8, 0, false, false),
            (39, 0, false, true),
            (40, 0, true, true),
        ] {
            disk_space.checks_left.store(0, Ordering::SeqCst);
            disk_space.set_left(free * MB, 100_000 * MB, in_memory * MB);
            let taken =
                (disk_space.check_measured(false).is_ok(), disk_space.check_measured(true).is_ok());
            assert_eq!(taken, (plain, freeing), "{free} {in_memory}");
        }
    }

    #[test]
    fn what_is_written_between_two_looks_counts() {
        let disk_space = DiskSpace::new(PathBuf::from("/"));
        disk_space.set_left(64 * MB, 100_000 * MB, 0);
        disk_space.record_written(15 * MB);
        disk_space.check_measured(false).unwrap();
        disk_space.record_written(MB);
        assert_eq!(disk_space.check_measured(false).unwrap_err().kind, Kind::Full);
        disk_space.check_measured(true).unwrap();
        disk_space.record_written(12 * MB);
        assert_eq!(disk_space.check_measured(true).unwrap_err().kind, Kind::Full);
    }

    #[test]
    fn a_small_device_keeps_a_small_reserve() {
        let disk_space = DiskSpace::new(PathBuf::from("/"));
        disk_space.set_left(11 * MB, 200 * MB, 0);
        disk_space.check_measured(false).unwrap();
        disk_space.set_left(10 * MB, 200 * MB, 0);
        disk_space.check_measured(false).unwrap_err();
    }

    #[test]
    fn deletes_go_on_from_a_file_when_others_took_the_rest() {
        let folder = tempfile::tempdir().unwrap();
        let disk_space = DiskSpace::new(folder.path().to_owned());
        disk_space.check_device(0);
        let held = disk_space.file.held_bytes();
        assert!(LEAST_RESERVE / FILE_PART <= held, "{held}");
        // Simulates a full device; the check for a delete finds the actual space.
        disk_space.set_left(0, 100_000 * MB, 0);
        assert_eq!(disk_space.check_measured(true).unwrap_err().kind, Kind::Full);
        disk_space.check_commit(true).unwrap();
        assert_eq!(disk_space.file.held_bytes(), held, "there was room without it");
    }

    #[test]
    fn a_refusal_lasts_long_enough_to_be_seen() {
        let folder = tempfile::tempdir().unwrap();
        let disk_space = DiskSpace::new(folder.path().to_owned());
        disk_space.check_device(0);
        disk_space.check_measured(false).unwrap();
        disk_space.record_written(u64::MAX);
        assert_eq!(disk_space.check_measured(false).unwrap_err().kind, Kind::Full);
        for look in 1..=REFUSED_CHECKS {
            disk_space.check_device(0);
            assert_eq!(disk_space.check_measured(false).is_ok(), look == REFUSED_CHECKS, "{look}");
        }
    }
}
