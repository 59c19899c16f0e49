//! What the committer measures.

use metrics::Histogram;

/// Commits of one batch.
const SIZES: &[u64] = &[1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024, 2_048, 4_096];

/// Measurements since the start.
#[derive(Debug)]
pub struct LsmMetrics {
    /// Writing a batch and waiting until it is durable, nanoseconds.
    pub fsync_ns: Histogram,
    /// Commits that shared one such wait.
    pub group_size: Histogram,
}

impl Default for LsmMetrics {
    fn default() -> Self {
        Self { fsync_ns: Histogram::of_durations(), group_size: Histogram::new(SIZES) }
    }
}
