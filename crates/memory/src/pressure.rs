//! Uncounted memory: small allocations, and memory that the allocator cannot return because of
//! fragmentation. The system reports the total of the process; when that approaches its limit, the
//! account grants less.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Bytes taken between two checks; at 1 GB/s this is a check every two milliseconds.
const LOOK_EVERY: usize = 2 * 1024 * 1024;

/// Tracks how close the process is to its memory limit.
pub(crate) struct Pressure {
    /// Memory limit of the process in bytes.
    process: usize,
    /// Returns the process's memory that is not backed by files; `None` if unknown.
    own: fn() -> Option<usize>,
    /// Bytes taken from the account since the process's memory was last measured.
    since: AtomicUsize,
    withheld: AtomicUsize,
}

impl Pressure {
    pub(crate) fn new(process: usize, own: fn() -> Option<usize>) -> Self {
        Self { process, own, since: AtomicUsize::new(0), withheld: AtomicUsize::new(0) }
    }

    /// Records bytes taken from the account, and checks the process at intervals.
    pub(crate) fn record_taken(&self, bytes: usize) {
        if LOOK_EVERY <= self.since.fetch_add(bytes, Relaxed).saturating_add(bytes) {
            self.check_process();
        }
    }

    /// Checks the process's memory. From five eighths of the limit on, the account grants less:
    /// memory granted now is touched later, so some must be left when granting stops.
    pub(crate) fn check_process(&self) {
        self.since.store(0, Relaxed);
        let own = (self.own)().unwrap_or(0);
        let beyond = own.saturating_sub(self.process / 8 * 5);
        self.withheld.store(beyond.saturating_mul(2), Relaxed);
    }

    /// Returns the bytes that the account currently withholds.
    pub(crate) fn withheld_bytes(&self) -> usize {
        self.withheld.load(Relaxed)
    }
}
