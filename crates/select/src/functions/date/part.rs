//! Parts of an instant: reading, adding, counting and cutting by them.

use evaluation::calendar::days_in_month;

use super::text::Parts;

/// A part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
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

/// The names of parts.
const NAMES: &[(Part, &[&str])] = &[
    (Part::Year, &["year", "yyyy", "yy"]),
    (Part::Month, &["month", "mm", "m"]),
    (Part::Day, &["day", "dd", "d"]),
    (Part::Hour, &["hour", "hh"]),
    (Part::Minute, &["minute", "mi", "n"]),
    (Part::Second, &["second", "ss", "s"]),
    (Part::Millisecond, &["millisecond", "ms"]),
    (Part::Microsecond, &["microsecond", "mcs"]),
    (Part::Nanosecond, &["nanosecond", "ns"]),
];

const NANOSECONDS_PER_TICK: i64 = 100;

impl Part {
    /// The part of this name; case does not count.
    pub(super) fn named(name: &str) -> Option<Self> {
        let found = NAMES
            .iter()
            .find(|(_, names)| names.iter().any(|known| known.eq_ignore_ascii_case(name)));
        found.map(|(part, _)| *part)
    }

    /// How long it is, in months or in nanoseconds.
    fn length(self) -> Length {
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

    /// What an instant has of it.
    pub(super) fn of(self, ticks: i64) -> i64 {
        let parts = Parts::of(ticks);
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

    /// An instant later by so many; a day that a month lacks becomes its last one.
    pub(super) fn add(self, ticks: i64, count: i64) -> Option<i64> {
        match self.length() {
            Length::Months(months) => add_months(ticks, count.checked_mul(months)?),
            Length::Nanoseconds(length) => {
                let added = i128::from(count) * i128::from(length);
                let added = added / i128::from(NANOSECONDS_PER_TICK);
                ticks.checked_add(i64::try_from(added).ok()?)
            }
        }
    }

    /// How many begin after one instant and not after another.
    pub(super) fn between(self, start: i64, end: i64) -> i128 {
        self.begun(end) - self.begun(start)
    }

    /// How many have begun by an instant.
    fn begun(self, ticks: i64) -> i128 {
        match self.length() {
            Length::Months(months) => i128::from(month_of(ticks).div_euclid(months)),
            Length::Nanoseconds(length) => nanoseconds(ticks).div_euclid(i128::from(length)),
        }
    }

    /// Where the bin begins that an instant lies in, when bins of a size follow one another from
    /// an origin in both directions.
    pub(super) fn bin(self, ticks: i64, size: i64, origin: i64) -> Option<i64> {
        match self.length() {
            Length::Months(months) => {
                let step = size.checked_mul(months)?;
                let passed = month_of(ticks) - month_of(origin);
                let begin = |bin: i64| add_months(origin, bin.checked_mul(step)?);
                let bin = passed.div_euclid(step);
                begin(bin).filter(|begin| *begin <= ticks).or_else(|| begin(bin - 1))
            }
            Length::Nanoseconds(length) => {
                let step = i128::from(size) * i128::from(length);
                let passed = nanoseconds(ticks) - nanoseconds(origin);
                let begin = nanoseconds(origin) + passed.div_euclid(step) * step;
                i64::try_from(begin.div_euclid(i128::from(NANOSECONDS_PER_TICK))).ok()
            }
        }
    }
}

/// A length of time.
enum Length {
    Months(i64),
    Nanoseconds(i64),
}

fn nanoseconds(ticks: i64) -> i128 {
    i128::from(ticks) * i128::from(NANOSECONDS_PER_TICK)
}

/// Months since the year 0.
fn month_of(ticks: i64) -> i64 {
    let parts = Parts::of(ticks);
    parts.year * 12 + parts.month - 1
}

fn add_months(ticks: i64, months: i64) -> Option<i64> {
    let parts = Parts::of(ticks);
    let month = month_of(ticks).checked_add(months)?;
    let (year, month) = (month.div_euclid(12), month.rem_euclid(12) + 1);
    let day = parts.day.min(days_in_month(year, month));
    Parts { year, month, day, ..parts }.to_ticks()
}
