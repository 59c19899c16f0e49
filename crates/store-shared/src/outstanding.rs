//! What the driver has handed to the feeder and the tree does not have yet: counted, so that a follower
//! reads no further while that is much.

use std::sync::atomic::{AtomicU64, Ordering};

use cluster::{Backlog, Entry};

/// What an entry takes beside its body.
const ENTRY_BYTES: u64 = 256;

/// The counts.
#[derive(Debug, Default)]
pub(crate) struct Outstanding {
    entries: AtomicU64,
    bytes: AtomicU64,
}

impl Outstanding {
    /// An entry is handed over.
    pub(crate) fn add(&self, entry: &Entry) {
        self.entries.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes_of(entry), Ordering::Relaxed);
    }

    /// It is in the tree, or dropped.
    pub(crate) fn remove(&self, Backlog { entries, bytes }: Backlog) {
        self.entries.fetch_sub(entries, Ordering::Relaxed);
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// What is handed over and not in the tree.
    pub(crate) fn backlog(&self) -> Backlog {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Backlog { entries: read(&self.entries), bytes: read(&self.bytes) }
    }
}

/// What these entries count for.
pub(crate) fn backlog_of<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Backlog {
    entries.into_iter().fold(Backlog::default(), |sum, entry| Backlog {
        entries: sum.entries + 1,
        bytes: sum.bytes + bytes_of(entry),
    })
}

fn bytes_of(entry: &Entry) -> u64 {
    entry.body.len() as u64 + ENTRY_BYTES
}
