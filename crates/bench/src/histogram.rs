//! Latencies in buckets whose width grows with the value: fixed memory, percentiles within 1.6 %.

use std::time::Duration;

/// Buckets per power of two.
const FINE: u64 = 64;
const FINE_BITS: u32 = FINE.trailing_zeros();
const BUCKETS: usize = ((64 - FINE_BITS + 1) as usize) << FINE_BITS;

/// Counts of durations.
#[derive(Clone, Debug)]
pub(crate) struct Histogram {
    counts: Vec<u64>,
    total: u64,
    longest: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { counts: vec![0; BUCKETS], total: 0, longest: 0 }
    }
}

impl Histogram {
    /// Counts one duration.
    pub(crate) fn record(&mut self, duration: Duration) {
        let nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        self.counts[bucket(nanos)] += 1;
        self.total += 1;
        self.longest = self.longest.max(nanos);
    }

    /// Adds what another has counted.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine += theirs;
        }
        self.total += other.total;
        self.longest = self.longest.max(other.longest);
    }

    /// How many durations it holds.
    pub(crate) fn count(&self) -> u64 {
        self.total
    }

    /// The longest duration, exactly.
    pub(crate) fn max(&self) -> Duration {
        Duration::from_nanos(self.longest)
    }

    /// The smallest duration that at least this share of all does not exceed, rounded up to its
    /// bucket's end and never above the longest. Zero when nothing was counted.
    pub(crate) fn percentile(&self, share: f64) -> Duration {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "a rank between 1 and the count"
        )]
        let rank = ((self.total as f64 * share).ceil() as u64).clamp(1, self.total.max(1));
        let mut seen = 0;
        for (index, count) in self.counts.iter().enumerate() {
            seen += count;
            if rank <= seen {
                return Duration::from_nanos(bucket_end(index).min(self.longest));
            }
        }
        Duration::ZERO
    }
}

fn bucket(nanos: u64) -> usize {
    let shift = (u64::BITS - nanos.leading_zeros()).saturating_sub(FINE_BITS + 1);
    let index = (u64::from(shift) << FINE_BITS) + (nanos >> shift);
    usize::try_from(index).unwrap_or(BUCKETS - 1)
}

fn bucket_end(index: usize) -> u64 {
    let index = index as u64;
    let shift = (index >> FINE_BITS).saturating_sub(1);
    let start = u128::from(index - (shift << FINE_BITS)) << shift;
    u64::try_from(start + (1 << shift) - 1).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_holds_what_it_says() {
        for nanos in (0..5000).chain((0..64).map(|bit| 1 << bit)).chain([u64::MAX]) {
            let index = bucket(nanos);
            let end = bucket_end(index);
            assert!(index < BUCKETS, "{nanos}");
            assert!(nanos <= end, "{nanos} is above {end}");
            assert!(end - nanos <= nanos / 64, "{end} is far above {nanos}");
            if end < u64::MAX {
                assert_eq!(bucket(end + 1), index + 1, "behind {end}");
            }
        }
    }

    #[test]
    fn percentiles() {
        let check = |values: &[u64], share: f64, want: u64| {
            let mut histogram = Histogram::default();
            for value in values {
                histogram.record(Duration::from_nanos(*value));
            }
            assert_eq!(histogram.percentile(share).as_nanos(), u128::from(want), "{values:?}");
        };
        let hundred: Vec<u64> = (1..=100).collect();
        check(&[], 0.5, 0);
        check(&[7], 0.0, 7);
        check(&[7], 1.0, 7);
        check(&hundred, 0.5, 50);
        check(&hundred, 0.95, 95);
        check(&hundred, 0.99, 99);
        check(&hundred, 1.0, 100);
        check(&[1, 1, 1, 1_000_000], 0.75, 1);
        check(&[1, 1, 1, 1_000_000], 0.99, 1_000_000);
        check(&[1_000_000, 2_000_000], 0.5, 1_007_615);
    }

    #[test]
    fn merging_is_counting_together() {
        let mut one = Histogram::default();
        let mut two = Histogram::default();
        one.record(Duration::from_nanos(5));
        two.record(Duration::from_micros(9));
        one.merge(&two);
        assert_eq!(one.count(), 2);
        assert_eq!(one.max(), Duration::from_micros(9));
        assert_eq!(one.percentile(0.5), Duration::from_nanos(5));
    }
}
