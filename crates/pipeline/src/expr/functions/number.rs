//! Conversion of arguments to numbers, and of numbers to results of the right type. A result is an
//! `int` only if it fits and all operands are of this type.

use document::{Decimal128, Number, Value, ValueRef};
use evaluation::Error;

use crate::invalid_request;

/// Returns the value of a number; integers are `int` if they fit and `narrow` is set.
pub(crate) fn number_value(number: Number, narrow: bool) -> Value {
    match number {
        Number::Int(v) => match i32::try_from(v) {
            Ok(small) if narrow => Value::Int32(small),
            _ => Value::Int64(v),
        },
        Number::Double(v) => Value::Double(v),
        Number::Decimal(v) => Value::Decimal128(v),
    }
}

/// Converts a number to a decimal; a double gets 15 digits, including trailing zeros.
pub(crate) fn to_decimal(number: Number) -> Decimal128 {
    match number {
        Number::Int(v) => Decimal128::from_i64(v),
        Number::Double(v) => Decimal128::from_f64(v),
        Number::Decimal(v) => v,
    }
}

pub(crate) fn is_int(value: ValueRef<'_>) -> bool {
    matches!(value, ValueRef::Int32(_))
}

/// Returns the value as a 32-bit integer, also from a whole double or decimal; `None` if it is not
/// a whole number that fits.
pub(crate) fn int32_of(value: ValueRef<'_>) -> Option<i32> {
    i32::try_from(Number::of(value)?.to_i64_exact()?).ok()
}

/// Returns the milliseconds since 1970 of a date, a timestamp or an ObjectId; `None` for other
/// types.
pub(crate) fn date_of(value: ValueRef<'_>) -> Option<i64> {
    match value {
        ValueRef::DateTime(v) => Some(v),
        ValueRef::Timestamp(v) => i64::try_from(v >> 32).ok().map(|seconds| seconds * 1000),
        ValueRef::ObjectId(v) => Some(i64::from(v.seconds()) * 1000),
        _ => None,
    }
}

/// Returns a date argument; any other type is an error. Callers check for null and missing first.
pub(crate) fn need_date(value: ValueRef<'_>) -> Result<i64, Error> {
    date_of(value).ok_or_else(|| {
        invalid_request(
            16006,
            format!("can't convert from BSON type {} to Date", value.kind().name()),
        )
    })
}

/// Truncates a double to an integer. Fails with 31109 on NaN and beyond 64 bits.
pub(crate) fn truncated(value: f64) -> Result<i64, Error> {
    if !(-9.2e18..=9.2e18).contains(&value) {
        let text = format!("Can't coerce out of range value {} to long", shown_double(value));
        return Err(invalid_request(31109, text));
    }
    Ok(value as i64)
}

/// Formats a double as C++ prints it.
fn shown_double(value: f64) -> String {
    match value {
        value if value.is_finite() => {
            let text = format!("{value:e}");
            if text.contains("e-") { text } else { text.replace('e', "e+") }
        }
        value => value.to_string().to_lowercase(),
    }
}
