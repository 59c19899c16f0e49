//! Dates as text and text as dates, by format.
//!
//! ```text
//! %Y year      %m month     %d day       %H hour     %M minute    %S second    %L millisecond
//! %j day of the year        %u, %w day of the week   %G, %V ISO year and week  %U week
//! %z offset    %Z offset in minutes      %B, %b name of the month              %% a percent sign
//! ```

use std::fmt::Write;

use document::{Value, ValueRef};
use evaluation::{
    Error,
    calendar::{self, DAY_MS, DateParts, MONTHS},
};

use super::{
    super::OptionalValue, Arity::Named, Call, Function, arithmetic::NULL, date_parse,
    number::need_date, optional, required, row, zone::Zone,
};
use crate::{invalid_request, shown, type_mismatch};

pub(super) const FUNCTIONS: &[Function] = &[
    row(
        "$dateFromString",
        Named(&[
            required("dateString"),
            optional("format"),
            optional("timezone"),
            optional("onError"),
            optional("onNull"),
        ]),
        from_string,
        "date parsed from text",
    ),
    row(
        "$dateToString",
        Named(&[required("date"), optional("format"), optional("timezone"), optional("onNull")]),
        to_string,
        "text of a date",
    ),
];

/// Returns the format argument; `None` if it is null. `code` is the error number for other types
/// than strings.
fn format_arg<'a>(call: &Call<'a>, code: i32) -> Result<Option<&'a str>, Error> {
    match call.value_at(1) {
        value if value.is_nullish() => Ok(None),
        ValueRef::String(format) => Ok(Some(format)),
        value => {
            let (name, kind, value) = (call.name, value.kind().name(), shown(value));
            let text = format!("be a string, found: {kind} with value {value}");
            Err(type_mismatch(code, format!("{name} requires that 'format' {text}")))
        }
    }
}

/// `$dateToString`: formats a date, by default in ISO 8601. `onNull` replaces a date that is null
/// or missing; a null format or zone makes the result null.
fn to_string(call: &Call<'_>) -> OptionalValue {
    let format = match call.arg_at(1).is_absent() {
        true => Some("%Y-%m-%dT%H:%M:%S.%LZ"),
        false => format_arg(call, 18533)?,
    };
    let zone = Zone::of_argument(call.arg_at(2), call.name)?;
    if call.arg_at(0).is_nullish() {
        let otherwise = call.arg_at(3);
        return if otherwise.is_absent() { NULL } else { Ok(otherwise.value().map(Into::into)) };
    }
    let at = need_date(call.value_at(0))?;
    let (Some(format), Some(zone)) = (format, zone) else { return NULL };
    let offset = zone.offset_at(at);
    written_date(at.saturating_add(offset), offset, format).map(|text| Some(Value::String(text)))
}

/// Formats a date by a format such as `%Y-%m-%d`. `local` is the date in its zone and `offset` the
/// zone's offset from UTC, both in milliseconds. Invalid fields and a `%` at the end are errors.
fn written_date(local: i64, offset: i64, format: &str) -> Result<String, Error> {
    let (at, days) = (DateParts::parts_of(local), local.div_euclid(DAY_MS));
    if !(0..=9999).contains(&at.year) {
        let text = "$dateToString is only defined on year 0-9999, tried to use year";
        return Err(invalid_request(18537, format!("{text} {}", at.year)));
    }
    // Months count from 1, the names from 0.
    let month = usize::try_from(at.month - 1).unwrap_or(0);
    let month = MONTHS.get(month).copied().unwrap_or_default();
    let mut out = String::new();
    let mut rest = format.chars();
    while let Some(c) = rest.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let Some(field) = rest.next() else {
            return Err(invalid_request(18535, "Unmatched '%' at end of format string"));
        };
        let minutes = offset / 60_000;
        let sign = if minutes < 0 { '-' } else { '+' };
        // Writing to a string cannot fail.
        let _ = match field {
            '%' => write!(out, "%"),
            'Y' => write!(out, "{:04}", at.year),
            'm' => write!(out, "{:02}", at.month),
            'd' => write!(out, "{:02}", at.day),
            'H' => write!(out, "{:02}", at.hour),
            'M' => write!(out, "{:02}", at.minute),
            'S' => write!(out, "{:02}", at.second),
            'L' => write!(out, "{:03}", at.millisecond),
            'j' => write!(out, "{:03}", calendar::day_of_year(days)),
            'w' => write!(out, "{}", calendar::iso_weekday(days) % 7 + 1),
            'u' => write!(out, "{}", calendar::iso_weekday(days)),
            'U' => write!(out, "{:02}", calendar::week_of_year(days)),
            'V' => write!(out, "{:02}", calendar::iso_week(days).1),
            'G' => write!(out, "{:04}", calendar::iso_week(days).0),
            'z' => write!(out, "{sign}{:02}{:02}", minutes.abs() / 60, minutes.abs() % 60),
            'Z' => write!(out, "{minutes}"),
            'B' => write!(out, "{month}"),
            'b' => write!(out, "{}", month.get(..3).unwrap_or(month)),
            other => {
                let text = format!("Invalid format character '%{other}' in format string");
                return Err(invalid_request(18536, text));
            }
        };
    }
    Ok(out)
}

/// `$dateFromString`: parses a date, by a format or freely. `onError` replaces text that is not a
/// date, `onNull` a date that is null or missing. A null format or zone makes the result null.
fn from_string(call: &Call<'_>) -> OptionalValue {
    let format = match call.arg_at(1).is_absent() {
        true => None,
        false => match format_arg(call, 40684)? {
            Some(format) => Some(format),
            // `onNull` takes precedence over a null format.
            None if call.arg_at(0).is_nullish() => None,
            None => return NULL,
        },
    };
    let input = call.arg_at(0);
    if input.is_nullish() {
        let otherwise = call.arg_at(4);
        return if otherwise.is_absent() { NULL } else { Ok(otherwise.value().map(Into::into)) };
    }
    let zone = match call.arg_at(2).is_absent() {
        true => None,
        false => match Zone::of_argument(call.arg_at(2), call.name)? {
            Some(zone) => Some(zone),
            None => return NULL,
        },
    };
    let read = match (input.operand(), format) {
        (ValueRef::String(text), Some(format)) => {
            date_parse::by_format(text, format, zone.as_ref())
        }
        (ValueRef::String(text), None) => date_parse::parse_free(text, zone.as_ref()),
        (value, _) => {
            let (kind, value) = (value.kind().name(), shown(value));
            let text = format!("be a string, found: {kind} with value {value}");
            Err(invalid_request(241, format!("$dateFromString requires that 'dateString' {text}")))
        }
    };
    match read {
        // Errors of a wrong format or zone have other codes and are not replaced by `onError`.
        Err(error) if error.number == 241 && !call.arg_at(3).is_absent() => {
            Ok(call.arg_at(3).value().map(Into::into))
        }
        read => read.map(|at| Some(Value::DateTime(at))),
    }
}

/// Returns the number of a month by its name or a prefix of at least three letters, in upper or
/// lower case.
pub(super) fn month_named(text: &str) -> Option<i64> {
    let wanted = text.to_ascii_lowercase();
    let fits = |month: &str| wanted.len() >= 3 && month.to_ascii_lowercase().starts_with(&wanted);
    i64::try_from(MONTHS.iter().position(|month| fits(month))? + 1).ok()
}
