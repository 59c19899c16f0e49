//! Results of one run of a workload, and medians of several. `report.rs` formats them.

use crate::histogram::Histogram;

/// Results of one run. Times are in microseconds, memory in bytes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Figures {
    pub(crate) work: &'static str,
    pub(crate) connections: usize,
    /// Number of operations in the measured window.
    pub(crate) operations: f64,
    /// Number of operations that the server refused or to which it sent a wrong answer.
    pub(crate) failures: f64,
    /// Reason of the first failure.
    pub(crate) failure: Option<String>,
    /// Operations per second in the window.
    pub(crate) rate: f64,
    pub(crate) p50: f64,
    pub(crate) p95: f64,
    pub(crate) p99: f64,
    pub(crate) max: f64,
    /// The server's CPU time per operation; `None` if its process is not known.
    pub(crate) server_cpu: Option<f64>,
    /// The server's resident memory at the end; `None` if its process is not known.
    pub(crate) server_memory: Option<f64>,
    /// CPU use of the load generator; 1 is one core.
    pub(crate) client_busy: f64,
    /// Additional figures of this workload.
    pub(crate) extras: Vec<Extra>,
}

/// A figure of specific workloads.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Extra {
    /// Name of the figure, with its unit.
    pub(crate) name: &'static str,
    pub(crate) value: f64,
}

impl Figures {
    /// Sets the latencies from a histogram.
    pub(crate) fn set_latencies(&mut self, histogram: &Histogram) {
        let micros = |share| histogram.duration_at(share).as_secs_f64() * 1e6;
        (self.p50, self.p95, self.p99) = (micros(0.5), micros(0.95), micros(0.99));
        self.max = histogram.longest_duration().as_secs_f64() * 1e6;
    }

    /// Adds an extra figure. The name includes the unit. Scripts read names, so they must not
    /// change.
    pub(crate) fn add_extra(&mut self, name: &'static str, value: f64) {
        self.extras.push(Extra { name, value });
    }

    /// Returns the extra figure of this name.
    pub(crate) fn find_extra(&self, name: &str) -> Option<f64> {
        self.extras.iter().find(|extra| extra.name == name).map(|extra| extra.value)
    }
}

/// Converts a count of bytes or documents.
#[expect(clippy::cast_precision_loss, reason = "bytes and documents are far below 2^53")]
pub(crate) fn to_float(number: u64) -> f64 {
    number as f64
}

/// Returns bytes in megabytes of 10^6.
pub(crate) fn megabytes(bytes: u64) -> f64 {
    to_float(bytes) / 1e6
}

/// Returns the median of each figure of several runs of one workload; failures are added up
/// instead. Returns `None` if there are no runs.
pub(crate) fn median_figures(runs: &[Figures]) -> Option<Figures> {
    let first = runs.first()?;
    let of = |pick: fn(&Figures) -> f64| median_value(runs.iter().map(pick).collect());
    let optional = |pick: fn(&Figures) -> Option<f64>| {
        let values: Vec<f64> = runs.iter().filter_map(pick).collect();
        (!values.is_empty()).then(|| median_value(values))
    };
    let extra = |name| Extra {
        name,
        value: median_value(runs.iter().filter_map(|figures| figures.find_extra(name)).collect()),
    };
    Some(Figures {
        work: first.work,
        connections: first.connections,
        operations: of(|figures| figures.operations),
        // A sum instead of a median: one failed operation in any run has to be visible.
        failures: runs.iter().map(|figures| figures.failures).sum(),
        failure: runs.iter().find_map(|figures| figures.failure.clone()),
        rate: of(|figures| figures.rate),
        p50: of(|figures| figures.p50),
        p95: of(|figures| figures.p95),
        p99: of(|figures| figures.p99),
        max: of(|figures| figures.max),
        server_cpu: optional(|figures| figures.server_cpu),
        server_memory: optional(|figures| figures.server_memory),
        client_busy: of(|figures| figures.client_busy),
        extras: first.extras.iter().map(|held| extra(held.name)).collect(),
    })
}

/// Returns the median; for an even number of values it is the mean of the two middle ones, and for
/// no values zero.
pub(crate) fn median_value(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match (values.get(middle), values.get(middle.wrapping_sub(1))) {
        (Some(upper), Some(lower)) if values.len().is_multiple_of(2) => {
            f64::midpoint(*lower, *upper)
        }
        (Some(upper), _) => *upper,
        (None, _) => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn middles() {
        for (values, want) in [
            (vec![], 0.0),
            (vec![3.0], 3.0),
            (vec![9.0, 1.0], 5.0),
            (vec![9.0, 1.0, 2.0], 2.0),
            (vec![4.0, 1.0, 3.0, 2.0], 2.5),
        ] {
            assert!((median_value(values.clone()) - want).abs() < 1e-9, "{values:?}");
        }
    }

    #[test]
    fn each_figure_has_its_own_median_and_failures_add_up() {
        let run = |rate: f64, p99: f64, cpu: Option<f64>, failures: f64, late: f64| Figures {
            rate,
            p99,
            server_cpu: cpu,
            failures,
            extras: vec![Extra { name: "late", value: late }],
            ..Figures::default()
        };
        let runs = [
            run(10.0, 7.0, Some(1.0), 0.0, 5.0),
            run(30.0, 9.0, None, 2.0, 6.0),
            run(20.0, 8.0, Some(3.0), 1.0, 7.0),
        ];
        assert_eq!(median_figures(&runs), Some(run(20.0, 8.0, Some(2.0), 3.0, 6.0)));
        assert_eq!(median_figures(&[]), None);
    }
}
