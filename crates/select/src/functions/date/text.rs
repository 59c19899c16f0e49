//! Instants as text: ISO 8601 in UTC with seven decimal places. An instant is a number of ticks of
//! 100 nanoseconds since 1970. Only the years 1 to 9999 have a text.

use evaluation::calendar::{date_of_days, days_in_month, days_of_date};

pub(super) const TICKS_PER_MS: i64 = 10_000;
const TICKS_PER_SECOND: i64 = 10_000_000;
const TICKS_PER_DAY: i64 = 86_400 * TICKS_PER_SECOND;

/// Maximum number of decimal places of a second.
const PLACES: usize = 7;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parts {
    pub(super) year: i64,
    pub(super) month: i64,
    /// Day of the month, from 1.
    pub(super) day: i64,
    pub(super) hour: i64,
    pub(super) minute: i64,
    pub(super) second: i64,
    pub(super) fraction: i64,
}

impl Parts {
    pub(super) fn from_ticks(ticks: i64) -> Self {
        let (year, month, day) = date_of_days(ticks.div_euclid(TICKS_PER_DAY));
        let rest = ticks.rem_euclid(TICKS_PER_DAY);
        let seconds = rest / TICKS_PER_SECOND;
        Self {
            year,
            month,
            day,
            hour: seconds / 3600,
            minute: seconds / 60 % 60,
            second: seconds % 60,
            fraction: rest % TICKS_PER_SECOND,
        }
    }

    /// Returns the instant; `None` if a part is out of range, including the day of the month.
    pub(super) fn to_ticks(self) -> Option<i64> {
        let valid = (1..=9999).contains(&self.year)
            && (1..=12).contains(&self.month)
            && (1..=days_in_month(self.year, self.month)).contains(&self.day)
            && (0..24).contains(&self.hour)
            && (0..60).contains(&self.minute)
            && (0..60).contains(&self.second)
            && (0..TICKS_PER_SECOND).contains(&self.fraction);
        if !valid {
            return None;
        }
        let days = days_of_date(self.year, self.month, self.day)?;
        let seconds = self.hour * 3600 + self.minute * 60 + self.second;
        Some(days * TICKS_PER_DAY + seconds * TICKS_PER_SECOND + self.fraction)
    }
}

/// Formats an instant with seven decimal places; `None` for years outside 1 to 9999.
pub(super) fn format_iso(ticks: i64) -> Option<String> {
    let at = Parts::from_ticks(ticks);
    (1..=9999).contains(&at.year).then(|| {
        format!(
            "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:07}Z",
            at.year, at.month, at.day, at.hour, at.minute, at.second, at.fraction
        )
    })
}

/// Parses a date, alone or with a time of at most seven decimal places, and an optional `Z`. Other
/// offsets are not part of this language's dates.
pub(in super::super) fn parse_iso(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    let bytes = bytes.strip_suffix(b"Z").unwrap_or(bytes);
    let (date, time) = bytes.split_at_checked(10)?;
    let [year, month, day] = parse_numbers(date, b'-', [4, 2, 2])?;
    let mut parts = Parts { year, month, day, hour: 0, minute: 0, second: 0, fraction: 0 };
    if let Some((mark, time)) = time.split_first() {
        if !matches!(mark, b'T' | b' ') {
            return None;
        }
        let (time, fraction) = time.split_at_checked(8)?;
        [parts.hour, parts.minute, parts.second] = parse_numbers(time, b':', [2, 2, 2])?;
        parts.fraction = parse_decimals(fraction)?;
    }
    parts.to_ticks()
}

/// Parses a date that may end with an offset from UTC, such as `+01:30`. `None` if the instant is
/// outside the years 1 to 9999 in UTC.
pub(super) fn parse_with_offset(text: &str) -> Option<i64> {
    let at = text.len().checked_sub(6).filter(|at| text.is_char_boundary(*at));
    let (local, offset) = text.split_at(at.unwrap_or(text.len()));
    let sign = match offset.bytes().next() {
        Some(b'+') => 1,
        // The `-01` of a date such as `2024-01-01` is not an offset.
        Some(b'-') if offset.contains(':') => -1,
        _ => return parse_iso(text),
    };
    // An offset requires a time, and excludes a `Z`.
    if !local.contains(':') || local.ends_with('Z') {
        return None;
    }
    let [hours, minutes] = parse_numbers(offset.as_bytes().get(1..)?, b':', [2, 2])?;
    if 14 < hours || 59 < minutes || (hours == 14 && 0 < minutes) {
        return None;
    }
    let seconds = sign * (hours * 3600 + minutes * 60);
    let ticks = parse_iso(local)?.checked_sub(seconds * TICKS_PER_SECOND)?;
    (1..=9999).contains(&Parts::from_ticks(ticks).year).then_some(ticks)
}

/// Parses numbers of exactly these widths, with a separator between them.
fn parse_numbers<const N: usize>(
    bytes: &[u8],
    between: u8,
    widths: [usize; N],
) -> Option<[i64; N]> {
    let mut found = [0; N];
    let mut pieces = bytes.split(|byte| *byte == between);
    for (number, width) in found.iter_mut().zip(widths) {
        *number = parse_digits(pieces.next().filter(|piece| piece.len() == width)?)?;
    }
    pieces.next().is_none().then_some(found)
}

fn parse_digits(bytes: &[u8]) -> Option<i64> {
    bytes.iter().try_fold(0, |number, byte| {
        byte.is_ascii_digit().then(|| number * 10 + i64::from(byte - b'0'))
    })
}

/// Parses an empty text, or a point and up to seven decimal places of a second, as ticks.
fn parse_decimals(bytes: &[u8]) -> Option<i64> {
    let Some((point, places)) = bytes.split_first() else { return Some(0) };
    if *point != b'.' || places.is_empty() || PLACES < places.len() {
        return None;
    }
    let missing = u32::try_from(PLACES - places.len()).ok()?;
    Some(parse_digits(places)? * 10_i64.pow(missing))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_instants_and_back() {
        for (text, want) in [
            ("2024-12-12", "2024-12-12T00:00:00.0000000Z"),
            ("2024-12-12Z", "2024-12-12T00:00:00.0000000Z"),
            ("2024-12-12 20:21:25", "2024-12-12T20:21:25.0000000Z"),
            ("2024-12-12T20:21:25.123", "2024-12-12T20:21:25.1230000Z"),
            ("2024-02-29T23:59:59.9999999Z", "2024-02-29T23:59:59.9999999Z"),
            ("0001-01-01", "0001-01-01T00:00:00.0000000Z"),
            ("9999-12-31T23:59:59.9999999", "9999-12-31T23:59:59.9999999Z"),
            ("1969-12-31T23:59:59.9999999", "1969-12-31T23:59:59.9999999Z"),
        ] {
            assert_eq!(parse_iso(text).and_then(format_iso).as_deref(), Some(want), "{text}");
        }
        for text in [
            "",
            "Z",
            "2024",
            "2024-12",
            "2024-12-1",
            "2024-12-12T",
            "2024-12-12T20Z",
            "2024-12-12T20:21Z",
            "2024-12-12 20:21:25.",
            "2024-12-12t20:21:25",
            "2024-12-12T20:21:25.12345678",
            "2024-12-12T20:21:25+01:00",
            "2023-02-29",
            "2024-13-01",
            "2024-00-01",
            "2024-01-00",
            "0000-01-01",
            "2024-01-01T24:00:00",
            "2024-01-01T23:60:00",
            "2024-01-01T23:00:60",
            "20240101",
            "2024-1-001",
            "٢024-01-01",
            "2024-01-0١",
            "+024-01-01",
            "2024-01-01T00:00:00ZZ",
        ] {
            assert_eq!(parse_iso(text), None, "{text}");
        }
    }

    #[test]
    fn an_offset_is_taken_away() {
        for (text, want) in [
            ("1998-05-04T15:30:10+00:00", "1998-05-04T15:30:10.0000000Z"),
            ("1998-05-04T00:30:10.5+01:30", "1998-05-03T23:00:10.5000000Z"),
            ("1998-12-31 23:00:00-14:00", "1999-01-01T13:00:00.0000000Z"),
            ("1998-05-04", "1998-05-04T00:00:00.0000000Z"),
            ("1998-05-04T15:30:10Z", "1998-05-04T15:30:10.0000000Z"),
            ("1998-05-04T15:30:10", "1998-05-04T15:30:10.0000000Z"),
        ] {
            assert_eq!(
                parse_with_offset(text).and_then(format_iso).as_deref(),
                Some(want),
                "{text}"
            );
        }
        for text in [
            "",
            "+01:00",
            "1998-05-04+01:00",
            "1998-05-04-01:00",
            "1998-05-04T15:30:10Z+01:00",
            "1998-05-04T15:30:10+1:00",
            "1998-05-04T15:30:10+01",
            "1998-05-04T15:30:10+0100",
            "1998-05-04T15:30:10+01:60",
            "1998-05-04T15:30:10+14:01",
            "1998-05-04T15:30:10+15:00",
            "1998-05-04T15:30:10 01:00",
            "1998-05-04T15:30:10+٠١:00",
            "0001-01-01T00:00:00+00:01",
            "9999-12-31T23:59:59-00:01",
        ] {
            assert_eq!(parse_with_offset(text), None, "{text}");
        }
    }

    #[test]
    fn only_years_of_four_digits_have_a_text() {
        let first = parse_iso("0001-01-01").unwrap();
        let last = parse_iso("9999-12-31T23:59:59.9999999").unwrap();
        assert!(format_iso(first).is_some() && format_iso(last).is_some());
        assert!(format_iso(first - 1).is_none() && format_iso(last + 1).is_none());
        assert!(format_iso(i64::MIN).is_none() && format_iso(i64::MAX).is_none());
    }
}
