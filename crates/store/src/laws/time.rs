//! A manual clock for the conformance tests.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use crate::contract::CommitClock;

/// Database time that advances only when a test sets it.
#[derive(Clone, Debug, Default)]
pub struct ManualTime(Arc<AtomicI64>);

impl ManualTime {
    /// Sets database time in milliseconds since 1970.
    pub fn set(&self, ms: i64) {
        self.0.store(ms, Ordering::SeqCst);
    }

    /// Returns the clock as the type that stores take.
    pub fn commit_clock(&self) -> Arc<dyn CommitClock> {
        Arc::new(self.clone())
    }
}

impl CommitClock for ManualTime {
    fn monotonic_ns(&self) -> u64 {
        0
    }

    fn now_ms(&self) -> i64 {
        self.0.load(Ordering::SeqCst)
    }
}
