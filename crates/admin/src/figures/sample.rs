//! A sample: activity during a minute, and the state at its end.

use std::time::Duration;

use metrics::Distribution;
use serde::{Deserialize, Serialize};

use super::gathered::{CounterReadings, LatencyDistribution};

/// Maximum number of kinds of operations in a sample; the rarest are left out.
const MOST_KINDS: usize = 40;

/// Activity since the previous sample, and the state at the end. Fields missing in files of older
/// versions are 0.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Sample {
    /// End of the sample, wall clock in milliseconds since 1970.
    pub(crate) at_ms: i64,
    /// Duration of the sample in milliseconds.
    pub(crate) span_ms: u64,
    /// Whether this is the process's first sample; the server may have been down before it.
    pub(crate) first: bool,
    /// Operations by API and command.
    pub(crate) operations: Vec<Operations>,
    /// Failed commands of the MongoDB API.
    pub(crate) mongodb_failed: u64,
    /// Refused or failed requests of the NoSQL API.
    pub(crate) nosql_failed: u64,
    /// Open connections of the MongoDB API.
    pub(crate) mongodb_connections: i64,
    /// Open connections of the NoSQL API.
    pub(crate) nosql_connections: i64,
    /// Open cursors of the MongoDB API.
    pub(crate) cursors: u64,
    pub(crate) bytes_in: u64,
    pub(crate) bytes_out: u64,
    /// Approximate number of documents that expired.
    pub(crate) expired: u64,
    /// Expired documents that were removed.
    pub(crate) removed: u64,
    /// Approximate number of expired documents not yet removed.
    pub(crate) backlog: i64,
    /// Bytes of the journal on disk.
    pub(crate) journal_bytes: u64,
    /// Bytes of the store's tables (sorted files) on disk.
    pub(crate) tables_bytes: u64,
    /// Bytes of tables that the store has replaced and not deleted yet.
    pub(crate) garbage_bytes: u64,
    pub(crate) temporary_bytes: u64,
    /// Resident memory of the process in bytes.
    pub(crate) memory_bytes: u64,
    pub(crate) operations_bytes: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Operations {
    pub(crate) api: String,
    /// Name of the command or kind of request.
    pub(crate) name: String,
    pub(crate) count: u64,
    pub(crate) p50_us: u64,
    /// Approximate 99th percentile of latency, microseconds.
    pub(crate) p99_us: u64,
}

impl Sample {
    /// Computes the sample between two readings of the counters. A counter that was reset in
    /// between counts from 0.
    pub(super) fn between(
        before: &CounterReadings,
        after: &CounterReadings,
        at_ms: i64,
        span: Duration,
        first: bool,
    ) -> Self {
        let since = |read: fn(&CounterReadings) -> u64| read(after).saturating_sub(read(before));
        let removed = since(|it| it.removed);
        let more = (after.backlog - before.backlog).saturating_add_unsigned(removed);
        Self {
            at_ms,
            span_ms: u64::try_from(span.as_millis()).unwrap_or(u64::MAX),
            first,
            operations: operations_between(&before.operations, &after.operations),
            mongodb_failed: since(|it| it.mongodb_failed),
            nosql_failed: since(|it| it.nosql_failed),
            mongodb_connections: after.mongodb_connections,
            nosql_connections: after.nosql_connections,
            cursors: after.cursors,
            bytes_in: since(|it| it.bytes_in),
            bytes_out: since(|it| it.bytes_out),
            expired: u64::try_from(more).unwrap_or(0),
            removed,
            backlog: after.backlog,
            journal_bytes: after.journal_bytes,
            tables_bytes: after.tables_bytes,
            garbage_bytes: after.garbage_bytes,
            temporary_bytes: after.temporary_bytes,
            memory_bytes: after.memory_bytes,
            operations_bytes: after.operations_bytes,
        }
    }
}

/// Returns the operations between two readings, most frequent first.
fn operations_between(
    before: &[LatencyDistribution],
    after: &[LatencyDistribution],
) -> Vec<Operations> {
    let since = |now: &LatencyDistribution| {
        let before_of = before.iter().find(|it| (it.api, it.name) == (now.api, now.name));
        let earlier = before_of.map_or(&[][..], |it| &it.took.counts);
        let before = earlier.iter().copied().chain(std::iter::repeat(0));
        let counts = now.took.counts.iter().zip(before);
        let counts = counts.map(|(now, before)| now.saturating_sub(before)).collect();
        let sum_before = before_of.map_or(0, |it| it.took.sum);
        let sum = now.took.sum.saturating_sub(sum_before);
        let took = Distribution { bounds: now.took.bounds, counts, sum };
        Operations {
            api: now.api.to_owned(),
            name: now.name.to_owned(),
            count: took.measurement_count(),
            p50_us: quantile(&took, 50) / 1_000,
            p99_us: quantile(&took, 99) / 1_000,
        }
    };
    let mut all: Vec<_> = after.iter().map(since).filter(|it| 0 < it.count).collect();
    all.sort_by_key(|it| std::cmp::Reverse(it.count));
    all.truncate(MOST_KINDS);
    all
}

/// Approximates a percentile, in nanoseconds. Measurements are assumed to be spread evenly within a
/// bucket, and are limited to what the sum of all measurements allows, so that one slow operation
/// in a wide bucket is not reported as slower than it was.
fn quantile(of: &Distribution, hundredths: u64) -> u64 {
    let wanted = (of.measurement_count() * hundredths).div_ceil(100).max(1);
    let most = greatest(of);
    let (mut below, mut lower) = (0, 0);
    for (count, upper) in of.counts.iter().zip(of.bounds) {
        if wanted <= below + count {
            let part = u128::from(upper - lower) * u128::from(wanted - below) / u128::from(*count);
            // The sum may have been read before a counted measurement was added to it.
            return (lower + u64::try_from(part).unwrap_or(0)).min(most.max(lower));
        }
        (below, lower) = (below + count, *upper);
    }
    most.max(lower)
}

/// Returns an upper bound on any single measurement: the sum of all measurements, less the smallest
/// values that the buckets allow for the other measurements.
fn greatest(of: &Distribution) -> u64 {
    let lowers = std::iter::once(0).chain(of.bounds.iter().copied());
    let filled: Vec<_> = of.counts.iter().zip(lowers).filter(|(count, _)| 0 < **count).collect();
    let all: u64 = filled.iter().map(|(count, lower)| count.saturating_mul(*lower)).sum();
    let of_greatest = filled.last().map_or(0, |(_, lower)| *lower);
    of.sum.saturating_sub(all.saturating_sub(of_greatest))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: &[u64] = &[1_000_000, 2_000_000, 10_000_000];

    /// Creates measurements as large as their buckets allow.
    fn counted(name: &'static str, counts: &[u64]) -> LatencyDistribution {
        let last = BOUNDS.last().copied().unwrap();
        let uppers = BOUNDS.iter().copied().chain([last]);
        let sum = counts.iter().zip(uppers).map(|(count, upper)| count * upper).sum();
        let took = Distribution { bounds: BOUNDS, counts: counts.to_vec(), sum };
        LatencyDistribution { api: "mongodb", name, took }
    }

    #[test]
    fn quantiles_lie_where_the_measurements_are() {
        for (counts, half, most) in [
            (&[100, 0, 0, 0][..], 500_000, 990_000),
            (&[0, 100, 0, 0], 1_500_000, 1_990_000),
            (&[50, 50, 0, 0], 1_000_000, 1_980_000),
            (&[98, 0, 2, 0], 510_204, 6_000_000),
            (&[0, 0, 0, 7], 10_000_000, 10_000_000),
            (&[1, 0, 0, 0], 1_000_000, 1_000_000),
        ] {
            let of = counted("x", counts).took;
            assert_eq!((quantile(&of, 50), quantile(&of, 99)), (half, most), "{counts:?}");
        }
    }

    #[test]
    fn a_single_slow_one_is_as_slow_as_it_was() {
        for (counts, sum, most) in [
            (&[9, 0, 1, 0][..], 900_000 + 3_000_000, 3_900_000),
            (&[0, 0, 1, 0], 5_000_000, 5_000_000),
            (&[0, 0, 0, 1], 45_000_000, 45_000_000),
            (&[0, 0, 2, 0], 3_000_000 + 9_000_000, 10_000_000),
            // The sum was read before the measurement was added to it.
            (&[0, 0, 1, 0], 0, 2_000_000),
        ] {
            let of = Distribution { bounds: BOUNDS, counts: counts.to_vec(), sum };
            assert_eq!(quantile(&of, 99), most, "{counts:?}");
        }
    }

    #[test]
    fn a_sample_has_what_came_since_and_what_is() {
        let before = CounterReadings {
            operations: vec![counted("find", &[10, 0, 0, 0]), counted("ping", &[5, 0, 0, 0])],
            bytes_in: 100,
            removed: 7,
            backlog: 20,
            cursors: 9,
            ..CounterReadings::default()
        };
        let after = CounterReadings {
            operations: vec![
                counted("find", &[10, 4, 0, 0]),
                counted("insert", &[6, 0, 0, 0]),
                counted("ping", &[5, 0, 0, 0]),
            ],
            bytes_in: 150,
            removed: 10,
            backlog: 30,
            cursors: 2,
            ..CounterReadings::default()
        };
        let sample = Sample::between(&before, &after, 5, Duration::from_millis(1_500), true);
        let names: Vec<_> = sample.operations.iter().map(|it| (&*it.name, it.count)).collect();
        assert_eq!(names, [("insert", 6), ("find", 4)]);
        assert_eq!((sample.bytes_in, sample.cursors, sample.span_ms), (50, 2, 1_500));
        assert_eq!((sample.removed, sample.expired, sample.backlog), (3, 13, 30));
        // More documents may be removed than the backlog was estimated to contain.
        let fewer = CounterReadings { backlog: 0, removed: 11, ..CounterReadings::default() };
        assert_eq!(Sample::between(&after, &fewer, 5, Duration::ZERO, false).expired, 0);
    }

    #[test]
    fn a_sample_has_no_more_kinds_than_are_kept() {
        let name = |at: usize| &*Box::leak(format!("c{at}").into_boxed_str());
        let after = (0..100).map(|at| counted(name(at), &[at as u64, 0, 0, 0])).collect();
        let after = CounterReadings { operations: after, ..CounterReadings::default() };
        let sample = Sample::between(&CounterReadings::default(), &after, 0, Duration::ZERO, false);
        assert_eq!(sample.operations.len(), MOST_KINDS);
        assert_eq!(sample.operations[0].name, "c99");
    }
}
