//! Parses dates: ISO 8601 and common written forms, or a given format.
//!
//! ```text
//! 2024-02-29T13:05:07.089Z     ISO 8601, basic or extended, with an offset or without
//! 2024-W09-4                   ISO week
//! 7/4/2024, July 4th, 2024     common written forms
//! ```
//!
//! A text is parsed from left to right without backtracking, with one exception: text that is not a
//! numeric date is parsed again as a written one. Errors contain the byte position of the
//! unexpected character.

use evaluation::{
    Error,
    calendar::{self, DAY_MS, days_in_month},
};

use super::{
    date_cursor::Cursor,
    date_text::month_named,
    zone::{Zone, offset_ms},
};
use crate::invalid_request;

/// The parts read so far; missing ones have a default or make the date incomplete.
#[derive(Default)]
struct Parts {
    year: Option<i64>,
    month: Option<i64>,
    /// Day of the month, from 1.
    day: Option<i64>,
    day_of_year: Option<i64>,
    /// ISO year, week and day of the week.
    iso: (Option<i64>, Option<i64>, Option<i64>),
    /// Hour, minute, second and millisecond.
    time: [i64; 4],
    /// The UTC offset that the text contains, in milliseconds.
    offset: Option<i64>,
    /// The UTC offset as it was written, for error messages.
    zone_text: String,
}

impl Parts {
    /// Returns the instant, in the offset of the text, else in `zone`, else in UTC. Both an offset
    /// and a zone are an error. Minutes and seconds go up to 59: there are no leap seconds.
    fn into_instant(self, cursor: &Cursor<'_>, zone: Option<&Zone>) -> Result<i64, Error> {
        if self.offset.is_some() && zone.is_some() {
            let text = "you cannot pass in a date/time string with time zone information";
            let zone = self.zone_text;
            return Err(invalid_request(
                241,
                format!("{text} ('{zone}') together with a timezone argument"),
            ));
        }
        let days = self.to_days(cursor)?;
        let [hour, minute, second, millisecond] = self.time;
        let fits = hour <= 23 && minute <= 59 && second <= 59;
        if !fits {
            return Err(cursor.wrong_text("The parsed time was invalid"));
        }
        let time = ((hour * 60 + minute) * 60 + second) * 1000 + millisecond;
        let local = days * DAY_MS + time;
        Ok(match (self.offset, zone) {
            (Some(offset), _) => local - offset,
            (None, Some(zone)) => zone.to_instant(local),
            (None, None) => local,
        })
    }

    /// Returns the day: by ISO week, by day of the year, or by year, month and day. A missing day,
    /// week or weekday is the first one; a year without a month is incomplete. ISO week and day of
    /// the year are not checked against the length of the year.
    fn to_days(&self, cursor: &Cursor<'_>) -> Result<i64, Error> {
        let incomplete = || {
            let text = "an incomplete date/time string has been found, with elements missing:";
            invalid_request(241, format!("{text} \"{}\"", cursor.text))
        };
        if let (Some(year), week, weekday) = self.iso {
            let monday = calendar::iso_year_start(year).ok_or_else(incomplete)?;
            return Ok(monday + (week.unwrap_or(1) - 1) * 7 + weekday.unwrap_or(1) - 1);
        }
        let year = self.year.ok_or_else(incomplete)?;
        if let Some(day) = self.day_of_year {
            return Ok(calendar::days_of_date(year, 1, 1).ok_or_else(incomplete)? + day - 1);
        }
        let (month, day) = (self.month.ok_or_else(incomplete)?, self.day.unwrap_or(1));
        let valid = (1..=12).contains(&month) && (1..=days_in_month(year, month)).contains(&day);
        if !valid {
            return Err(cursor.wrong_text("The parsed date was invalid"));
        }
        calendar::days_of_date(year, month, day).ok_or_else(incomplete)
    }
}

/// Parses a date in one of the usual forms: a date, optionally followed by a time and an offset,
/// separated by blanks or a `T`. `zone` is the function's argument, if any. Returns milliseconds
/// since 1970.
pub(super) fn parse_free(text: &str, zone: Option<&Zone>) -> Result<i64, Error> {
    let mut cursor = Cursor { text, at: 0 };
    let mut parts = Parts::default();
    cursor.skip_blanks();
    let starts_with_digit = cursor.peek_char().is_some_and(|c| c.is_ascii_digit());
    // For a time alone no date is read, and the error reports the missing parts.
    let clock_first = text.as_bytes().get(2) == Some(&b':');
    if !(starts_with_digit && clock_first) {
        // Text that is not a numeric date is parsed again from the start as a written date.
        let read = if starts_with_digit { numeric_date(&mut cursor) } else { None };
        let read = match read {
            Some(read) => Some(read),
            None => {
                cursor.at = 0;
                named_date(&mut cursor)?
            }
        };
        if let Some(read) = read {
            parts = read;
        }
    }
    let before = cursor.at;
    let _ = cursor.skip_char('T') || cursor.skip_char('t');
    cursor.skip_blanks();
    // Digits right after a date belong to neither date nor time.
    let joined = cursor.at == before && 0 < before;
    if joined && cursor.peek_char().is_some_and(|c| c.is_ascii_digit()) {
        cursor.at = text.len();
        return Err(cursor.wrong_text("The parsed date was invalid"));
    }
    if cursor.peek_char().is_some_and(|c| c.is_ascii_digit()) {
        parse_clock(&mut cursor, &mut parts)?;
    }
    cursor.skip_blanks();
    zone_suffix(&mut cursor, &mut parts)?;
    cursor.skip_blanks();
    if !cursor.rest_of_text().is_empty() {
        return Err(cursor.wrong_text("Unexpected character"));
    }
    parts.into_instant(&cursor, zone)
}

/// Parses `yyyy-mm-dd`, `yyyy-mm`, `yyyymmdd`, `yyyy-Www-d`, `yyyy/mm/dd` or `m/d/yyyy`; the number
/// of leading digits selects the form. `None` if it is none of them. A month without a day is its
/// first day. Values are checked later.
fn numeric_date(cursor: &mut Cursor<'_>) -> Option<Parts> {
    let mut parts = Parts::default();
    let (first, count) = cursor.read_digits(1, 8)?;
    if count == 8 {
        parts.year = Some(first / 10_000);
        parts.month = Some(first / 100 % 100);
        parts.day = Some(first % 100);
        return Some(parts);
    }
    if count == 4 {
        if cursor.skip_char('-') && cursor.skip_char('W') {
            let (week, _) = cursor.read_digits(2, 2)?;
            let weekday =
                if cursor.skip_char('-') { Some(cursor.read_digits(1, 1)?.0) } else { None };
            parts.iso = (Some(first), Some(week), weekday);
            return Some(parts);
        }
        let _ = cursor.skip_char('/');
        let (month, _) = cursor.read_digits(1, 2)?;
        parts.year = Some(first);
        parts.month = Some(month);
        if cursor.skip_char('-') || cursor.skip_char('/') {
            parts.day = Some(cursor.read_digits(1, 2)?.0);
        }
        return Some(parts);
    }
    if count <= 2 && cursor.skip_char('/') {
        let (day, _) = cursor.read_digits(1, 2)?;
        let year = if cursor.skip_char('/') { cursor.read_digits(4, 4)?.0 } else { return None };
        parts.year = Some(year);
        parts.month = Some(first);
        parts.day = Some(day);
        return Some(parts);
    }
    None
}

/// Parses `July 4th, 2017`, `Fri, 01 Mar 2024` or `4 July 2017`; `None` if there is no written
/// date. Words and numbers may be in any order; a weekday is ignored. Stops before a time and after
/// a year.
fn named_date(cursor: &mut Cursor<'_>) -> Result<Option<Parts>, Error> {
    let mut parts = Parts::default();
    loop {
        cursor.skip_blanks();
        let before = cursor.at;
        if let Some((number, count)) = cursor.read_digits(1, 4) {
            // A number before a colon is an hour, which the next step parses.
            if cursor.peek_char() == Some(':') {
                cursor.at = before;
                break;
            }
            // Three or four digits are a year, fewer a day.
            if count >= 3 {
                parts.year = Some(number);
                break;
            }
            parts.day = Some(number);
            for suffix in ["st", "nd", "rd", "th"] {
                if cursor.rest_of_text().starts_with(suffix) {
                    cursor.at += 2;
                }
            }
            let _ = cursor.skip_char('-') || cursor.skip_char('.');
            continue;
        }
        let word = cursor.read_word();
        if word.is_empty() {
            break;
        }
        let weekday = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
            .iter()
            .any(|day| word.to_ascii_lowercase().starts_with(day));
        match month_named(word) {
            Some(month) => parts.month = Some(month),
            None if weekday => {}
            None => {
                cursor.at = before;
                let reason = "passing a time zone identifier as part of the string is not allowed";
                return Err(cursor.wrong_text(reason));
            }
        }
        let _ = cursor.skip_char('-') || cursor.skip_char('.');
    }
    Ok(Some(parts))
}

/// Parses `hh[:mm[:ss[.fraction]]]`, with or without colons, and `am` or `pm`.
fn parse_clock(cursor: &mut Cursor<'_>, parts: &mut Parts) -> Result<(), Error> {
    let bad = |cursor: &Cursor<'_>| cursor.wrong_text("Unexpected character");
    let (hour, _) = cursor.read_digits(1, 2).ok_or_else(|| bad(cursor))?;
    parts.time = [hour, 0, 0, 0];
    clock_rest(cursor, parts)?;
    parse_meridian(cursor, parts);
    Ok(())
}

/// Parses `am` or `pm` after the time: `12 am` is 0 o'clock, `12 pm` is 12.
fn parse_meridian(cursor: &mut Cursor<'_>, parts: &mut Parts) {
    let rest = cursor.rest_of_text().trim_start().to_ascii_lowercase();
    let afternoon = rest.starts_with("pm");
    if (afternoon || rest.starts_with("am")) && (1..=12).contains(&parts.time[0]) {
        cursor.skip_blanks();
        cursor.at += 2;
        parts.time[0] = parts.time[0] % 12 + if afternoon { 12 } else { 0 };
    }
}

/// Parses minutes, seconds and a fraction, each only after the one before. Of the fraction three
/// digits are used. Either all parts have colons or none has.
fn clock_rest(cursor: &mut Cursor<'_>, parts: &mut Parts) -> Result<(), Error> {
    let bad = |cursor: &Cursor<'_>| cursor.wrong_text("Unexpected character");
    let colon = cursor.skip_char(':');
    if !colon && !cursor.peek_char().is_some_and(|c| c.is_ascii_digit()) {
        return Ok(());
    }
    parts.time[1] = cursor.read_digits(2, 2).ok_or_else(|| bad(cursor))?.0;
    let second = if colon {
        cursor.skip_char(':')
    } else {
        cursor.peek_char().is_some_and(|c| c.is_ascii_digit())
    };
    if !second {
        return Ok(());
    }
    parts.time[2] = cursor.read_digits(2, 2).ok_or_else(|| bad(cursor))?.0;
    if cursor.skip_char('.') || cursor.skip_char(',') {
        let from = cursor.at;
        let (_, count) = cursor.read_digits(1, 9).ok_or_else(|| bad(cursor))?;
        let fraction = cursor.text.get(from..from + count).unwrap_or_default();
        let padded = format!("{fraction:0<3}");
        parts.time[3] = padded.get(..3).and_then(|text| text.parse().ok()).unwrap_or(0);
    }
    Ok(())
}

/// Parses `Z`, `UTC`, `GMT` or a numeric offset, if one follows. Names of time zones are refused,
/// since they are a separate argument.
fn zone_suffix(cursor: &mut Cursor<'_>, parts: &mut Parts) -> Result<(), Error> {
    let rest = cursor.rest_of_text();
    for name in ["UTC", "GMT", "Z", "z"] {
        if rest.starts_with(name) {
            cursor.at += name.len();
            parts.offset = Some(0);
            parts.zone_text = name.to_owned();
            return Ok(());
        }
    }
    if rest.starts_with(['+', '-']) {
        // `+hh:mm`, `+hhmm`, `+hh`, the longest first, since the shorter forms are prefixes of the
        // longer ones.
        for count in [6, 5, 3] {
            let text = rest.get(..count).unwrap_or_default();
            if let Some(offset) = offset_ms(text) {
                cursor.at += count;
                parts.offset = Some(offset);
                parts.zone_text = text.to_owned();
                return Ok(());
            }
        }
    }
    if rest.starts_with(|c: char| c.is_ascii_alphabetic()) {
        let reason = "passing a time zone identifier as part of the string is not allowed";
        return Err(cursor.wrong_text(reason));
    }
    Ok(())
}

/// Parses a date by a format: `%d.%m.%Y` parses `29.02.2024`. The whole text has to match;
/// literals, including blanks, match exactly.
pub(super) fn by_format(text: &str, format: &str, zone: Option<&Zone>) -> Result<i64, Error> {
    let mut cursor = Cursor { text, at: 0 };
    let mut parts = Parts::default();
    let mut fields = format.chars();
    while let Some(c) = fields.next() {
        if c == '%' {
            let Some(field) = fields.next() else {
                return Err(invalid_request(18535, "Unmatched '%' at end of format string"));
            };
            read_field(&mut cursor, &mut parts, field)?;
        } else if !cursor.skip_char(c) {
            return Err(cursor.wrong_text("Format literal not found"));
        }
    }
    if !cursor.rest_of_text().is_empty() {
        return Err(cursor.wrong_text("Trailing data"));
    }
    parts.into_instant(&cursor, zone)
}

/// Parses one field of a format, such as `%Y`, and stores its value in `parts`. `%z` is an offset
/// in hours and minutes, `%Z` one in minutes.
fn read_field(cursor: &mut Cursor<'_>, parts: &mut Parts, field: char) -> Result<(), Error> {
    let (least, most) = match field {
        'Y' | 'G' => (4, 4),
        'L' => (1, 3),
        'j' => (1, 3),
        'u' => (1, 1),
        'm' | 'd' | 'H' | 'M' | 'S' | 'V' => (1, 2),
        '%' | 'z' | 'Z' | 'b' | 'B' => (0, 0),
        other => {
            let text = format!("Invalid format character '%{other}' in format string");
            return Err(invalid_request(18536, text));
        }
    };
    match field {
        '%' if cursor.skip_char('%') => return Ok(()),
        '%' => return Err(cursor.wrong_text("Format literal not found")),
        'z' => {
            let before = cursor.at;
            zone_suffix(cursor, parts)?;
            let read = cursor.at > before;
            return if read { Ok(()) } else { Err(cursor.wrong_text("No timezone offset found")) };
        }
        'Z' => {
            let negative = cursor.skip_char('-');
            if !negative && !cursor.skip_char('+') {
                return Err(cursor.wrong_text("No timezone offset found"));
            }
            let (minutes, _) = cursor
                .read_digits(1, 4)
                .ok_or_else(|| cursor.wrong_text("No timezone offset found"))?;
            parts.offset = Some(if negative { -minutes } else { minutes } * 60_000);
            return Ok(());
        }
        'b' | 'B' => {
            let month = month_named(cursor.read_word());
            parts.month =
                Some(month.ok_or_else(|| cursor.wrong_text("A textual month could not be found"))?);
            return Ok(());
        }
        _ => {}
    }
    let Some((value, count)) = cursor.read_digits(least, most) else {
        return Err(cursor.wrong_text("A number could not be found"));
    };
    match field {
        'Y' => parts.year = Some(value),
        'm' => parts.month = Some(value),
        'd' => parts.day = Some(value),
        'H' => parts.time[0] = value,
        'M' => parts.time[1] = value,
        'S' => parts.time[2] = value,
        // `.5` is 500 milliseconds.
        'L' => parts.time[3] = value * [100, 10, 1].get(count - 1).copied().unwrap_or(1),
        'j' => parts.day_of_year = Some(value),
        'G' => parts.iso.0 = Some(value),
        'V' => parts.iso.1 = Some(value),
        _ => parts.iso.2 = Some(value),
    }
    Ok(())
}
