//! Measurements: histograms updated without a lock, and latencies by kind of operation. The callers
//! and the server's `/metrics` define names and formats. Latencies are sharded by thread and summed
//! on reading, so that not all connections share one counter.

mod histogram;

pub use histogram::{Distribution, Histogram};

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

/// Number of copies of the histograms over which threads are distributed.
const SHARDS: usize = 8;

/// Number of threads that have recorded so far. It assigns each new thread to a shard.
static NEXT_THREAD: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static SHARD: usize = NEXT_THREAD.fetch_add(1, Ordering::Relaxed) % SHARDS;
}

/// Latency histograms by kind of operation. A kind is an index that the caller assigns.
#[derive(Debug)]
pub struct Latencies(Vec<Vec<Histogram>>);

impl Latencies {
    /// Returns empty latencies of this number of kinds.
    pub fn new(kinds: usize) -> Self {
        let shard = || (0..kinds).map(|_| Histogram::of_durations()).collect();
        Self((0..SHARDS).map(|_| shard()).collect())
    }

    /// Records the duration of an operation of this kind. An unknown kind is ignored.
    pub fn observe(&self, kind: usize, took: Duration) {
        let shard = SHARD.with(|shard| self.0.get(*shard));
        if let Some(histogram) = shard.and_then(|shard| shard.get(kind)) {
            histogram.observe(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX));
        }
    }

    /// Returns the distribution of a kind in nanoseconds, over all threads; `None` for an unknown
    /// kind.
    pub fn read_kind(&self, kind: usize) -> Option<Distribution> {
        let mut shards = self.0.iter().filter_map(|shard| shard.get(kind));
        let mut sum = shards.next()?.read_distribution();
        shards.for_each(|shard| sum.add_distribution(&shard.read_distribution()));
        Some(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_add_up() {
        let latencies = Latencies::new(2);
        std::thread::scope(|scope| {
            for _ in 0..10 {
                scope.spawn(|| latencies.observe(1, Duration::from_micros(30)));
            }
        });
        assert_eq!(latencies.read_kind(0).unwrap().measurement_count(), 0);
        let read = latencies.read_kind(1).unwrap();
        assert_eq!((read.measurement_count(), read.counts[1], read.sum), (10, 10, 300_000));
        assert_eq!(latencies.read_kind(2), None);
    }
}
