//! Request units: the cost of an operation, which grows with the bytes and rows it handles and is
//! deterministic for the same operation on the same data. Request units are counted in hundredths,
//! so that sums are exact.
//!
//! ```text
//! a point read of 1.5 KB    50 + 50 * 2         = 1.5 units
//! a write of 300 bytes      400 + 100 * 1       = 5 units
//! a query over 100 items    225 + 3 * 100 + 5   = 5.3 units
//! ```

/// The kind of work that an operation did.
#[derive(Clone, Copy, Debug)]
pub enum Work {
    /// Looked up one resource by its name.
    PointRead,
    /// Wrote or deleted one resource.
    Write,
    /// Wrote or deleted several resources in one request. Their total size is estimated as the size
    /// of the request.
    Writes {
        /// The number of resources written or deleted.
        count: u64,
        /// The number of other resources that were read to find the ones to write.
        examined: u64,
    },
    /// Read this number of rows.
    Rows(u64),
}

/// Returns the cost of a refused or failed request in hundredths of a unit.
pub fn of_failure() -> u64 {
    hundredths(Work::PointRead, 0)
}

/// Returns the cost in hundredths of a unit: a fixed cost, and a cost for each started kilobyte of
/// `bytes`; at least one kilobyte is charged.
pub fn hundredths(work: Work, bytes: usize) -> u64 {
    let kilobytes = (bytes as u64).div_ceil(1024).max(1);
    match work {
        Work::PointRead => 50 + 50 * kilobytes,
        Work::Write => 400 + 100 * kilobytes,
        Work::Writes { count, examined } => 400 * count + 100 * kilobytes.max(count) + 3 * examined,
        Work::Rows(rows) => 225 + 3 * rows + 5 * kilobytes,
    }
}

/// Formats hundredths of a unit without trailing zeros, as in headers.
pub fn units_text(hundredths: u64) -> String {
    let (whole, part) = (hundredths / 100, hundredths % 100);
    match (part / 10, part % 10) {
        (0, 0) => format!("{whole}"),
        (tens, 0) => format!("{whole}.{tens}"),
        _ => format!("{whole}.{part:02}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charges() {
        for (work, bytes, want) in [
            (Work::PointRead, 0, "1"),
            (Work::PointRead, 1024, "1"),
            (Work::PointRead, 1025, "1.5"),
            (Work::PointRead, 100 * 1024, "50.5"),
            (Work::Write, 300, "5"),
            (Work::Write, 2048, "6"),
            (Work::Writes { count: 1, examined: 0 }, 2048, "6"),
            (Work::Writes { count: 3, examined: 10 }, 300, "15.3"),
            (Work::Rows(0), 0, "2.3"),
            (Work::Rows(100), 2048, "5.35"),
            (Work::Rows(1), 0, "2.33"),
        ] {
            assert_eq!(units_text(hundredths(work, bytes)), want, "{work:?} {bytes}");
        }
    }
}
