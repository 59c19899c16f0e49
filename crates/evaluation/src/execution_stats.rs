//! Statistics of an operation for logs: the number of keys and rows examined, and the access path.
//! They affect nothing.

use std::sync::{
    OnceLock,
    atomic::{AtomicU64, Ordering::Relaxed},
};

/// Statistics of an operation so far, shared by evaluation and logging.
#[derive(Debug, Default)]
pub struct ExecutionStats {
    examined: AtomicU64,
    access: OnceLock<String>,
}

impl ExecutionStats {
    /// Adds to the number of keys and rows examined.
    pub(crate) fn add_examined(&self, examined: usize) {
        self.examined.fetch_add(examined as u64, Relaxed);
    }

    /// Records the access path; only the first one is kept.
    pub(crate) fn record_access(&self, access: impl FnOnce() -> String) {
        self.access.get_or_init(access);
    }

    /// Restarts the count, since each batch of a cursor is logged as an operation of its own.
    pub fn begin_again(&self) {
        self.examined.store(0, Relaxed);
    }

    /// Returns the number of keys and rows examined.
    pub fn examined(&self) -> u64 {
        self.examined.load(Relaxed)
    }

    /// Returns the access path that was recorded; `None` if nothing was read.
    pub fn access(&self) -> Option<&str> {
        self.access.get().map(String::as_str)
    }
}
