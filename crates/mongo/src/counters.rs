//! What a connection counts of its work. Each connection counts alone, so that no two write to one
//! line of memory; the sums are made when somebody asks.

use std::sync::atomic::{AtomicU64, Ordering};

/// How many counters there are.
pub(crate) const COUNTERS: usize = 11;

/// Counters of one connection; summed when somebody asks.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) insert: AtomicU64,
    pub(crate) query: AtomicU64,
    pub(crate) update: AtomicU64,
    pub(crate) delete: AtomicU64,
    pub(crate) getmore: AtomicU64,
    pub(crate) command: AtomicU64,
    pub(crate) bytes_in: AtomicU64,
    pub(crate) bytes_out: AtomicU64,
    /// Documents that were answered, changed and removed.
    pub(crate) returned: AtomicU64,
    pub(crate) updated: AtomicU64,
    pub(crate) deleted: AtomicU64,
}

impl Counters {
    /// Adds to one of them.
    pub(crate) fn add(counter: &AtomicU64, by: u64) {
        // One connection, one writer: no read-modify-write is needed.
        counter.store(counter.load(Ordering::Relaxed) + by, Ordering::Relaxed);
    }

    pub(crate) fn named_values(&self) -> [(&'static str, u64); COUNTERS] {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        [
            ("insert", read(&self.insert)),
            ("query", read(&self.query)),
            ("update", read(&self.update)),
            ("delete", read(&self.delete)),
            ("getmore", read(&self.getmore)),
            ("command", read(&self.command)),
            ("bytesIn", read(&self.bytes_in)),
            ("bytesOut", read(&self.bytes_out)),
            ("documentsReturned", read(&self.returned)),
            ("documentsUpdated", read(&self.updated)),
            ("documentsDeleted", read(&self.deleted)),
        ]
    }
}
