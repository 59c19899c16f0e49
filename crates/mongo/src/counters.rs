//! What a connection counts of its work. Each connection counts alone, so that no two write to one
//! line of memory; the sums are made when `serverStatus` or `/metrics` asks.

use std::sync::atomic::{AtomicU64, Ordering};

use evaluation::Looked;

/// How many counters there are.
pub(crate) const COUNTERS: usize = 15;

/// Counters of one connection. They only grow; those of a closed connection are added to the door's
/// sum.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    /// Documents of `insert` commands, as `opcounters` counts them.
    pub(crate) insert: AtomicU64,
    /// Commands that begin a read: `find`, `aggregate`, `count`, `distinct`.
    pub(crate) query: AtomicU64,
    /// Statements of updates.
    pub(crate) update: AtomicU64,
    /// Statements of deletes.
    pub(crate) delete: AtomicU64,
    /// `getMore` commands.
    pub(crate) getmore: AtomicU64,
    /// All commands that were found in the table.
    pub(crate) command: AtomicU64,
    /// Bytes of messages as they arrived, compressed or not.
    pub(crate) bytes_in: AtomicU64,
    /// Bytes of replies as they were sent.
    pub(crate) bytes_out: AtomicU64,
    /// Documents in batches of cursors.
    pub(crate) returned: AtomicU64,
    /// Documents that an update changed.
    pub(crate) updated: AtomicU64,
    /// Documents that were removed.
    pub(crate) deleted: AtomicU64,
    /// Keys of indexes that commands have looked at, expired ones included.
    pub(crate) keys_examined: AtomicU64,
    /// Documents that commands have looked at, expired ones included.
    pub(crate) documents_examined: AtomicU64,
    /// Commands that walked over a collection without an index.
    pub(crate) collection_scans: AtomicU64,
    /// Queries whose sort no index served.
    pub(crate) sorts: AtomicU64,
}

impl Counters {
    /// Adds to one of them.
    pub(crate) fn add(counter: &AtomicU64, by: u64) {
        // One connection, one writer: no read-modify-write is needed.
        counter.store(counter.load(Ordering::Relaxed) + by, Ordering::Relaxed);
    }

    /// Adds what a command has looked at. Each key of an index leads to a document, which is looked at too.
    pub(crate) fn note_looked(&self, looked: &Looked) {
        let examined = looked.examined();
        match looked.access() {
            None => return,
            Some(access) if access.starts_with("index ") => {
                Self::add(&self.keys_examined, examined);
            }
            Some("scan") => Self::add(&self.collection_scans, 1),
            Some(_) => {}
        }
        Self::add(&self.documents_examined, examined);
    }

    /// All of them by name, in a fixed order: sums rely on it.
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
