//! Date parts: reading, adding, counting and rounding down to them.

use evaluation::calendar::days_in_month;

use super::text::Parts;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DatePart {
    Year,
    Month,
    Day,
    Hour,
    Minute,
    Second,
    Millisecond,
    Microsecond,
    Nanosecond,
}

/// Names of the date parts, compared without case.
const NAMES: &[(DatePart, &[&str])] = &[
    (DatePart::Year, &["year", "yyyy", "yy"]),
    (DatePart::Month, &["month", "mm", "m"]),
    (DatePart::Day, &["day", "dd", "d"]),
    (DatePart::Hour, &["hour", "hh"]),
    (DatePart::Minute, &["minute", "mi", "n"]),
    (DatePart::Second, &["second", "ss", "s"]),
    (DatePart::Millisecond, &["millisecond", "ms"]),
    (DatePart::Microsecond, &["microsecond", "mcs"]),
    (DatePart::Nanosecond, &["nanosecond", "ns"]),
];

const NANOSECONDS_PER_TICK: i64 = 100;

impl DatePart {
    /// Returns the date part with this name, ignoring case.
    pub(super) fn find_by_name(name: &str) -> Option<Self> {
        let found = NAMES
            .iter()
            .find(|(_, names)| names.iter().any(|known| known.eq_ignore_ascii_case(name)));
        found.map(|(part, _)| *part)
    }

    /// Returns the duration of one unit of the date part.
    fn length_of_one(self) -> Length {
        match self {
            Self::Year => Length::Months(12),
            Self::Month => Length::Months(1),
            Self::Day => Length::Nanoseconds(86_400_000_000_000),
            Self::Hour => Length::Nanoseconds(3_600_000_000_000),
            Self::Minute => Length::Nanoseconds(60_000_000_000),
            Self::Second => Length::Nanoseconds(1_000_000_000),
            Self::Millisecond => Length::Nanoseconds(1_000_000),
            Self::Microsecond => Length::Nanoseconds(1_000),
            Self::Nanosecond => Length::Nanoseconds(1),
        }
    }

    /// Returns the value of the part in an instant. Subsecond parts are the whole fraction of the
    /// second in their unit.
    pub(super) fn value_in(self, ticks: i64) -> i64 {
        let parts = Parts::from_ticks(ticks);
        match self {
            Self::Year => parts.year,
            Self::Month => parts.month,
            Self::Day => parts.day,
            Self::Hour => parts.hour,
            Self::Minute => parts.minute,
            Self::Second => parts.second,
            Self::Millisecond => parts.fraction / 10_000,
            Self::Microsecond => parts.fraction / 10,
            Self::Nanosecond => parts.fraction * NANOSECONDS_PER_TICK,
        }
    }

    /// Adds `count` parts to an instant. A day that the resulting month lacks becomes its last day:
    /// one month after January 31 is the end of February.
    pub(super) fn add_count(self, ticks: i64, count: i64) -> Option<i64> {
        match self.length_of_one() {
            Length::Months(months) => add_months(ticks, count.checked_mul(months)?),
            Length::Nanoseconds(length) => {
                let added = i128::from(count) * i128::from(length);
                let added = added / i128::from(NANOSECONDS_PER_TICK);
                ticks.checked_add(i64::try_from(added).ok()?)
            }
        }
    }

    /// Returns the number of part boundaries after `start` and up to `end`.
    pub(super) fn count_between(self, start: i64, end: i64) -> i128 {
        self.count_begun(end) - self.count_begun(start)
    }

    /// Returns the number of part boundaries up to an instant, since a fixed origin.
    fn count_begun(self, ticks: i64) -> i128 {
        match self.length_of_one() {
            Length::Months(months) => i128::from(month_of(ticks).div_euclid(months)),
            Length::Nanoseconds(length) => nanoseconds_of(ticks).div_euclid(i128::from(length)),
        }
    }

    /// Returns the start of the bin that contains an instant, where bins of `size` parts extend
    /// from an origin in both directions.
    pub(super) fn start_of_bin(self, ticks: i64, size: i64, origin: i64) -> Option<i64> {
        match self.length_of_one() {
            Length::Months(months) => {
                let step = size.checked_mul(months)?;
                let passed = month_of(ticks) - month_of(origin);
                let begin = |bin: i64| add_months(origin, bin.checked_mul(step)?);
                let bin = passed.div_euclid(step);
                // Months differ in length, so with an origin on a late day the start of this bin
                // may be after the instant. The instant is then in the previous bin.
                begin(bin).filter(|begin| *begin <= ticks).or_else(|| begin(bin - 1))
            }
            Length::Nanoseconds(length) => {
                let step = i128::from(size) * i128::from(length);
                let passed = nanoseconds_of(ticks) - nanoseconds_of(origin);
                let begin = nanoseconds_of(origin) + passed.div_euclid(step) * step;
                i64::try_from(begin.div_euclid(i128::from(NANOSECONDS_PER_TICK))).ok()
            }
        }
    }
}

enum Length {
    /// A number of months; their lengths differ.
    Months(i64),
    Nanoseconds(i64),
}

/// Converts ticks to nanoseconds, which may exceed 64 bits.
fn nanoseconds_of(ticks: i64) -> i128 {
    i128::from(ticks) * i128::from(NANOSECONDS_PER_TICK)
}

/// Returns the number of months since year 0.
fn month_of(ticks: i64) -> i64 {
    let parts = Parts::from_ticks(ticks);
    parts.year * 12 + parts.month - 1
}

/// Adds months to an instant, keeping the day of the month or else using the month's last day.
fn add_months(ticks: i64, months: i64) -> Option<i64> {
    let parts = Parts::from_ticks(ticks);
    let month = month_of(ticks).checked_add(months)?;
    let (year, month) = (month.div_euclid(12), month.rem_euclid(12) + 1);
    let day = parts.day.min(days_in_month(year, month));
    Parts { year, month, day, ..parts }.to_ticks()
}
