//! What the committer measures.

use store::Histogram;

/// Durations of writes, nanoseconds.
const DURATIONS_NS: &[u64] = &[
    50_000,
    100_000,
    250_000,
    500_000,
    1_000_000,
    2_500_000,
    5_000_000,
    10_000_000,
    25_000_000,
    50_000_000,
    100_000_000,
    250_000_000,
    500_000_000,
    1_000_000_000,
    5_000_000_000,
];
/// Commits of one batch.
const SIZES: &[u64] = &[1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024, 2_048, 4_096];

/// Measurements since the start.
#[derive(Debug)]
pub struct Measured {
    /// Writing a batch and waiting until it is durable, nanoseconds.
    pub fsync_ns: Histogram,
    /// Commits that shared one such wait.
    pub group_size: Histogram,
}

impl Default for Measured {
    fn default() -> Self {
        Self { fsync_ns: Histogram::new(DURATIONS_NS), group_size: Histogram::new(SIZES) }
    }
}
