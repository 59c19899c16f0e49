//! The line that maps the boot clock to database time; every operation reads it without a lock.
//!
//! A sequence lock protects the line: a reader that overlaps a change repeats the read, including
//! that of the boot clock, so readings across all threads never go back.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering, fence};

use crate::machine::ClockSource;

/// Database time as a linear function of the boot clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    /// Database time at `boot_ns`, milliseconds.
    pub(crate) base_ms: i64,
    /// Nanoseconds to add to `base_ms`.
    pub(crate) base_ns: i64,
    /// Reading of the boot clock at which the line starts.
    pub(crate) boot_ns: i64,
    /// Rate relative to the boot clock, parts per million; -1,000,000 stops time.
    pub(crate) ppm: i64,
    /// Latest instant that may be used, milliseconds.
    pub(crate) limit_ms: i64,
    /// From this reading of the boot clock on, no instant may be used: the cluster lease has
    /// expired. `i64::MAX` without a cluster.
    pub(crate) until_ns: i64,
}

/// The result of reading the clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    /// Database time in milliseconds since 1970.
    pub(crate) now_ms: i64,
    /// The latest instant that may have been used so far, milliseconds.
    pub(crate) last_ms: i64,
    /// Whether instants up to `now_ms` may be used.
    pub(crate) is_usable: bool,
}

impl Line {
    /// Returns database time at a reading of the boot clock: milliseconds and remaining
    /// nanoseconds.
    pub(crate) fn time_at(&self, boot_ns: i64) -> (i64, i64) {
        let elapsed = boot_ns.saturating_sub(self.boot_ns).max(0);
        let gained = i128::from(elapsed) * i128::from(self.ppm) / 1_000_000;
        let elapsed = elapsed.saturating_add(i64::try_from(gained).unwrap_or(0));
        let ns = self.base_ns.saturating_add(elapsed);
        (self.base_ms.saturating_add(ns.div_euclid(1_000_000)), ns.rem_euclid(1_000_000))
    }

    /// Returns the result of reading the clock at a reading of the boot clock. Before the first
    /// checkpoint is durable, `limit_ms` has no meaning, so `last_ms` is database time itself.
    fn reading_at(&self, boot_ns: i64) -> Reading {
        let now_ms = self.time_at(boot_ns).0;
        let leased_ms = self.time_at(boot_ns.min(self.until_ns)).0;
        let began = self.limit_ms != i64::MIN;
        Reading {
            now_ms,
            last_ms: if began { leased_ms.min(self.limit_ms) } else { now_ms },
            is_usable: now_ms <= self.limit_ms && boot_ns < self.until_ns,
        }
    }
}

/// The mapping of the boot clock to database time that is in effect, shared with readers on all
/// threads.
#[derive(Debug)]
pub(crate) struct SharedLine {
    /// Sequence number of the seqlock: odd while the mapping is being changed.
    sequence: AtomicU64,
    base_ms: AtomicI64,
    base_ns: AtomicI64,
    boot_ns: AtomicI64,
    ppm: AtomicI64,
    limit_ms: AtomicI64,
    until_ns: AtomicI64,
}

impl SharedLine {
    pub(crate) fn new(line: Line) -> Self {
        Self {
            sequence: AtomicU64::new(0),
            base_ms: AtomicI64::new(line.base_ms),
            base_ns: AtomicI64::new(line.base_ns),
            boot_ns: AtomicI64::new(line.boot_ns),
            ppm: AtomicI64::new(line.ppm),
            limit_ms: AtomicI64::new(line.limit_ms),
            until_ns: AtomicI64::new(line.until_ns),
        }
    }

    /// Returns database time and whether it may be used.
    pub(crate) fn read_now(&self, source: &dyn ClockSource) -> Reading {
        loop {
            let before = self.sequence.load(Ordering::Acquire);
            let line = self.current_line();
            let boot_ns = source.boot_ns();
            // The boot clock was read between two equal sequence numbers, so the line was in effect
            // at that reading.
            fence(Ordering::Acquire);
            if before.is_multiple_of(2) && self.sequence.load(Ordering::Relaxed) == before {
                return line.reading_at(boot_ns);
            }
            std::hint::spin_loop();
        }
    }

    /// Loads the fields of the mapping. They are consistent only if no other thread changes the
    /// mapping, or if the sequence number is checked afterwards.
    pub(crate) fn current_line(&self) -> Line {
        Line {
            base_ms: self.base_ms.load(Ordering::Relaxed),
            base_ns: self.base_ns.load(Ordering::Relaxed),
            boot_ns: self.boot_ns.load(Ordering::Relaxed),
            ppm: self.ppm.load(Ordering::Relaxed),
            limit_ms: self.limit_ms.load(Ordering::Relaxed),
            until_ns: self.until_ns.load(Ordering::Relaxed),
        }
    }

    /// Replaces the mapping of the boot clock to database time. `change` receives the old mapping
    /// and a reading of the boot clock; no reader uses the old mapping with a later reading. The
    /// caller holds the clock's lock.
    pub(crate) fn change_line(
        &self,
        source: &dyn ClockSource,
        change: impl FnOnce(Line, i64) -> Line,
    ) {
        self.sequence.fetch_add(1, Ordering::AcqRel);
        // The odd sequence number must be visible to all threads before the boot clock is read.
        fence(Ordering::SeqCst);
        let line = change(self.current_line(), source.boot_ns());
        self.base_ms.store(line.base_ms, Ordering::Relaxed);
        self.base_ns.store(line.base_ns, Ordering::Relaxed);
        self.boot_ns.store(line.boot_ns, Ordering::Relaxed);
        self.ppm.store(line.ppm, Ordering::Relaxed);
        self.limit_ms.store(line.limit_ms, Ordering::Relaxed);
        self.until_ns.store(line.until_ns, Ordering::Relaxed);
        self.sequence.fetch_add(1, Ordering::Release);
    }
}
