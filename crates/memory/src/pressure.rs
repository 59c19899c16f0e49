//! Memory that nobody counts: what is too small to be counted, and what the allocator cannot give back
//! because something else still stands on the same page. The system knows what the process has
//! altogether; an account that comes near to what the process may have gives less.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Bytes that are taken between two looks: at a gigabyte a second a look every two milliseconds.
const LOOK_EVERY: usize = 2 * 1024 * 1024;

/// How near a process is to what it may have.
pub(crate) struct Pressure {
    /// Bytes that the process may have.
    process: usize,
    /// Bytes that it has and that are in no file; none where the system does not say it.
    own: fn() -> Option<usize>,
    /// Bytes taken since the last look.
    since: AtomicUsize,
    withheld: AtomicUsize,
}

impl Pressure {
    pub(crate) fn new(process: usize, own: fn() -> Option<usize>) -> Self {
        Self { process, own, since: AtomicUsize::new(0), withheld: AtomicUsize::new(0) }
    }

    /// Notes that bytes were taken of the account, and looks at the process every so often.
    pub(crate) fn note_taken(&self, bytes: usize) {
        if LOOK_EVERY <= self.since.fetch_add(bytes, Relaxed).saturating_add(bytes) {
            self.look_at_process();
        }
    }

    /// Looks what the process has. From five eighths of what it may have the account gives less: as
    /// what is taken now is touched a little later, there has to be room left when it gives nothing.
    pub(crate) fn look_at_process(&self) {
        self.since.store(0, Relaxed);
        let own = (self.own)().unwrap_or(0);
        let beyond = own.saturating_sub(self.process / 8 * 5);
        self.withheld.store(beyond.saturating_mul(2), Relaxed);
    }

    /// Bytes of the account that nobody gets for now.
    pub(crate) fn withheld_bytes(&self) -> usize {
        self.withheld.load(Relaxed)
    }
}
