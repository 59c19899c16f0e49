//! Dates in headers, and the check of a request's date against the machine's clock.

use std::{borrow::Cow, time::UNIX_EPOCH};

use crate::denied::Denied;

/// Maximum difference between the date of a signed request and the machine's clock, in
/// milliseconds, either way. A recorded request can be replayed no longer than this.
pub(crate) const MAX_SKEW_MS: i64 = 15 * 60 * 1000;

/// Parses a date in one of HTTP's three formats into milliseconds since 1970; `None` if it is
/// invalid or before 1970. Some clients write the zone as `UTC` instead of HTTP's `GMT`.
pub fn http_date(text: &str) -> Option<i64> {
    let text = match text.trim().strip_suffix(" UTC") {
        Some(date) => Cow::Owned(format!("{date} GMT")),
        None => Cow::Borrowed(text.trim()),
    };
    let date = httpdate::parse_http_date(&text).ok()?;
    i64::try_from(date.duration_since(UNIX_EPOCH).ok()?.as_millis()).ok()
}

/// Refuses a date that is more than [`MAX_SKEW_MS`] before or after now.
pub(crate) fn check_date(date: &str, now_ms: i64) -> Result<(), Denied> {
    let date = http_date(date).ok_or(Denied::NoDate)?;
    if MAX_SKEW_MS < now_ms.saturating_sub(date).saturating_abs() {
        return Err(Denied::Skewed);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_good_for_a_quarter_of_an_hour_either_way() {
        let date = "Sun, 06 Nov 1994 08:49:37 GMT";
        let at = 784_111_777_000;
        for (text, now, want) in [
            (date, at, Ok(())),
            (date, at + 900_000, Ok(())),
            (date, at + 900_001, Err(Denied::Skewed)),
            (date, at - 900_000, Ok(())),
            (date, at - 900_001, Err(Denied::Skewed)),
            (date, i64::MIN, Err(Denied::Skewed)),
            (" Sunday, 06-Nov-94 08:49:37 GMT", at, Ok(())),
            ("Sun Nov  6 08:49:37 1994", at, Ok(())),
            ("Sun, 06 Nov 1994 08:49:37 UTC", at, Ok(())),
            ("Sunday, 06-Nov-94 08:49:37 UTC ", at, Ok(())),
            ("Sun, 06 Nov 1994 08:49:37 UTC", at + 900_001, Err(Denied::Skewed)),
            ("Sun, 06 Nov 1994 08:49:37 CET", at, Err(Denied::NoDate)),
            (" UTC", at, Err(Denied::NoDate)),
            ("", at, Err(Denied::NoDate)),
            ("1994-11-06T08:49:37Z", at, Err(Denied::NoDate)),
            ("Sun, 06 Nov 1066 08:49:37 GMT", at, Err(Denied::NoDate)),
        ] {
            assert_eq!(check_date(text, now), want, "{text} {now}");
        }
    }
}
