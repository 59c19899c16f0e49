//! What an operation has looked at, for logs: how many keys and rows, and by which way it came to the
//! first of them. It decides nothing.

use std::sync::{
    OnceLock,
    atomic::{AtomicU64, Ordering::Relaxed},
};

/// What an operation has looked at so far. Those who log share it with those who look.
#[derive(Debug, Default)]
pub struct Looked {
    examined: AtomicU64,
    access: OnceLock<String>,
}

impl Looked {
    /// This many keys or rows more.
    pub(crate) fn add_examined(&self, examined: usize) {
        self.examined.fetch_add(examined as u64, Relaxed);
    }

    /// The way to them; the first one stays.
    pub(crate) fn note_access(&self, access: impl FnOnce() -> String) {
        self.access.get_or_init(access);
    }

    /// Counts from here: a cursor's next batch is an operation of its own in a log.
    pub fn begin_again(&self) {
        self.examined.store(0, Relaxed);
    }

    /// How many keys and rows.
    pub fn examined(&self) -> u64 {
        self.examined.load(Relaxed)
    }

    /// The way to them; `None`: nobody looked.
    pub fn access(&self) -> Option<&str> {
        self.access.get().map(String::as_str)
    }
}
