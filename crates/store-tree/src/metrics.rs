//! What the committer measures, and what is stored.

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
}

impl TreeMetrics {
    /// Bytes on the disk at the last look.
    pub fn stored_bytes(&self) -> StoredBytes {
        *self.stored.lock()
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
