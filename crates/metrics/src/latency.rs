//! How long operations take: counted per thread and summed when somebody asks, so that no counter
//! is shared by all connections.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use crate::histogram::{Distribution, Histogram};

/// How many copies of the histograms there are; threads are spread over them.
const SHARDS: usize = 8;

/// How many threads have counted so far, which gives each its shard.
static NEXT_THREAD: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static SHARD: usize = NEXT_THREAD.fetch_add(1, Ordering::Relaxed) % SHARDS;
}

/// Latencies of all kinds of operations, by their place in a table.
#[derive(Debug)]
pub struct Latencies(Vec<Vec<Histogram>>);

impl Latencies {
    /// Returns empty latencies of this many kinds.
    pub fn new(kinds: usize) -> Self {
        let shard = || (0..kinds).map(|_| Histogram::of_durations()).collect();
        Self((0..SHARDS).map(|_| shard()).collect())
    }

    /// Counts an operation of this kind that took so long. A kind that is not there is not counted.
    pub fn observe(&self, kind: usize, took: Duration) {
        let shard = SHARD.with(|shard| self.0.get(*shard));
        if let Some(histogram) = shard.and_then(|shard| shard.get(kind)) {
            histogram.observe(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX));
        }
    }

    /// Returns the distribution of a kind, in nanoseconds, over all threads; `None`: there is no such kind.
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
