//! Request charges: a number that grows with the bytes and rows an operation handles, and is the
//! same whenever the same operation meets the same data.

/// What an operation did.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Work {
    /// Found one thing by its name.
    PointRead,
    /// Wrote or removed one thing.
    Write,
    /// Looked at so many rows.
    Rows(u64),
}

/// Hundredths of a unit: a request that was refused or failed.
pub(crate) fn of_failure() -> u64 {
    hundredths(Work::PointRead, 0)
}

/// Hundredths of a unit: the base of the operation, and its part for each kilobyte begun.
pub(crate) fn hundredths(work: Work, bytes: usize) -> u64 {
    let kilobytes = (bytes as u64).div_ceil(1024).max(1);
    match work {
        Work::PointRead => 50 + 50 * kilobytes,
        Work::Write => 400 + 100 * kilobytes,
        Work::Rows(rows) => 225 + 3 * rows + 5 * kilobytes,
    }
}

/// A charge as it stands in a header.
pub(crate) fn units_text(hundredths: u64) -> String {
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
            (Work::Rows(0), 0, "2.3"),
            (Work::Rows(100), 2048, "5.35"),
            (Work::Rows(1), 0, "2.33"),
        ] {
            assert_eq!(units_text(hundredths(work, bytes)), want, "{work:?} {bytes}");
        }
    }
}
