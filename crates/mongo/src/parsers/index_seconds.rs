//! The `expireAfterSeconds` of an index specification. For a TTL index on a date field it is
//! coerced as in mongod. For the `_ts` index, which is the collection's default time to live, a
//! wrong number is refused and never coerced: documents would otherwise expire at an unintended
//! time.

use document::{DocRef, Number, Rounding, ValueRef, shell};

use crate::errors::{CannotCreateIndex, Error, Result};

/// Returns the error (67) of an invalid specification. The text has the specification and then the
/// cause, as in mongod.
fn spec_error(spec: DocRef<'_>, cause: &str) -> Error {
    let shown = shell(ValueRef::Document(spec));
    Error::new(CannotCreateIndex, format!(". Index spec: {shown} :: caused by :: {cause}"))
}

/// Returns the error text for an `expireAfterSeconds` that is not a number. It lacks its closing
/// quote, as mongod's does.
fn not_numeric(value: ValueRef<'_>) -> String {
    format!(
        "TTL index 'expireAfterSeconds' option must be numeric, but received a type of '{}",
        value.kind().name()
    )
}

/// Parses `expireAfterSeconds` of the `_ts` index: -1, which means no default, or an integer from 1
/// to the 32-bit maximum.
pub(crate) fn system_seconds(value: ValueRef<'_>, spec: DocRef<'_>) -> Result<i64> {
    let Some(number) = Number::of(value) else { return Err(spec_error(spec, &not_numeric(value))) };
    if number.is_nan() {
        return Err(spec_error(spec, "TTL index 'expireAfterSeconds' option must not be NaN"));
    }
    match number.to_i64_exact() {
        Some(-1) => Ok(-1),
        Some(seconds) if (1..=i64::from(i32::MAX)).contains(&seconds) => Ok(seconds),
        Some(0) => Err(spec_error(
            spec,
            "TTL index 'expireAfterSeconds' option on '_ts' must be -1 or at least 1",
        )),
        Some(seconds) if i64::from(i32::MAX) < seconds => Err(spec_error(
            spec,
            "TTL index 'expireAfterSeconds' must be within the range of a 32-bit integer",
        )),
        Some(_) => {
            Err(spec_error(spec, "TTL index 'expireAfterSeconds' option cannot be less than 0"))
        }
        None if number.to_f64().abs() < f64::from(i32::MAX) => Err(spec_error(
            spec,
            "TTL index 'expireAfterSeconds' option on '_ts' must be a whole number",
        )),
        None => Err(spec_error(
            spec,
            "TTL index 'expireAfterSeconds' must be within the range of a 32-bit integer",
        )),
    }
}

/// Parses `expireAfterSeconds` of a TTL index on a date field: 0 to the 32-bit maximum, fractions
/// truncated. -0.5 becomes 0, and -1 is refused. NaN becomes the maximum, as in MongoDB since
/// 5.0.14: dumps of older servers contain it, and no document may expire because of it.
pub(crate) fn date_seconds(value: ValueRef<'_>, spec: DocRef<'_>) -> Result<i64> {
    let Some(number) = Number::of(value) else { return Err(spec_error(spec, &not_numeric(value))) };
    if number.is_nan() {
        return Ok(i64::from(i32::MAX));
    }
    let seconds = match number {
        Number::Int(seconds) => Some(seconds),
        Number::Double(seconds) if seconds.abs() < 1e15 => Some(seconds.trunc() as i64),
        Number::Double(_) => None,
        Number::Decimal(seconds) => seconds.to_i64(Rounding::Down),
    };
    match seconds {
        Some(seconds) if (0..=i64::from(i32::MAX)).contains(&seconds) => {
            if number.to_f64() <= -1.0 {
                return Err(spec_error(
                    spec,
                    "TTL index 'expireAfterSeconds' option cannot be less than 0",
                ));
            }
            Ok(seconds)
        }
        Some(seconds) if i64::from(i32::MIN) <= seconds && seconds < 0 => {
            Err(spec_error(spec, "TTL index 'expireAfterSeconds' option cannot be less than 0"))
        }
        _ => Err(spec_error(
            spec,
            "TTL index 'expireAfterSeconds' must be within the range of a 32-bit integer",
        )),
    }
}
