//! Formats the date of a request for HTTP and for the signature. It reads no clock. No library is
//! used, because the date is needed every other second on each connection, and also in lower case.

/// Days of the week, starting with that of 1970-01-01.
const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
/// Month names in HTTP dates.
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// An instant in the two forms that requests need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Date {
    pub(crate) header: String,
    /// Form in the signature: lower case.
    pub(crate) signed: String,
}

impl Date {
    /// Returns the date of an instant in milliseconds since 1970, truncated to seconds.
    pub(crate) fn from_ms(ms: i64) -> Self {
        let seconds = ms.div_euclid(1000).max(0);
        let (days, second) = (seconds / 86_400, seconds % 86_400);
        let (year, month, day) = civil_date(days);
        let name = |names: &[&'static str], index: i64| {
            usize::try_from(index).ok().and_then(|index| names.get(index).copied()).unwrap_or("")
        };
        let (weekday, month) = (name(&DAYS, days % 7), name(&MONTHS, month));
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        let header =
            format!("{weekday}, {day:02} {month} {year:04} {hour:02}:{minute:02}:{second:02} GMT");
        let signed = header.to_ascii_lowercase();
        Self { header, signed }
    }
}

/// Converts a day counted from 1970-01-01 to year, month (from 0) and day (from 1). It counts in
/// eras of 400 years that start in March, so that the leap day is the last day of its year.
fn civil_date(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let (era, day) = (shifted / 146_097, shifted % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let in_year = day - (365 * year + year / 4 - year / 100);
    let march = (5 * in_year + 2) / 153;
    let month = (march + 2) % 12;
    let day = in_year - (153 * march + 2) / 5 + 1;
    (year + era * 400 + i64::from(month < 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        for (ms, want) in [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (-5, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (1_493_254_272_999, "Thu, 27 Apr 2017 00:51:12 GMT"),
            (951_782_400_000, "Tue, 29 Feb 2000 00:00:00 GMT"),
            (951_868_799_000, "Tue, 29 Feb 2000 23:59:59 GMT"),
            (951_868_800_000, "Wed, 01 Mar 2000 00:00:00 GMT"),
            (1_735_689_599_000, "Tue, 31 Dec 2024 23:59:59 GMT"),
            (4_107_542_400_000, "Mon, 01 Mar 2100 00:00:00 GMT"),
        ] {
            let date = Date::from_ms(ms);
            assert_eq!(date.header, want);
            assert_eq!(date.signed, want.to_lowercase());
        }
    }
}
