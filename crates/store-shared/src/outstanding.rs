//! Counts the entries that the driver has passed to the feeder and the tree has not applied yet, so
//! that a follower stops reading the journal while there are many such entries.

use std::sync::atomic::{AtomicU64, Ordering};

use cluster::{Backlog, Entry};

/// Accounted size of an entry in addition to its body, in bytes.
const ENTRY_BYTES: u64 = 256;

#[derive(Debug, Default)]
pub(crate) struct Outstanding {
    entries: AtomicU64,
    bytes: AtomicU64,
}

impl Outstanding {
    /// Counts an entry that was passed to the feeder, the thread that applies it.
    pub(crate) fn add(&self, entry: &Entry) {
        self.entries.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes_of(entry), Ordering::Relaxed);
    }

    /// Subtracts entries that were applied or dropped.
    pub(crate) fn remove(&self, Backlog { entries, bytes }: Backlog) {
        self.entries.fetch_sub(entries, Ordering::Relaxed);
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    pub(crate) fn backlog(&self) -> Backlog {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Backlog { entries: read(&self.entries), bytes: read(&self.bytes) }
    }
}

/// Returns the number and the accounted size of these entries.
pub(crate) fn backlog_of<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Backlog {
    entries.into_iter().fold(Backlog::default(), |sum, entry| Backlog {
        entries: sum.entries + 1,
        bytes: sum.bytes + bytes_of(entry),
    })
}

fn bytes_of(entry: &Entry) -> u64 {
    entry.body.len() as u64 + ENTRY_BYTES
}
