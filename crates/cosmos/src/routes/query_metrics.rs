//! What a query did, as one header says it to clients that ask: what was read and answered, and how
//! long each part of the work took by the machine's monotonic clock.

use std::time::Duration;

use engine::Scanned;

/// What a page is charged for, and shown to have read: by policy, query and data, and not by what
/// happened to be looked at, so that a path that begins or ends to be kept changes nothing.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RowsRead {
    pub(super) rows: u64,
    bytes: u64,
}

impl RowsRead {
    /// Where an index has the order, what was taken of it; else what meets the part of the condition
    /// that indexes know.
    pub(super) fn of_page(scanned: &Scanned, results: usize, bytes: usize) -> Self {
        match scanned.ordered {
            true => Self { rows: results as u64, bytes: bytes as u64 },
            false => Self { rows: scanned.items, bytes: scanned.bytes },
        }
    }
}

/// When the parts of a query's page were done, in monotonic time.
#[derive(Clone, Copy, Debug)]
pub(super) struct QueryTimes {
    began: Duration,
    compiled: Duration,
    ran: Duration,
    /// How much of the time between the last two was spent on evaluating rows.
    evaluating: Duration,
}

impl QueryTimes {
    /// Begins to measure.
    pub(super) fn begin() -> Self {
        let began = clock::monotonic_time();
        Self { began, compiled: began, ran: began, evaluating: Duration::ZERO }
    }

    /// Notes that the query is compiled.
    pub(super) fn note_compiled(&mut self) {
        self.compiled = clock::monotonic_time();
        self.ran = self.compiled;
    }

    /// Notes that the results of the page are there. `evaluating` is what rows took to be evaluated;
    /// `None` says that no row was read for the page.
    pub(super) fn note_page(&mut self, evaluating: Option<Duration>) {
        self.ran = clock::monotonic_time();
        self.evaluating = evaluating.unwrap_or_else(|| self.ran.saturating_sub(self.compiled));
    }

    /// Returns the header of a page whose text is written. Whatever took place took some time: clients
    /// take a zero for a part that did not.
    pub(super) fn metrics_text(self, read: &RowsRead, results: usize, bytes: usize) -> String {
        let wrote = clock::monotonic_time().saturating_sub(self.ran);
        let run = self.ran.saturating_sub(self.compiled);
        let some = u64::from(0 < read.rows);
        let compile = hundredths(self.compiled.saturating_sub(self.began)).max(1);
        let load = hundredths(run.saturating_sub(self.evaluating)).max(1) * some;
        let evaluate = hundredths(run.min(self.evaluating)).max(some);
        let write = hundredths(wrote).max(1);
        let machine = load + evaluate + write;
        let [total, compile, machine, load, write] =
            [compile + machine, compile, machine, load, write].map(milliseconds);
        format!(
            "totalExecutionTimeInMs={total};queryCompileTimeInMs={compile};\
             queryLogicalPlanBuildTimeInMs=0.00;queryPhysicalPlanBuildTimeInMs=0.00;\
             queryOptimizationTimeInMs=0.00;VMExecutionTimeInMs={machine};indexLookupTimeInMs=0.00;\
             documentLoadTimeInMs={load};systemFunctionExecuteTimeInMs=0.00;\
             userFunctionExecuteTimeInMs=0.00;retrievedDocumentCount={};retrievedDocumentSize={};\
             outputDocumentCount={results};outputDocumentSize={bytes};writeOutputTimeInMs={write};\
             indexUtilizationRatio=1.00",
            read.rows, read.bytes
        )
    }
}

/// Hundredths of a millisecond, rounded.
fn hundredths(took: Duration) -> u64 {
    u64::try_from((took.as_micros() + 5) / 10).unwrap_or(u64::MAX / 8)
}

/// Hundredths of a millisecond as the header has them.
fn milliseconds(hundredths: u64) -> String {
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

/// How long rows take to be evaluated. Reading the clock twice for each row would cost a part of what
/// simple ones take, so the time of one in [`SAMPLE`] stands for the others.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RowTimer {
    /// Whether anybody asks.
    wanted: bool,
    rows: u32,
    measured: u32,
    took: Duration,
}

/// One of this many rows is measured, beginning with the first.
const SAMPLE: u32 = 16;

impl RowTimer {
    /// Returns a timer that measures nothing unless it is `wanted`.
    pub(super) fn new(wanted: bool) -> Self {
        Self { wanted, ..Self::default() }
    }

    /// Notes a row. What is returned is for [`end_row`](Self::end_row).
    pub(super) fn begin_row(&mut self) -> Option<Duration> {
        if !self.wanted {
            return None;
        }
        let measures = self.rows.is_multiple_of(SAMPLE);
        self.rows = self.rows.saturating_add(1);
        measures.then(clock::monotonic_time)
    }

    /// Notes the end of the row, if it is one that is measured.
    pub(super) fn end_row(&mut self, began: Option<Duration>) {
        let Some(began) = began else { return };
        self.took += clock::monotonic_time().saturating_sub(began);
        self.measured += 1;
    }

    /// Returns about how long all rows took.
    pub(super) fn total(&self) -> Duration {
        self.took.saturating_mul(self.rows) / self.measured.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(parts: [u64; 4]) -> QueryTimes {
        let [began, compiled, ran, evaluating] = parts.map(Duration::from_micros);
        QueryTimes { began, compiled, ran, evaluating }
    }

    fn figure(text: &str, name: &str) -> f64 {
        let (_, rest) = text.split_once(&format!("{name}=")).unwrap();
        rest.split(';').next().unwrap().parse().unwrap()
    }

    #[test]
    fn parts_that_took_place_took_some_time() {
        let read = RowsRead { rows: 2, bytes: 9 };
        for (times, read, compile, load) in [
            (times([0, 0, 0, 0]), read, 0.01, 0.01),
            (times([0, 1500, 4500, 1000]), read, 1.5, 2.0),
            (times([0, 0, 0, 0]), RowsRead::default(), 0.01, 0.0),
        ] {
            let text = times.metrics_text(&read, 1, 7);
            let of = |name: &str| figure(&text, name);
            assert_eq!((of("queryCompileTimeInMs"), of("documentLoadTimeInMs")), (compile, load));
            let evaluated = of("VMExecutionTimeInMs") - load - of("writeOutputTimeInMs");
            assert_eq!(0.0 < evaluated, 0 < read.rows, "{text}");
            assert!(of("VMExecutionTimeInMs") + compile <= of("totalExecutionTimeInMs") + 0.001);
        }
    }

    #[test]
    fn rows_are_measured_where_somebody_asks() {
        let mut timer = RowTimer::new(true);
        let measured = (0..SAMPLE + 1).filter_map(|_| timer.begin_row()).count();
        assert_eq!(measured, 2);
        assert_eq!(RowTimer::new(false).begin_row(), None);
    }
}
