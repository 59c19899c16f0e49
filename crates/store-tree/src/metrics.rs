//! Measurements of commits, of disk usage, and of the data that open views retain.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use metrics::Histogram;
use parking_lot::Mutex;

/// Bucket bounds of the histogram of commits per batch.
const SIZES: &[u64] = &[1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024, 2_048, 4_096];

/// Measurements of a store since its start.
#[derive(Debug)]
pub struct TreeMetrics {
    /// Time to write a batch and make it durable, nanoseconds.
    pub fsync_ns: Histogram,
    /// Number of commits in a batch.
    pub group_size: Histogram,
    /// Disk usage, measured every ten seconds, because every file is examined.
    stored: Mutex<StoredBytes>,
    /// Disk space that open views retain, measured once a second and after each flush.
    old_views: Mutex<OldViews>,
    /// Number of views that were ended because they retained too much space.
    ended_views: AtomicU64,
}

impl TreeMetrics {
    /// Returns the bytes on disk as last measured.
    pub fn stored_bytes(&self) -> StoredBytes {
        *self.stored.lock()
    }

    /// Returns the disk space that open views retained when last measured.
    pub fn old_views(&self) -> OldViews {
        *self.old_views.lock()
    }

    /// Counts a view that was ended because it retained too much disk space.
    pub(crate) fn record_ended_view(&self) {
        self.ended_views.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the number of views that were ended because they retained too much space.
    pub(crate) fn ended_views(&self) -> u64 {
        self.ended_views.load(Ordering::Relaxed)
    }

    /// Stores a measurement of the space that open views retain.
    pub(crate) fn record_old_views(&self, views: OldViews) {
        *self.old_views.lock() = views;
    }

    /// Stores a measurement of the bytes on disk.
    pub(crate) fn record_stored(&self, stored: StoredBytes) {
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

/// Bytes on disk by category.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoredBytes {
    /// Bytes of the journal, including spare segments.
    pub journal: u64,
    /// Bytes of tables that the tree lists.
    pub tables: u64,
    /// Bytes of tables that were replaced or dropped, and whose files are not deleted yet.
    pub garbage: u64,
}

/// Data retained for open views of running reads and backups, other than the newest view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OldViews {
    /// Time since the oldest open view was superseded by a newer one.
    pub age: Duration,
    /// Bytes of flushed memtables that a read still holds.
    pub memory: u64,
    /// Bytes of superseded versions in tables, which open views see or a compaction drops next.
    pub tables: u64,
    /// Bytes of superseded versions in tables written since the oldest view was the newest.
    pub kept: u64,
    /// Number of views ended since the start of the server for retaining too much.
    pub ended: u64,
}
