//! A histogram of latencies with a fixed relative error, so that its memory use does not depend on
//! the number of values. It wraps a library's histogram and uses durations.

use std::time::Duration;

/// Precision in significant digits: a latency of 1,234 us is recorded with an error of about 1 us.
const DIGITS: u8 = 3;

/// A histogram of durations in nanoseconds.
#[derive(Clone, Debug)]
pub(crate) struct Histogram(hdrhistogram::Histogram<u64>);

impl Default for Histogram {
    fn default() -> Self {
        Self(hdrhistogram::Histogram::new(DIGITS).expect("a library accepts three digits"))
    }
}

impl Histogram {
    pub(crate) fn record_duration(&mut self, duration: Duration) {
        let nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        // The range grows automatically; beyond the maximum, the largest value is recorded.
        if self.0.record(nanos).is_err() {
            self.0.saturating_record(nanos);
        }
    }

    /// Adds the counts of another histogram, since each connection has its own.
    pub(crate) fn add_counts(&mut self, other: &Self) {
        self.0 += &other.0;
    }

    /// Returns the number of recorded durations.
    pub(crate) fn count_durations(&self) -> u64 {
        self.0.len()
    }

    /// Returns the longest duration, rounded up by less than a thousandth.
    pub(crate) fn longest_duration(&self) -> Duration {
        Duration::from_nanos(self.0.max())
    }

    /// Returns the smallest duration that this share of all recorded durations does not exceed,
    /// rounded up by less than a thousandth; zero if nothing was recorded.
    pub(crate) fn duration_at(&self, share: f64) -> Duration {
        Duration::from_nanos(self.0.value_at_quantile(share))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns whether a recorded value is the expected one, or larger by less than a thousandth.
    fn is_near(told: u64, want: u64) -> bool {
        (want..=want + want / 1000).contains(&told)
    }

    #[test]
    fn percentiles() {
        let check = |values: &[u64], share: f64, want: u64| {
            let mut histogram = Histogram::default();
            for value in values {
                histogram.record_duration(Duration::from_nanos(*value));
            }
            let told = u64::try_from(histogram.duration_at(share).as_nanos()).unwrap();
            assert!(is_near(told, want), "{told} of {values:?}");
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
        check(&[1_000_000, 2_000_000], 0.5, 1_000_000);
    }

    #[test]
    fn merging_is_counting_together() {
        let mut one = Histogram::default();
        let mut two = Histogram::default();
        one.record_duration(Duration::from_nanos(5));
        two.record_duration(Duration::from_micros(9));
        one.add_counts(&two);
        assert_eq!(one.count_durations(), 2);
        assert!(is_near(u64::try_from(one.longest_duration().as_nanos()).unwrap(), 9_000));
        assert_eq!(one.duration_at(0.5), Duration::from_nanos(5));
    }
}
