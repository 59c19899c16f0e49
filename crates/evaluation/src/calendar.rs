//! The Gregorian calendar over milliseconds since 1970, without time zones and with unlimited
//! years.
//!
//! Days are counted in eras of 400 years of 146,097 days each. Within an era, years start in March,
//! so that the leap day is the last day of its year and the months before it follow a fixed
//! pattern: 153 days per five months from March on.
//!
//! ```text
//! day 719,468 of the count from 0000-03-01 is 1970-01-01
//! ```

/// The number of milliseconds in a day.
pub const DAY_MS: i64 = 86_400_000;

/// The English names of the months.
pub const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// A local date and time. Fields may be out of range while a date is computed; [`DateParts::to_ms`]
/// normalizes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DateParts {
    /// Year of the Gregorian calendar; may be negative.
    pub year: i64,
    /// Month, from 1 to 12.
    pub month: i64,
    /// Day of the month, from 1.
    pub day: i64,
    /// Hour, from 0 to 23.
    pub hour: i64,
    /// Minute, from 0 to 59.
    pub minute: i64,
    /// Second, from 0 to 59.
    pub second: i64,
    /// Millisecond, from 0 to 999.
    pub millisecond: i64,
}

impl DateParts {
    /// Returns the parts of an instant.
    pub fn parts_of(ms: i64) -> Self {
        let (year, month, day) = date_of_days(ms.div_euclid(DAY_MS));
        let rest = ms.rem_euclid(DAY_MS);
        Self {
            year,
            month,
            day,
            hour: rest / 3_600_000,
            minute: rest / 60_000 % 60,
            second: rest / 1000 % 60,
            millisecond: rest % 1000,
        }
    }

    /// Returns the instant. Fields out of range are normalized, so that month 13 is January of the
    /// next year. `None` on overflow.
    pub fn to_ms(self) -> Option<i64> {
        let months = self.year.checked_mul(12)?.checked_add(self.month - 1)?;
        let first = days_of_date(months.div_euclid(12), months.rem_euclid(12) + 1, 1)?;
        let days = first.checked_add(self.day - 1)?;
        let time = self
            .hour
            .checked_mul(3_600_000)?
            .checked_add(self.minute.checked_mul(60_000)?)?
            .checked_add(self.second.checked_mul(1000)?)?
            .checked_add(self.millisecond)?;
        days.checked_mul(DAY_MS)?.checked_add(time)
    }
}

/// Returns the days since 1970 of a date. The month must be in range; the day may be any.
pub fn days_of_date(year: i64, month: i64, day: i64) -> Option<i64> {
    let shifted = if month <= 2 { year.checked_sub(1)? } else { year };
    let era = shifted.div_euclid(400);
    let of_era = shifted.rem_euclid(400);
    // March is month 0 of this year; the days before month m are (153 m + 2) / 5.
    let of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    let of_era_days = of_era * 365 + of_era / 4 - of_era / 100 + of_year;
    era.checked_mul(146_097)?.checked_add(of_era_days)?.checked_sub(719_468)
}

/// Converts a day, counted from 1970, to year, month and day of the month.
pub fn date_of_days(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    // Subtracts the leap days before the year: one every 1,460 days, none every 36,524, one at the
    // end of the era.
    let year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let index = (5 * of_year + 2) / 153;
    let day = of_year - (153 * index + 2) / 5 + 1;
    let month = if index < 10 { index + 3 } else { index - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

/// Returns the number of days of a month.
pub fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Returns the day of the week, Monday 1 to Sunday 7.
pub fn iso_weekday(days: i64) -> i64 {
    (days + 3).rem_euclid(7) + 1
}

/// Returns the day of the year, from 1.
pub fn day_of_year(days: i64) -> i64 {
    let (year, _, _) = date_of_days(days);
    days - days_of_date(year, 1, 1).unwrap_or(days) + 1
}

/// Returns the week of the year. Weeks start on Sunday; days before the first Sunday are in week 0.
pub fn week_of_year(days: i64) -> i64 {
    (day_of_year(days) - 1 + 7 - iso_weekday(days) % 7) / 7
}

/// Returns the ISO year and week. A week belongs to the year of its Thursday.
pub fn iso_week(days: i64) -> (i64, i64) {
    let thursday = days - iso_weekday(days) + 4;
    (date_of_days(thursday).0, (day_of_year(thursday) - 1) / 7 + 1)
}

/// Returns the days since 1970 of the Monday on which an ISO year starts.
pub fn iso_year_start(year: i64) -> Option<i64> {
    let fourth = days_of_date(year, 1, 4)?;
    Some(fourth - iso_weekday(fourth) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_days_agree() {
        for days in (-800_000..800_000).step_by(97) {
            let (year, month, day) = date_of_days(days);
            assert_eq!(days_of_date(year, month, day), Some(days));
        }
        assert_eq!(date_of_days(19_782), (2024, 2, 29));
        assert_eq!(iso_weekday(19_782), 4);
        assert_eq!(day_of_year(19_782), 60);
        assert_eq!((week_of_year(19_782), iso_week(19_782)), (8, (2024, 9)));
        assert_eq!(iso_week(days_of_date(2021, 1, 3).unwrap()), (2020, 53));
        assert_eq!(date_of_days(iso_year_start(2024).unwrap()), (2024, 1, 1));
    }
}
