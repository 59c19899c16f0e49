//! Histograms of measurements, updated without a lock.

use std::sync::atomic::{AtomicU64, Ordering};

/// Bucket bounds for durations, in nanoseconds.
const DURATIONS_NS: &[u64] = &[
    25_000,
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
    1_000_000_000,
    5_000_000_000,
    30_000_000_000,
];

/// A histogram that is being updated.
#[derive(Debug)]
pub struct Histogram {
    bounds: &'static [u64],
    /// Number of measurements for each bound, followed by the number of those above all bounds.
    counts: Box<[AtomicU64]>,
    sum: AtomicU64,
}

/// A snapshot of a histogram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Distribution {
    /// Inclusive upper bounds of the buckets, ascending.
    pub bounds: &'static [u64],
    /// Number of measurements in each bucket, followed by the number of those above all bounds.
    pub counts: Vec<u64>,
    /// The sum of all measurements.
    pub sum: u64,
}

impl Distribution {
    /// Adds another distribution with the same bounds, saturating.
    pub fn add(&mut self, other: &Self) {
        for (sum, more) in self.counts.iter_mut().zip(&other.counts) {
            *sum = sum.saturating_add(*more);
        }
        self.sum = self.sum.saturating_add(other.sum);
    }
}

impl Histogram {
    /// Returns an empty histogram with these inclusive upper bounds, ascending.
    pub fn new(bounds: &'static [u64]) -> Self {
        let counts = (0..=bounds.len()).map(|_| AtomicU64::new(0)).collect();
        Self { bounds, counts, sum: AtomicU64::new(0) }
    }

    /// Returns an empty histogram of durations in nanoseconds, from 25 microseconds to 30 seconds.
    pub fn of_durations() -> Self {
        Self::new(DURATIONS_NS)
    }

    /// Records a measurement in its bucket.
    pub fn observe(&self, value: u64) {
        let at = self.bounds.partition_point(|bound| *bound < value);
        if let Some(count) = self.counts.get(at) {
            count.fetch_add(1, Ordering::Relaxed);
            self.sum.fetch_add(value, Ordering::Relaxed);
        }
    }

    /// Returns a snapshot. Counts and sum are read one after the other, so a concurrent measurement
    /// may be in the counts and not in the sum, or vice versa.
    pub fn read_distribution(&self) -> Distribution {
        let counts = self.counts.iter().map(|count| count.load(Ordering::Relaxed)).collect();
        Distribution { bounds: self.bounds, counts, sum: self.sum.load(Ordering::Relaxed) }
    }
}

impl Distribution {
    /// Returns the number of measurements.
    pub fn measurement_count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Adds another distribution with the same bounds.
    pub fn add_distribution(&mut self, other: &Self) {
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
        self.sum += other.sum;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measurements_are_counted_under_their_bounds_and_add_up() {
        let (one, two) = (Histogram::new(&[10, 100]), Histogram::new(&[10, 100]));
        for value in [0, 10, 11, 100, 101, 5_000] {
            one.observe(value);
        }
        two.observe(50);
        let mut sum = one.read_distribution();
        assert_eq!(
            (sum.counts.as_slice(), sum.sum, sum.measurement_count()),
            (&[2, 2, 2][..], 5_222, 6)
        );
        sum.add_distribution(&two.read_distribution());
        assert_eq!(
            (sum.counts.as_slice(), sum.sum, sum.measurement_count()),
            (&[2, 3, 2][..], 5_272, 7)
        );
    }
}
