//! Functions of dates. A date is a text; the present is the operation's instant.

mod format;
mod part;
mod text;

use document::Value;
use evaluation::{Error, Evaluated};

use super::{Call, Function, UNDEFINED, row};
use crate::number::{integer, number};
use part::Part;
use text::{Parts, TICKS_PER_MS};

pub(super) use text::parse;

pub(super) const FUNCTIONS: &[Function] = &[
    row("AGO", 2..=2, ago),
    row("DATETIMEADD", 3..=3, add),
    row("DATETIMEBIN", 2..=4, bin),
    row("DATETIMEDIFF", 3..=3, diff),
    row("DATETIMEFORMAT", 2..=2, format),
    row("DATETIMEFROMPARTS", 3..=7, from_parts),
    row("DATETIMEPART", 2..=2, part),
    row("DATETIMETOTICKS", 1..=1, |call| of_instant(call, |ticks| ticks)),
    row("DATETIMETOTIMESTAMP", 1..=1, |call| {
        of_instant(call, |ticks| ticks.div_euclid(TICKS_PER_MS))
    }),
    row("DAY", 1..=1, |call| of_instant(call, |ticks| Part::Day.of(ticks))),
    row("GETCURRENTDATETIME", 0..=0, now),
    row("GETCURRENTDATETIMESTATIC", 0..=0, now),
    row("GETCURRENTTICKS", 0..=0, now_ticks),
    row("GETCURRENTTICKSSTATIC", 0..=0, now_ticks),
    row("GETCURRENTTIMESTAMP", 0..=0, now_ms),
    row("GETCURRENTTIMESTAMPSTATIC", 0..=0, now_ms),
    row("MONTH", 1..=1, |call| of_instant(call, |ticks| Part::Month.of(ticks))),
    row("NOW", 0..=2, now),
    row("TICKSTODATETIME", 1..=1, |call| Ok(written(call.integer(0)))),
    row("TIMESTAMPTODATETIME", 1..=1, |call| {
        Ok(written(call.integer(0).and_then(|ms| ms.checked_mul(TICKS_PER_MS))))
    }),
    row("YEAR", 1..=1, |call| of_instant(call, |ticks| Part::Year.of(ticks))),
];

/// Bins begin at 1970 unless another origin is given, which may not lie before this instant.
const FIRST_ORIGIN: i64 = -116_444_736_000_000_000;

/// The instant of an argument.
fn instant(call: &Call<'_, '_>, at: usize) -> Option<i64> {
    call.text(at).and_then(parse)
}

/// The part that an argument names.
fn named(call: &Call<'_, '_>, at: usize) -> Option<Part> {
    call.text(at).and_then(Part::named)
}

/// The text of an instant, undefined where it has none.
fn written(ticks: Option<i64>) -> Evaluated<'static> {
    ticks
        .and_then(text::write)
        .map_or(Evaluated::Missing, |text| Evaluated::Own(Value::String(text)))
}

/// A number that an instant has.
fn of_instant<'a>(call: &Call<'_, 'a>, function: fn(i64) -> i64) -> Result<Evaluated<'a>, Error> {
    Ok(instant(call, 0).map_or(Evaluated::Missing, |ticks| integer(function(ticks))))
}

/// The present in ticks.
fn present(call: &Call<'_, '_>) -> Option<i64> {
    call.context.now_ms.checked_mul(TICKS_PER_MS)
}

fn now_ms<'a>(call: &Call<'_, 'a>) -> Result<Evaluated<'a>, Error> {
    Ok(integer(call.context.now_ms))
}

fn now_ticks<'a>(call: &Call<'_, 'a>) -> Result<Evaluated<'a>, Error> {
    Ok(present(call).map_or(Evaluated::Missing, integer))
}

/// The present, or later by so many of a part.
fn now<'a>(call: &Call<'_, 'a>) -> Result<Evaluated<'a>, Error> {
    if call.args.is_empty() {
        return Ok(written(present(call)));
    }
    let later = || named(call, 0)?.add(present(call)?, call.integer(1)?);
    Ok(written(later()))
}

/// Earlier than the present by so many of a part.
fn ago<'a>(call: &Call<'_, 'a>) -> Result<Evaluated<'a>, Error> {
    let earlier = || named(call, 0)?.add(present(call)?, call.integer(1)?.checked_neg()?);
    Ok(written(earlier()))
}

fn add<'a>(call: &Call<'_, 'a>) -> Result<Evaluated<'a>, Error> {
    let later = || named(call, 0)?.add(instant(call, 2)?, call.integer(1)?);
    Ok(written(later()))
}

fn diff<'a>(call: &Call<'_, 'a>) -> Result<Evaluated<'a>, Error> {
    let (Some(part), Some(start), Some(end)) = (named(call, 0), instant(call, 1), instant(call, 2))
    else {
        return UNDEFINED;
    };
    let between = part.between(start, end);
    Ok(i64::try_from(between).map_or_else(|_| number(between as f64), integer))
}

fn part<'a>(call: &Call<'_, 'a>) -> Result<Evaluated<'a>, Error> {
    let (Some(part), Some(ticks)) = (named(call, 0), instant(call, 1)) else { return UNDEFINED };
    Ok(integer(part.of(ticks)))
}

fn format<'a>(call: &Call<'_, 'a>) -> Result<Evaluated<'a>, Error> {
    let (Some(ticks), Some(pattern)) = (instant(call, 0), call.text(1)) else { return UNDEFINED };
    call.growth().add(format::largest(pattern))?;
    let text = format::format(ticks, pattern);
    Ok(text.map_or(Evaluated::Missing, |text| Evaluated::Own(Value::String(text))))
}

fn bin<'a>(call: &Call<'_, 'a>) -> Result<Evaluated<'a>, Error> {
    let begin = || {
        let size = call.integer_or(2, 1).filter(|size| 0 < *size)?;
        let origin = if call.is_given(3) { instant(call, 3)? } else { 0 };
        if origin < FIRST_ORIGIN {
            return None;
        }
        named(call, 1)?.bin(instant(call, 0)?, size, origin)
    };
    Ok(written(begin()))
}

fn from_parts<'a>(call: &Call<'_, 'a>) -> Result<Evaluated<'a>, Error> {
    let ticks = || {
        Parts {
            year: call.integer(0)?,
            month: call.integer(1)?,
            day: call.integer(2)?,
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
