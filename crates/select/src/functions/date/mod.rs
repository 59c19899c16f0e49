//! Date functions. Dates are strings in ISO 8601; the current time is the operation's instant, the
//! same for every row. Instants are ticks of 100 nanoseconds since 1970.

mod format;
mod part;
mod text;

use document::Value;
use evaluation::{Error, Evaluated};
use part::DatePart;
use text::{Parts, TICKS_PER_MS};

use super::{Call, Function, UNDEFINED, row};
use crate::number::{integer_value, number_or_nothing};

pub(super) use text::parse_iso;

pub(super) const FUNCTIONS: &[Function] = &[
    row("AGO", 2..=2, ago),
    row("DATETIMEADD", 3..=3, add_to_instant),
    row("DATETIMEBIN", 2..=4, bin_of_instant),
    row("DATETIMEDIFF", 3..=3, difference),
    row("DATETIMEFORMAT", 2..=2, format),
    row("DATETIMEFROMPARTS", 3..=7, from_parts),
    row("DATETIMEPART", 2..=2, part),
    row("DATETIMETOTICKS", 1..=1, |call| of_instant(call, |ticks| ticks)),
    row("DATETIMETOTIMESTAMP", 1..=1, |call| {
        of_instant(call, |ticks| ticks.div_euclid(TICKS_PER_MS))
    }),
    row("DAY", 1..=1, |call| of_instant(call, |ticks| DatePart::Day.value_in(ticks))),
    row("GETCURRENTDATETIME", 0..=0, now),
    row("GETCURRENTDATETIMESTATIC", 0..=0, now),
    row("GETCURRENTTICKS", 0..=0, now_ticks),
    row("GETCURRENTTICKSSTATIC", 0..=0, now_ticks),
    row("GETCURRENTTIMESTAMP", 0..=0, now_ms),
    row("GETCURRENTTIMESTAMPSTATIC", 0..=0, now_ms),
    row("MONTH", 1..=1, |call| of_instant(call, |ticks| DatePart::Month.value_in(ticks))),
    row("NOW", 0..=2, now),
    row("TICKSTODATETIME", 1..=1, |call| Ok(written(call.integer_at(0)))),
    row("TIMESTAMPTODATETIME", 1..=1, |call| {
        Ok(written(call.integer_at(0).and_then(|ms| ms.checked_mul(TICKS_PER_MS))))
    }),
    row("YEAR", 1..=1, |call| of_instant(call, |ticks| DatePart::Year.value_in(ticks))),
];

/// Earliest origin that DATETIMEBIN accepts: the start of 1601, in ticks since 1970. Without an
/// explicit origin, bins start at 1970.
const FIRST_ORIGIN: i64 = -116_444_736_000_000_000;

/// Returns the instant of a date argument; `None` if it is not a date.
fn instant_at(call: &Call<'_, '_>, at: usize) -> Option<i64> {
    call.text_at(at).and_then(parse_iso)
}

/// Returns the date part, such as `year`, that an argument names.
fn part_named(call: &Call<'_, '_>, at: usize) -> Option<DatePart> {
    call.text_at(at).and_then(DatePart::find_by_name)
}

/// Formats an instant; undefined for years outside 1 to 9999, which have no text.
fn written(ticks: Option<i64>) -> Evaluated<'static> {
    ticks
        .and_then(text::format_iso)
        .map_or(Evaluated::Missing, |text| Evaluated::Owned(Value::String(text)))
}

/// Applies a function to the first argument, an instant in ticks.
fn of_instant<'a>(call: &Call<'_, 'a>, function: fn(i64) -> i64) -> Result<Evaluated<'a>, Error> {
    Ok(instant_at(call, 0).map_or(Evaluated::Missing, |ticks| integer_value(function(ticks))))
}

/// Returns the operation's instant in ticks.
fn present(call: &Call<'_, '_>) -> Option<i64> {
    call.context.now_ms.checked_mul(TICKS_PER_MS)
}

/// Returns the operation's instant in milliseconds, the same in all calls of a query.
fn now_ms<'a>(call: &Call<'_, 'a>) -> Result<Evaluated<'a>, Error> {
    Ok(integer_value(call.context.now_ms))
}

fn now_ticks<'a>(call: &Call<'_, 'a>) -> Result<Evaluated<'a>, Error> {
    Ok(present(call).map_or(Evaluated::Missing, integer_value))
}

/// `NOW()`, or `NOW(part, count)`: the current time plus a number of date parts.
fn now<'a>(call: &Call<'_, 'a>) -> Result<Evaluated<'a>, Error> {
    if call.args.is_empty() {
        return Ok(written(present(call)));
    }
    let later = || part_named(call, 0)?.add_count(present(call)?, call.integer_at(1)?);
    Ok(written(later()))
}

/// `AGO("day", 2)`: the current time minus a number of date parts.
fn ago<'a>(call: &Call<'_, 'a>) -> Result<Evaluated<'a>, Error> {
    let earlier =
        || part_named(call, 0)?.add_count(present(call)?, call.integer_at(1)?.checked_neg()?);
    Ok(written(earlier()))
}

/// `DATETIMEADD("month", 1, date)` adds a number of date parts to a date.
fn add_to_instant<'a>(call: &Call<'_, 'a>) -> Result<Evaluated<'a>, Error> {
    let later = || part_named(call, 0)?.add_count(instant_at(call, 2)?, call.integer_at(1)?);
    Ok(written(later()))
}

/// `DATETIMEDIFF("day", start, end)`: the number of part boundaries between two dates, negative if
/// the end is earlier. From 23:59 to 00:01 is one day.
fn difference<'a>(call: &Call<'_, 'a>) -> Result<Evaluated<'a>, Error> {
    let (Some(part), Some(start), Some(end)) =
        (part_named(call, 0), instant_at(call, 1), instant_at(call, 2))
    else {
        return UNDEFINED;
    };
    let between = part.count_between(start, end);
    Ok(i64::try_from(between).map_or_else(|_| number_or_nothing(between as f64), integer_value))
}

/// Returns one part of a date as a number. This is the only function that accepts a date with an
/// offset from UTC, which is converted to UTC first.
fn part<'a>(call: &Call<'_, 'a>) -> Result<Evaluated<'a>, Error> {
    let instant = call.text_at(1).and_then(text::parse_with_offset);
    let (Some(part), Some(ticks)) = (part_named(call, 0), instant) else {
        return UNDEFINED;
    };
    Ok(integer_value(part.value_in(ticks)))
}

/// Formats a date by a pattern.
fn format<'a>(call: &Call<'_, 'a>) -> Result<Evaluated<'a>, Error> {
    let (Some(ticks), Some(pattern)) = (instant_at(call, 0), call.text_at(1)) else {
        return UNDEFINED;
    };
    call.new_growth().add_size(format::largest_text(pattern))?;
    let text = format::format_instant(ticks, pattern);
    Ok(text.map_or(Evaluated::Missing, |text| Evaluated::Owned(Value::String(text))))
}

/// `DATETIMEBIN(date, "hour", 6)`: the start of the bin that contains a date.
fn bin_of_instant<'a>(call: &Call<'_, 'a>) -> Result<Evaluated<'a>, Error> {
    let begin = || {
        let size = call.integer_or(2, 1).filter(|size| 0 < *size)?;
        let origin = if call.is_given(3) { instant_at(call, 3)? } else { 0 };
        if origin < FIRST_ORIGIN {
            return None;
        }
        part_named(call, 1)?.start_of_bin(instant_at(call, 0)?, size, origin)
    };
    Ok(written(begin()))
}

/// `DATETIMEFROMPARTS(year, month, day, ...)`; undefined if a part is out of range.
fn from_parts<'a>(call: &Call<'_, 'a>) -> Result<Evaluated<'a>, Error> {
    let ticks = || {
        Parts {
            year: call.integer_at(0)?,
            month: call.integer_at(1)?,
            day: call.integer_at(2)?,
            hour: call.integer_or(3, 0)?,
            minute: call.integer_or(4, 0)?,
            second: call.integer_or(5, 0)?,
            fraction: call.integer_or(6, 0)?,
        }
        .to_ticks()
    };
    Ok(written(ticks()))
}

#[cfg(test)]
mod tests;
