//! Parts of an instant: reading, adding, counting and cutting by them.

use evaluation::calendar::days_in_month;

use super::text::Parts;

/// A part of a date, from year to nanosecond.
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

/// The names of the parts; case does not count.
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
    /// The part of this name; case does not count.
    pub(super) fn find_by_name(name: &str) -> Option<Self> {
        let found = NAMES
            .iter()
            .find(|(_, names)| names.iter().any(|known| known.eq_ignore_ascii_case(name)));
        found.map(|(part, _)| *part)
    }

    /// How long it is, in months or in nanoseconds.
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

    /// The value of the part in an instant. Of fractions of a second each is the whole fraction in
    /// its unit.
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

    /// An instant later by `count` of the part. A day that the month lacks becomes its last one: a
    /// month after January 31 is the end of February.
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

    /// How many of the part begin after `start` and not after `end`.
    pub(super) fn count_between(self, start: i64, end: i64) -> i128 {
        self.count_begun(end) - self.count_begun(start)
    }

    /// How many of the part have begun by an instant, counted from a fixed one.
    fn count_begun(self, ticks: i64) -> i128 {
        match self.length_of_one() {
            Length::Months(months) => i128::from(month_of(ticks).div_euclid(months)),
            Length::Nanoseconds(length) => nanoseconds_of(ticks).div_euclid(i128::from(length)),
        }
    }

    /// Where the bin begins that an instant lies in, when bins of `size` parts follow one another
    /// from an origin in both directions.
    pub(super) fn start_of_bin(self, ticks: i64, size: i64, origin: i64) -> Option<i64> {
        match self.length_of_one() {
            Length::Months(months) => {
                let step = size.checked_mul(months)?;
                let passed = month_of(ticks) - month_of(origin);
                let begin = |bin: i64| add_months(origin, bin.checked_mul(step)?);
                let bin = passed.div_euclid(step);
                // Months differ in length, so that an origin on a late day may put the bin's begin
                // after the instant: then it is in the bin before.
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

/// A length of time.
enum Length {
    /// A number of months, which differ in length.
    Months(i64),
    /// A length that is the same everywhere.
    Nanoseconds(i64),
}

/// Ticks as nanoseconds, which are more than 64 bits hold.
fn nanoseconds_of(ticks: i64) -> i128 {
    i128::from(ticks) * i128::from(NANOSECONDS_PER_TICK)
}

/// Months since the year 0.
fn month_of(ticks: i64) -> i64 {
    let parts = Parts::from_ticks(ticks);
    parts.year * 12 + parts.month - 1
}

/// An instant later by so many months, on the same day of the month or the last one there is.
fn add_months(ticks: i64, months: i64) -> Option<i64> {
    let parts = Parts::from_ticks(ticks);
    let month = month_of(ticks).checked_add(months)?;
    let (year, month) = (month.div_euclid(12), month.rem_euclid(12) + 1);
    let day = parts.day.min(days_in_month(year, month));
    Parts { year, month, day, ..parts }.to_ticks()
}
