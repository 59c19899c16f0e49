//! Adding, subtracting and truncating dates by calendar units.
//!
//! ```text
//! $dateAdd: {startDate: Jan 31, unit: "month", amount: 1}        Feb 29 (or 28)
//! $dateDiff: {startDate: 23:59, endDate: 00:01, unit: "day"}     1
//! $dateTrunc: {date: 13:47, unit: "hour", binSize: 6}            12:00
//! ```
//!
//! Days and longer units are in the local time of a time zone, so that a day may have 23 or 25
//! hours; hours and shorter ones are elapsed time.

use document::{Number, Value, ValueRef};
use evaluation::{
    Error, Evaluated,
    calendar::{DAY_MS, DateParts, date_of_days, days_in_month, days_of_date, iso_weekday},
};

use super::{
    super::OptionalValue, Arity::Named, Call, Function, Param, arithmetic::NULL, number::date_of,
    optional, required, row, zone::Zone,
};
use crate::{invalid_request, shown, type_mismatch};

/// The arguments of `$dateAdd` and `$dateSubtract`.
const ADD: &[Param] =
    &[required("startDate"), required("unit"), required("amount"), optional("timezone")];

pub(super) const FUNCTIONS: &[Function] = &[
    row("$dateAdd", Named(ADD), |c| add_date(c, 1), "date plus an amount of a time unit"),
    row(
        "$dateDiff",
        Named(&[
            required("startDate"),
            required("endDate"),
            required("unit"),
            optional("timezone"),
            optional("startOfWeek"),
        ]),
        date_diff,
        "number of unit boundaries between two dates",
    ),
    row("$dateSubtract", Named(ADD), |c| add_date(c, -1), "date minus an amount of a time unit"),
    row(
        "$dateTrunc",
        Named(&[
            required("date"),
            required("unit"),
            optional("binSize"),
            optional("timezone"),
            optional("startOfWeek"),
        ]),
        date_trunc,
        "start of the time unit that contains a date",
    ),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    Months(i64),
    /// A week. Weeks and days are in local time, in which a day may have 23 or 25 hours.
    Week,
    Day,
    /// A fixed number of milliseconds.
    Fixed(i64),
}

fn unit_named(name: &str) -> Option<Unit> {
    Some(match name {
        "year" => Unit::Months(12),
        "quarter" => Unit::Months(3),
        "month" => Unit::Months(1),
        "week" => Unit::Week,
        "day" => Unit::Day,
        "hour" => Unit::Fixed(3_600_000),
        "minute" => Unit::Fixed(60_000),
        "second" => Unit::Fixed(1000),
        "millisecond" => Unit::Fixed(1),
        _ => return None,
    })
}

/// `$dateAdd` or `$dateSubtract`. Null if an argument is null or missing. The amount must be an
/// integer.
fn add_date(call: &Call<'_>, sign: i64) -> OptionalValue {
    let zone = Zone::of_argument(call.arg_at(3), call.name)?;
    let (Some(zone), false) = (zone, call.args.iter().take(3).any(Evaluated::is_nullish)) else {
        return NULL;
    };
    let name = call.name;
    let at = date_of(call.value_at(0)).ok_or_else(|| {
        type_mismatch(5_166_403, format!("{name} requires startDate to be convertible to a date"))
    })?;
    let ValueRef::String(unit_name) = call.value_at(1) else {
        return Err(type_mismatch(
            5_166_404,
            format!("{name} expects string defining the time unit"),
        ));
    };
    let unit = unit_named(unit_name)
        .ok_or_else(|| invalid_request(9, format!("unknown time unit value: {unit_name}")))?;
    let amount = Number::of(call.value_at(2)).and_then(Number::to_i64_exact).ok_or_else(|| {
        type_mismatch(5_166_405, format!("{name} expects integer amount of time units"))
    })?;
    let moved = amount.checked_mul(sign).and_then(|amount| shifted_by(at, unit, amount, &zone));
    moved.map(|at| Some(Value::DateTime(at))).ok_or_else(|| {
        let text = format!("invalid dateAdd 'amount' parameter value: {amount} {unit_name}");
        invalid_request(5_976_500, text)
    })
}

/// Adds units to an instant. Months and days are added in local time, so that the time of day is
/// kept; a day that the month lacks becomes its last one. Hours and shorter units are elapsed time.
/// `None` if the result is out of range.
fn shifted_by(at: i64, unit: Unit, amount: i64, zone: &Zone) -> Option<i64> {
    let days = match unit {
        Unit::Fixed(ms) => return at.checked_add(amount.checked_mul(ms)?),
        Unit::Months(months) => {
            let local = zone.to_local(at);
            let moment = DateParts::parts_of(local);
            let total = moment.year.checked_mul(12)?.checked_add(moment.month - 1)?;
            let total = total.checked_add(amount.checked_mul(months)?)?;
            let (year, month) = (total.div_euclid(12), total.rem_euclid(12) + 1);
            // One month after January 31 is the last day of February.
            let day = moment.day.min(days_in_month(year, month));
            let days = days_of_date(year, month, day)?.checked_mul(DAY_MS)?;
            return Some(zone.to_instant(days.checked_add(local.rem_euclid(DAY_MS))?));
        }
        Unit::Week => amount.checked_mul(7)?,
        Unit::Day => amount,
    };
    Some(zone.to_instant(zone.to_local(at).checked_add(days.checked_mul(DAY_MS)?)?))
}

/// Returns the first day of the week, Monday 1 to Sunday 7, by default Sunday; `None` if it is
/// null. Names may be abbreviated to three letters, in upper or lower case.
fn week_start(call: &Call<'_>, index: usize) -> Result<Option<i64>, Error> {
    let arg = call.arg_at(index);
    if arg.is_absent() {
        return Ok(Some(7));
    }
    if arg.is_nullish() {
        return Ok(None);
    }
    let ValueRef::String(text) = arg.operand() else {
        let (name, kind) = (call.name, arg.type_name());
        let text = format!("{name} requires 'startOfWeek' to be a string, but got {kind}");
        return Err(type_mismatch(5_439_015, text));
    };
    let days = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
    let wanted = text.to_ascii_lowercase();
    let position = days
        .iter()
        .position(|day| *day == wanted || (wanted.len() == 3 && day.starts_with(&wanted)));
    position.and_then(|at| i64::try_from(at + 1).ok()).map(Some).ok_or_else(|| {
        let name = call.name;
        let rest = format!("value cannot be recognized as a day of a week: {text}");
        invalid_request(5_439_016, format!("{name} parameter 'startOfWeek' {rest}"))
    })
}

/// Returns the unit that an argument specifies.
fn unit_of(call: &Call<'_>, index: usize) -> Result<Unit, Error> {
    let name = call.name;
    let ValueRef::String(text) = call.value_at(index) else {
        let kind = call.arg_at(index).type_name();
        let text = format!("{name} requires 'unit' to be a string, but got {kind}");
        return Err(type_mismatch(5_439_013, text));
    };
    unit_named(text).ok_or_else(|| {
        let rest = format!("value cannot be recognized as a time unit: {text}");
        invalid_request(5_439_014, format!("{name} parameter 'unit' {rest}"))
    })
}

/// Returns a date argument; the error for another type names the argument.
fn date_arg(call: &Call<'_>, index: usize, what: &str, code: i32) -> Result<i64, Error> {
    date_of(call.value_at(index)).ok_or_else(|| {
        let (name, kind) = (call.name, call.arg_at(index).type_name());
        type_mismatch(code, format!("{name} requires '{what}' to be a date, but got {kind}"))
    })
}

/// `$dateDiff`: the number of unit boundaries between two dates in local time, negative if the end
/// is earlier. From December 31 to January 1 is one year, one month and one day. Hours and shorter
/// units use the zone's offset at the start, so that a change of the offset in between adds no
/// hour.
fn date_diff(call: &Call<'_>) -> OptionalValue {
    if call.args.iter().take(3).any(Evaluated::is_nullish) {
        return NULL;
    }
    let Some(zone) = Zone::of_argument(call.arg_at(3), call.name)? else { return NULL };
    let unit = unit_of(call, 2)?;
    let week = if unit == Unit::Week { week_start(call, 4)? } else { Some(7) };
    let Some(week) = week else { return NULL };
    let start = date_arg(call, 0, "startDate", 5_166_307)?;
    let end = date_arg(call, 1, "endDate", 5_166_307)?;
    let (from, to) = (zone.to_local(start), zone.to_local(end));
    let count = match unit {
        Unit::Months(months) => {
            months_since(to).div_euclid(months) - months_since(from).div_euclid(months)
        }
        Unit::Week => {
            // Returns the first day of the week that contains a day.
            let first = |days: i64| days - (iso_weekday(days) - week).rem_euclid(7);
            (first(to.div_euclid(DAY_MS)) - first(from.div_euclid(DAY_MS))) / 7
        }
        Unit::Day => to.div_euclid(DAY_MS) - from.div_euclid(DAY_MS),
        Unit::Fixed(ms) => {
            let offset = zone.offset_at(start);
            let units = |at: i64| at.saturating_add(offset).div_euclid(ms);
            units(end)
                .checked_sub(units(start))
                .ok_or_else(|| invalid_request(5_166_308, "$dateDiff overflowed"))?
        }
    };
    Ok(Some(Value::Int64(count)))
}

/// Returns the number of months from year 0 to a local time in milliseconds, rounded down.
fn months_since(local: i64) -> i64 {
    let (year, month, _) = date_of_days(local.div_euclid(DAY_MS));
    year * 12 + month - 1
}

/// Returns the number of units per bin, by default 1; `None` if it is null. Must be an integer
/// above 0.
fn bin_size(call: &Call<'_>) -> Result<Option<i64>, Error> {
    let arg = call.arg_at(2);
    if arg.is_absent() {
        return Ok(Some(1));
    }
    if arg.is_nullish() {
        return Ok(None);
    }
    let whole = Number::of(arg.operand()).and_then(Number::to_i64_exact).ok_or_else(|| {
        let (value, kind) = (shown(arg.or_null()), arg.type_name());
        let text = "$dateTrunc requires 'binSize' to be a 64-bit integer, but got value";
        type_mismatch(5_439_017, format!("{text} '{value}' of type {kind}"))
    })?;
    if whole <= 0 {
        let text = "$dateTrunc requires 'binSize' to be greater than 0, but got value";
        return Err(invalid_request(5_439_018, format!("{text} {whole}")));
    }
    Ok(Some(whole))
}

/// 2000-01-01, the origin of bins.
const REFERENCE_DAYS: i64 = 10_957;

/// `$dateTrunc`: the start of the bin that contains a date; bins are counted from 2000-01-01. Null
/// if an argument is null or missing. The start of the week matters for weeks only.
fn date_trunc(call: &Call<'_>) -> OptionalValue {
    if call.arg_at(0).is_nullish() || call.arg_at(1).is_nullish() {
        return NULL;
    }
    let (Some(size), Some(zone)) = (bin_size(call)?, Zone::of_argument(call.arg_at(3), call.name)?)
    else {
        return NULL;
    };
    let unit = unit_of(call, 1)?;
    let week = if unit == Unit::Week { week_start(call, 4)? } else { Some(7) };
    let Some(week) = week else { return NULL };
    let at = date_arg(call, 0, "date", 5_439_012)?;
    let start = match unit {
        // Hours and shorter units are elapsed time, independent of changes of the offset.
        Unit::Fixed(ms) => ms
            .checked_mul(size)
            .and_then(|step| floor_to(at, zone.to_instant(REFERENCE_DAYS * DAY_MS), step)),
        _ => truncate_to(zone.to_local(at), unit, size, week).map(|start| zone.to_instant(start)),
    };
    let Some(start) = start else {
        return Err(invalid_request(5_439_005, "$dateTrunc's 'binSize' is out of range"));
    };
    Ok(Some(Value::DateTime(start)))
}

/// Returns the start of the interval that contains a value. Intervals have the length `step` and
/// extend from `origin` in both directions. `None` if the start is out of range.
fn floor_to(value: i64, origin: i64, step: i64) -> Option<i64> {
    let bins = value.checked_sub(origin)?.div_euclid(step);
    origin.checked_add(bins.checked_mul(step)?)
}

/// Returns the start of the bin that contains a local time. Bins are counted from 2000-01-01:
/// months by the calendar, weeks from the first start of a week on or after that date, days and
/// shorter units by their length.
fn truncate_to(local: i64, unit: Unit, size: i64, week: i64) -> Option<i64> {
    let days = local.div_euclid(DAY_MS);
    match unit {
        Unit::Months(months) => {
            // The year 2000 starts after 24,000 months.
            let start = floor_to(months_since(local), 24_000, months.checked_mul(size)?)?;
            days_of_date(start.div_euclid(12), start.rem_euclid(12) + 1, 1)?.checked_mul(DAY_MS)
        }
        Unit::Week => {
            // The first start of a week on or after the reference date.
            let origin = REFERENCE_DAYS + (week - iso_weekday(REFERENCE_DAYS)).rem_euclid(7);
            floor_to(days, origin, size.checked_mul(7)?)?.checked_mul(DAY_MS)
        }
        Unit::Day => floor_to(days, REFERENCE_DAYS, size)?.checked_mul(DAY_MS),
        Unit::Fixed(ms) => floor_to(local, REFERENCE_DAYS * DAY_MS, ms.checked_mul(size)?),
    }
}
