//! Numbers as functions see them: read from arguments, added exactly, given the narrowest type.
//!
//! A result that MongoDB keeps narrow is an `int` where it fits: when all operands were.

use document::{Decimal128, Number, Value, ValueRef};
use evaluation::Error;

use crate::failure::invalid_request;

/// The value of a number; integers are `int` where they fit and `narrow` is set.
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

/// A number as a decimal.
/// A double keeps 15 digits, zeros among them.
pub(crate) fn to_decimal(number: Number) -> Decimal128 {
    match number {
        Number::Int(v) => Decimal128::from_i64(v),
        Number::Double(v) => Decimal128::from_f64(v),
        Number::Decimal(v) => v,
    }
}

/// Whether a value is a 32-bit integer.
pub(crate) fn is_int(value: ValueRef<'_>) -> bool {
    matches!(value, ValueRef::Int32(_))
}

/// An integral argument that fits 32 bits.
/// A double or decimal that is whole counts.
pub(crate) fn int32_of(value: ValueRef<'_>) -> Option<i32> {
    i32::try_from(Number::of(value)?.to_i64_exact()?).ok()
}

/// Milliseconds since 1970 of a date, a timestamp or an object id.
/// Texts and numbers are none.
pub(crate) fn date_of(value: ValueRef<'_>) -> Option<i64> {
    match value {
        ValueRef::DateTime(v) => Some(v),
        ValueRef::Timestamp(v) => i64::try_from(v >> 32).ok().map(|seconds| seconds * 1000),
        ValueRef::ObjectId(v) => Some(i64::from(v.seconds()) * 1000),
        _ => None,
    }
}

/// A date argument of a function that takes nothing else.
/// Callers have looked for null and missing before, where those are no error.
pub(crate) fn need_date(value: ValueRef<'_>) -> Result<i64, Error> {
    date_of(value).ok_or_else(|| {
        invalid_request(
            16006,
            format!("can't convert from BSON type {} to Date", value.kind().name()),
        )
    })
}
