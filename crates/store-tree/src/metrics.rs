//! What the committer measures, and what is stored.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use metrics::Histogram;
use parking_lot::Mutex;

/// Commits of one batch.
const SIZES: &[u64] = &[1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024, 2_048, 4_096];

/// Measurements since the start.
#[derive(Debug)]
pub struct TreeMetrics {
    /// Writing a batch and waiting until it is durable, nanoseconds.
    pub fsync_ns: Histogram,
    /// Commits that shared one such wait.
    pub group_size: Histogram,
    /// Looked at every ten seconds: every file is asked.
    stored: Mutex<StoredBytes>,
    /// Looked at once a second, and at each flush.
    old_views: Mutex<OldViews>,
    /// Counts the views that were ended.
    ended_views: AtomicU64,
}

impl TreeMetrics {
    /// Bytes on the disk at the last look.
    pub fn stored_bytes(&self) -> StoredBytes {
        *self.stored.lock()
    }

    /// What views held back at the last look.
    pub fn old_views(&self) -> OldViews {
        *self.old_views.lock()
    }

    /// Notes that a view was ended, because too much of the disk was kept for it.
    pub(crate) fn note_ended_view(&self) {
        self.ended_views.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns how many views were ended.
    pub(crate) fn ended_views(&self) -> u64 {
        self.ended_views.load(Ordering::Relaxed)
    }

    /// Notes a look at the views.
    pub(crate) fn note_old_views(&self, views: OldViews) {
        *self.old_views.lock() = views;
    }

    /// Notes a look.
    pub(crate) fn note_stored(&self, stored: StoredBytes) {
        *self.stored.lock() = stored;
    }
}

impl Default for TreeMetrics {
    fn default() -> Self {
        Self {
            fsync_ns: Histogram::of_durations(),
            group_size: Histogram::new(SIZES),
            stored: Mutex::default(),
            old_views: Mutex::default(),
            ended_views: AtomicU64::new(0),
        }
    }
}

/// Bytes on the disk, by what they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoredBytes {
    /// Of the journal, with what it keeps ready.
    pub journal: u64,
    /// Of tables that the trees read.
    pub tables: u64,
    /// Of tables that were replaced or dropped and are not deleted yet.
    pub garbage: u64,
}

/// What is kept because views are open that are not the newest: those of reads in progress and of
/// backups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OldViews {
    /// For how long the oldest has not been the newest.
    pub age: Duration,
    /// Bytes of memory that was written to tables and that a read still holds.
    pub memory: u64,
    /// Bytes of tables with versions of keys that newer ones have replaced, at most. They go with a
    /// compaction after the view has ended.
    pub tables: u64,
    /// Bytes of tables that were written with all versions of keys since the oldest view was the newest.
    pub kept: u64,
    /// Views that were ended since the start of the server, because that was too much.
    pub ended: u64,
}
