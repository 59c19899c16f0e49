//! A clock for the laws: it stands where it was put.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use crate::contract::Timepiece;

/// Database time moved by a test.
#[derive(Clone, Debug, Default)]
pub struct ManualTime(Arc<AtomicI64>);

impl ManualTime {
    /// Puts the clock.
    pub fn set(&self, ms: i64) {
        self.0.store(ms, Ordering::SeqCst);
    }

    /// As a store wants it.
    pub fn timepiece(&self) -> Arc<dyn Timepiece> {
        Arc::new(self.clone())
    }
}

impl Timepiece for ManualTime {
    fn monotonic_ns(&self) -> u64 {
        0
    }

    fn now_ms(&self) -> i64 {
        self.0.load(Ordering::SeqCst)
    }
}
