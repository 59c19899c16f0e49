//! Work counters of a connection. Each connection has its own, so that no two threads write to one
//! cache line; `serverStatus` and `/metrics` sum them up.

use std::sync::atomic::{AtomicU64, Ordering};

use evaluation::ExecutionStats;

pub(crate) const COUNTERS: usize = 15;

/// Counters of one connection. They only grow. When the connection closes, they are added to the
/// totals of closed connections.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    /// Documents of `insert` commands, as in `opcounters`.
    pub(crate) insert: AtomicU64,
    /// Commands that start a read: `find`, `aggregate`, `count`, `distinct`.
    pub(crate) query: AtomicU64,
    /// Number of update statements executed.
    pub(crate) update: AtomicU64,
    /// Number of delete statements executed.
    pub(crate) delete: AtomicU64,
    pub(crate) getmore: AtomicU64,
    /// Number of received commands whose names are in the command table.
    pub(crate) command: AtomicU64,
    /// Bytes of received messages, in the form in which they were sent, compressed or not.
    pub(crate) bytes_in: AtomicU64,
    /// Bytes of the replies that were sent, after compression.
    pub(crate) bytes_out: AtomicU64,
    /// Number of documents returned in batches of cursors.
    pub(crate) returned: AtomicU64,
    pub(crate) updated: AtomicU64,
    pub(crate) deleted: AtomicU64,
    /// Index keys examined, including expired ones.
    pub(crate) keys_examined: AtomicU64,
    /// Documents examined, including expired ones.
    pub(crate) documents_examined: AtomicU64,
    /// Commands that scanned a collection without an index.
    pub(crate) collection_scans: AtomicU64,
    /// Queries that sorted without an index.
    pub(crate) sorts: AtomicU64,
}

impl Counters {
    pub(crate) fn add(counter: &AtomicU64, by: u64) {
        // Each counter has a single writer, so no read-modify-write is needed.
        counter.store(counter.load(Ordering::Relaxed) + by, Ordering::Relaxed);
    }

    /// Adds the numbers of keys and documents that a command examined. Each index key also counts
    /// as an examined document.
    pub(crate) fn record_statistics(&self, stats: &ExecutionStats) {
        let examined = stats.examined();
        match stats.access() {
            None => return,
            Some(access) if access.starts_with("index ") => {
                Self::add(&self.keys_examined, examined);
            }
            Some("scan") => Self::add(&self.collection_scans, 1),
            Some(_) => {}
        }
        Self::add(&self.documents_examined, examined);
    }

    /// Returns all counters with their names, in a fixed order that sums rely on.
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
            ("keysExamined", read(&self.keys_examined)),
            ("documentsExamined", read(&self.documents_examined)),
            ("collectionScans", read(&self.collection_scans)),
            ("sorts", read(&self.sorts)),
        ]
    }
}
