//! The query metrics header for clients that request it: numbers of rows and bytes read and
//! returned, and the duration of each phase of the execution by the monotonic clock.

use std::time::Duration;

use engine::Scanned;

/// The number of rows for which a page is charged and which its metrics report. It depends only on
/// policy, query and data, and not on the access path, so that building or dropping an index does
/// not change it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RowsRead {
    pub(super) rows: u64,
    bytes: u64,
}

impl RowsRead {
    /// Returns the number of rows that are charged for a page. If an index provides the order,
    /// these are the results; otherwise the items that match the tests that an index may serve.
    pub(super) fn of_page(scanned: &Scanned, results: usize, bytes: usize) -> Self {
        match scanned.ordered {
            true => Self { rows: results as u64, bytes: bytes as u64 },
            false => Self { rows: scanned.items, bytes: scanned.bytes },
        }
    }
}

/// Monotonic times at which the phases of the execution of a query's page were completed.
#[derive(Clone, Copy, Debug)]
pub(super) struct QueryTimes {
    began: Duration,
    compiled: Duration,
    ran: Duration,
    /// Part of the time between `compiled` and `ran` that was spent on evaluating rows.
    evaluating: Duration,
}

impl QueryTimes {
    pub(super) fn begin() -> Self {
        let began = clock::monotonic_time();
        Self { began, compiled: began, ran: began, evaluating: Duration::ZERO }
    }

    /// Records that the query is compiled.
    pub(super) fn record_compiled(&mut self) {
        self.compiled = clock::monotonic_time();
        self.ran = self.compiled;
    }

    /// Records that the page's results are complete. `evaluating` is the evaluation time of rows;
    /// `None`, if no row was read, stands for all time since compilation.
    pub(super) fn record_page(&mut self, evaluating: Option<Duration>) {
        self.ran = clock::monotonic_time();
        self.evaluating = evaluating.unwrap_or_else(|| self.ran.saturating_sub(self.compiled));
    }

    /// Returns the header of a page whose text has been written. Every phase that was executed has
    /// a nonzero duration, since clients interpret zero as not executed.
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

/// Converts a duration to hundredths of a millisecond, rounded.
fn hundredths(took: Duration) -> u64 {
    u64::try_from((took.as_micros() + 5) / 10).unwrap_or(u64::MAX / 8)
}

/// Formats hundredths of a millisecond as the metrics header requires.
fn milliseconds(hundredths: u64) -> String {
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

/// Measures the evaluation time of rows. Two clock readings per row would be a noticeable overhead
/// for simple rows, so only one row in [`SAMPLE`] is measured, and the time is extrapolated.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RowTimer {
    is_requested: bool,
    rows: u32,
    measured: u32,
    took: Duration,
}

/// Every `SAMPLE`-th row is measured, starting with the first.
const SAMPLE: u32 = 16;

impl RowTimer {
    /// Returns a timer that measures nothing unless `is_requested`.
    pub(super) fn new(is_requested: bool) -> Self {
        Self { is_requested, ..Self::default() }
    }

    /// Starts a row. Returns the current time if this row is measured, which the caller must pass
    /// to [`end_row`](Self::end_row).
    pub(super) fn begin_row(&mut self) -> Option<Duration> {
        if !self.is_requested {
            return None;
        }
        let measures = self.rows.is_multiple_of(SAMPLE);
        self.rows = self.rows.saturating_add(1);
        measures.then(clock::monotonic_time)
    }

    /// Ends the time measurement of a row if the row is measured.
    pub(super) fn end_row(&mut self, began: Option<Duration>) {
        let Some(began) = began else { return };
        self.took += clock::monotonic_time().saturating_sub(began);
        self.measured += 1;
    }

    /// Returns the evaluation time of all rows, extrapolated from the measured rows.
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
