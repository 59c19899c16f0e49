//! Parts of dates, and dates made from parts. A date is read in a time zone, by default UTC; a
//! timestamp or an ObjectId counts as a date by its seconds.
//!
//! ```text
//! $year: date                              2024
//! $dayOfWeek: date                         1 (Sunday) to 7
//! $isoWeek: {date, timezone: "+02:00"}     1 to 53
//! $dateToParts: {date}                     {year, month, day, hour, ...}
//! $dateFromParts: {year: 2024, month: 13}  2025-01-01
//! ```

use document::{Document, Number, Value, ValueRef};
use evaluation::{
    Error,
    calendar::{self, DAY_MS, DateParts},
};

use super::{
    super::OptionalValue,
    Arity::{DateOrNamed, Named},
    Call, Function, Param,
    arithmetic::NULL,
    number::need_date,
    optional, required, row,
    zone::Zone,
};
use crate::{invalid_request, shown, type_mismatch};

const PARTS: &[Param] = &[
    optional("year"),
    optional("month"),
    optional("day"),
    optional("isoWeekYear"),
    optional("isoWeek"),
    optional("isoDayOfWeek"),
    optional("hour"),
    optional("minute"),
    optional("second"),
    optional("millisecond"),
    optional("timezone"),
];

pub(super) const FUNCTIONS: &[Function] = &[
    row("$dateFromParts", Named(PARTS), from_parts, "date with the given parts"),
    row(
        "$dateToParts",
        Named(&[required("date"), optional("timezone"), optional("iso8601")]),
        to_parts,
        "parts of a date",
    ),
    row("$dayOfMonth", DateOrNamed, |c| date_part(c, |m, _| m.day), "day of the month"),
    row(
        "$dayOfWeek",
        DateOrNamed,
        |c| date_part(c, |_, d| calendar::iso_weekday(d) % 7 + 1),
        "day of the week; 1 is Sunday",
    ),
    row(
        "$dayOfYear",
        DateOrNamed,
        |c| date_part(c, |_, d| calendar::day_of_year(d)),
        "day of the year",
    ),
    row("$hour", DateOrNamed, |c| date_part(c, |m, _| m.hour), "hour"),
    row(
        "$isoDayOfWeek",
        DateOrNamed,
        |c| date_part(c, |_, d| calendar::iso_weekday(d)),
        "day of the week; 1 is Monday",
    ),
    row("$isoWeek", DateOrNamed, |c| date_part(c, |_, d| calendar::iso_week(d).1), "ISO week"),
    row("$isoWeekYear", DateOrNamed, iso_week_year, "ISO year"),
    row("$millisecond", DateOrNamed, |c| date_part(c, |m, _| m.millisecond), "millisecond"),
    row("$minute", DateOrNamed, |c| date_part(c, |m, _| m.minute), "minute"),
    row("$month", DateOrNamed, |c| date_part(c, |m, _| m.month), "month"),
    row("$second", DateOrNamed, |c| date_part(c, |m, _| m.second), "second"),
    row(
        "$week",
        DateOrNamed,
        |c| date_part(c, |_, d| calendar::week_of_year(d)),
        "week of the year; weeks start on Sunday",
    ),
    row("$year", DateOrNamed, |c| date_part(c, |m, _| m.year), "year"),
];

/// Returns a value as a 32-bit integer if it fits, else as a 64-bit integer.
fn int_value(value: i64) -> Value {
    i32::try_from(value).map_or(Value::Int64(value), Value::Int32)
}

/// Returns the local milliseconds of a date in a zone, given as arguments; `None` if one is null. A
/// wrong zone is an error even if the date is null.
fn local_date(call: &Call<'_>) -> Result<Option<i64>, Error> {
    let zone = Zone::of_argument(call.arg_at(1), call.name)?;
    if call.arg_at(0).is_nullish() {
        return Ok(None);
    }
    let at = need_date(call.value_at(0))?;
    Ok(zone.map(|zone| zone.to_local(at)))
}

/// Applies a function to a date in its zone. `of` is given the parts and the days since 1970, both
/// in local time.
fn date_part(call: &Call<'_>, of: fn(&DateParts, i64) -> i64) -> OptionalValue {
    let Some(at) = local_date(call)? else { return NULL };
    Ok(Some(int_value(of(&DateParts::parts_of(at), at.div_euclid(DAY_MS)))))
}

/// `$isoWeekYear`: the ISO week year, always as a 64-bit integer.
fn iso_week_year(call: &Call<'_>) -> OptionalValue {
    let Some(at) = local_date(call)? else { return NULL };
    Ok(Some(Value::Int64(calendar::iso_week(at.div_euclid(DAY_MS)).0)))
}

/// `$dateToParts`: a document of year, month and so on, or of the ISO week. Null if an argument is
/// null.
fn to_parts(call: &Call<'_>) -> OptionalValue {
    let Some(at) = local_date(call)? else { return NULL };
    let iso = match call.arg_at(2).value() {
        _ if call.arg_at(2).is_absent() => false,
        Some(ValueRef::Bool(iso)) => iso,
        Some(value) if !value.is_nullish() => {
            let kind = value.kind().name();
            return Err(type_mismatch(
                40521,
                format!("iso8601 must evaluate to a bool, found {kind}"),
            ));
        }
        _ => return NULL,
    };
    let (moment, days) = (DateParts::parts_of(at), at.div_euclid(DAY_MS));
    let mut parts = Document::new();
    if iso {
        let (year, week) = calendar::iso_week(days);
        parts.push("isoWeekYear", int_value(year));
        parts.push("isoWeek", int_value(week));
        parts.push("isoDayOfWeek", int_value(calendar::iso_weekday(days)));
    } else {
        parts.push("year", int_value(moment.year));
        parts.push("month", int_value(moment.month));
        parts.push("day", int_value(moment.day));
    }
    parts.push("hour", int_value(moment.hour));
    parts.push("minute", int_value(moment.minute));
    parts.push("second", int_value(moment.second));
    parts.push("millisecond", int_value(moment.millisecond));
    Ok(Some(Value::Document(parts)))
}

/// Maximum of a number of seconds or milliseconds, so that adding up parts cannot overflow.
const MAX_TIME_PART: u64 = 9_100_000_000_000_000;

/// Returns the part of an argument, or its default if it was not given; `None` if it is null. Years
/// must be from 1 to 9999; other parts may be out of range, within limits.
fn given_part(call: &Call<'_>, index: usize, otherwise: i64) -> Result<Option<i64>, Error> {
    let arg = call.arg_at(index);
    if arg.is_absent() {
        return Ok(Some(otherwise));
    }
    if arg.is_nullish() {
        return Ok(None);
    }
    let name = PARTS.get(index).map_or("", |param| param.name);
    let Some(value) = Number::of(arg.operand()).and_then(Number::to_i64_exact) else {
        let (kind, value) = (arg.type_name(), shown(arg.or_null()));
        let text = format!("found {kind} with value {value}");
        return Err(invalid_request(
            40515,
            format!("'{name}' must evaluate to an integer, {text}"),
        ));
    };
    let year = name == "year" || name == "isoWeekYear";
    if year && !(1..=9999).contains(&value) {
        let code = if name == "year" { 40523 } else { 31095 };
        let text = format!("must evaluate to an integer in the range 1 to 9999, found {value}");
        return Err(invalid_request(code, format!("'{name}' {text}")));
    }
    let unbounded = matches!(name, "second" | "millisecond");
    if unbounded && MAX_TIME_PART < value.unsigned_abs() {
        return Err(invalid_request(
            159,
            "Overflow casting from a lower-precision duration to a higher-precision duration",
        ));
    }
    if !unbounded && !(-32768..=32767).contains(&value) {
        let text = "must evaluate to a value in the range [-32768, 32767]; value";
        return Err(invalid_request(31034, format!("'{name}' {text} {value} is not in range")));
    }
    Ok(Some(value))
}

/// `$dateFromParts`: parts out of range carry over. `isoWeekYear` selects the kind of date; parts
/// of the other kind are ignored. Null if a part that is used is null.
fn from_parts(call: &Call<'_>) -> OptionalValue {
    let Some(zone) = Zone::of_argument(call.arg_at(10), call.name)? else { return NULL };
    let mut parts = [0; 10];
    let iso = !call.arg_at(3).is_absent();
    for (index, part) in parts.iter_mut().enumerate() {
        // Years, months and days are the first three arguments, the ISO ones the next three.
        let used = if iso { !(0..3).contains(&index) } else { !(3..6).contains(&index) };
        if used {
            // Years, months, weeks and days start with 1, parts of the time with 0.
            let Some(value) = given_part(call, index, i64::from(index < 6))? else { return NULL };
            *part = value;
        }
    }
    let [mut year, mut month, mut day, iso_year, week, weekday, hour, minute, second, millisecond] =
        parts;
    if iso {
        // Weeks and days beyond the year carry over by adding days.
        let monday = calendar::iso_year_start(iso_year).unwrap_or(0);
        (year, month, day) = calendar::date_of_days(monday + (week - 1) * 7 + weekday - 1);
    }
    let moment = DateParts { year, month, day, hour, minute, second, millisecond };
    match moment.to_ms() {
        Some(local) => Ok(Some(Value::DateTime(zone.to_instant(local)))),
        None => {
            Err(invalid_request(31034, "the date that $dateFromParts describes is out of range"))
        }
    }
}
