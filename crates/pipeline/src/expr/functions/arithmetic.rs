//! Arithmetic: sums, products, quotients, remainders, rounding to integers. The result has the
//! widest type of its operands; 32-bit results that do not fit become 64-bit, and 64-bit results
//! that do not fit become doubles. A date plus a number is a date.
//!
//! ```text
//! $add: [1, 2.5]                 3.5         $subtract: [date, date]     milliseconds
//! $add: [date, 1000]             a date      $mod: [-7, 4]               -3
//! $multiply: [2147483647, 2]     a long      $divide: [6, 3]             2.0
//! ```
//!
//! An operand that is null or missing makes the result null. Other types are errors that name the
//! operator and the type; NaN counts as a number.

use document::{Decimal128, Number, Rounding, Value, ValueRef};
use evaluation::Error;

use super::{
    super::OptionalValue,
    Arity::{Any, Exactly},
    Call, Function, decimal_logs,
    number::{is_int, number_value, to_decimal},
    row,
};
use crate::{accumulate::Sum, invalid_request, type_mismatch};

pub(super) const FUNCTIONS: &[Function] = &[
    row("$abs", Exactly(1), abs, "absolute value of a number"),
    row("$add", Any, add, "sum of numbers, or a date plus a number of milliseconds"),
    row("$ceil", Exactly(1), ceil, "smallest integer not less than the number"),
    row("$divide", Exactly(2), divide, "quotient"),
    row("$floor", Exactly(1), floor, "greatest integer not greater than the number"),
    row("$mod", Exactly(2), modulo, "remainder"),
    row("$multiply", Any, multiply, "product"),
    row("$subtract", Exactly(2), subtract, "difference of numbers or dates"),
];

/// Returns the only argument as a number; `None` for null and missing. Any other type is an error
/// with the function's name.
pub(super) fn only_number(call: &Call<'_>) -> Result<Option<Number>, Error> {
    if call.arg_at(0).is_nullish() {
        return Ok(None);
    }
    match Number::of(call.value_at(0)) {
        Some(number) => Ok(Some(number)),
        None => Err(type_mismatch(
            28765,
            format!(
                "{} only supports numeric types, not {}",
                call.name,
                call.arg_at(0).type_name()
            ),
        )),
    }
}

pub(super) fn some_value(value: impl Into<Value>) -> OptionalValue {
    Ok(Some(value.into()))
}

/// The result null, which most functions return for an argument that is null or missing.
pub(super) const NULL: OptionalValue = Ok(Some(Value::Null));

/// `$abs`; an error for the least 64-bit integer, whose magnitude does not fit.
fn abs(call: &Call<'_>) -> OptionalValue {
    let Some(number) = only_number(call)? else { return NULL };
    match number {
        Number::Int(i64::MIN) => Err(invalid_request(28680, "can't take $abs of long long min")),
        Number::Int(v) => some_value(number_value(Number::Int(v.abs()), is_int(call.value_at(0)))),
        Number::Double(v) => some_value(v.abs()),
        Number::Decimal(v) => some_value(v.abs()),
    }
}

/// `$add`: the sum of numbers, or a date plus the sum of the other arguments. At most one may be a
/// date. 0 without arguments.
fn add(call: &Call<'_>) -> OptionalValue {
    let mut sum = Sum::default();
    let mut date = None;
    for arg in call.args {
        match arg.operand() {
            value if value.is_nullish() => return NULL,
            ValueRef::DateTime(at) => {
                if date.replace(at).is_some() {
                    return Err(invalid_request(
                        16612,
                        "only one date allowed in an $add expression",
                    ));
                }
            }
            value if value.is_number() => sum.add_number(value),
            value => {
                let text = "$add only supports numeric or date types, not";
                return Err(type_mismatch(16554, format!("{text} {}", value.kind().name())));
            }
        }
    }
    let Some(at) = date else { return some_value(sum.sum_value()) };
    moved_date(at, sum.sum_value().as_ref(), 1).map(Some)
}

/// Adds milliseconds to a date, or subtracts them if `sign` is -1. `$add` rounds to the nearest
/// millisecond, and exact halves toward 1970; `$subtract` truncates doubles. NaN, infinities and
/// results beyond 64 bits are errors.
fn moved_date(at: i64, by: ValueRef<'_>, sign: i64) -> Result<Value, Error> {
    let by = match Number::of(by) {
        Some(Number::Int(v)) => Some(v),
        // Dates have whole milliseconds.
        Some(Number::Double(v)) if v.abs() < 9.2e18 => {
            let (whole, rest) = (v.floor() as i64, v - v.floor());
            let up = if at.saturating_add(whole) < 0 { 0.5 <= rest } else { 0.5 < rest };
            Some(if sign > 0 { whole + i64::from(up) } else { v as i64 })
        }
        Some(Number::Decimal(v)) if sign > 0 => {
            let moved = Decimal128::from_i64(at).add(v).to_i64(Rounding::HalfEven);
            moved.and_then(|moved| moved.checked_sub(at))
        }
        Some(Number::Decimal(v)) => v.to_i64(Rounding::HalfEven),
        _ => None,
    };
    let at = by.and_then(|by| by.checked_mul(sign)).and_then(|by| at.checked_add(by));
    at.map(Value::DateTime).ok_or_else(|| invalid_request(15, "date overflow"))
}

/// `$subtract`: milliseconds for two dates, a date for a date and a number. A number minus a date
/// is an error. Integer results that do not fit 64 bits become a double.
fn subtract(call: &Call<'_>) -> OptionalValue {
    if call.any_nullish() {
        return NULL;
    }
    let (left, right) = (call.value_at(0), call.value_at(1));
    match (left, right) {
        (ValueRef::DateTime(a), ValueRef::DateTime(b)) => match a.checked_sub(b) {
            Some(difference) => return some_value(difference),
            None => return Err(invalid_request(15, "overflow in $subtract of dates")),
        },
        (ValueRef::DateTime(a), by) if by.is_number() => return moved_date(a, by, -1).map(Some),
        _ => {}
    }
    let (Some(a), Some(b)) = (Number::of(left), Number::of(right)) else {
        return Err(type_mismatch(
            14,
            format!("can't $subtract {} from {}", right.kind().name(), left.kind().name()),
        ));
    };
    let difference = match (a, b) {
        (Number::Decimal(_), _) | (_, Number::Decimal(_)) => {
            Number::Decimal(to_decimal(a).subtract(to_decimal(b)))
        }
        (Number::Int(a), Number::Int(b)) => {
            a.checked_sub(b).map_or(Number::Double(a as f64 - b as f64), Number::Int)
        }
        (a, b) => Number::Double(a.to_f64() - b.to_f64()),
    };
    some_value(number_value(difference, is_int(left) && is_int(right)))
}

/// `$multiply`: a product, 1 without arguments. Arguments are processed in order: the first one
/// that is null or of a wrong type decides.
fn multiply(call: &Call<'_>) -> OptionalValue {
    let mut product = Number::Int(1);
    let mut narrow = true;
    for arg in call.args {
        let value = arg.operand();
        if value.is_nullish() {
            return NULL;
        }
        let Some(number) = Number::of(value) else {
            return Err(type_mismatch(
                14,
                format!("$multiply only supports numeric types, not {}", value.kind().name()),
            ));
        };
        narrow &= is_int(value);
        // The widest type so far decides; integers that overflow continue as doubles.
        product = match (product, number) {
            (Number::Decimal(_), _) | (_, Number::Decimal(_)) => {
                Number::Decimal(to_decimal(product).multiply(to_decimal(number)))
            }
            (Number::Int(a), Number::Int(b)) => {
                a.checked_mul(b).map_or(Number::Double(a as f64 * b as f64), Number::Int)
            }
            // The sign of the last NaN is kept.
            (_, b) if b.is_nan() => b,
            (a, b) => Number::Double(a.to_f64() * b.to_f64()),
        };
    }
    some_value(number_value(product, narrow))
}

/// Returns both arguments as numbers; `None` if one is null. `number` is the error number for other
/// types, which differs by function.
fn two_numbers(call: &Call<'_>, number: i32) -> Result<Option<(Number, Number)>, Error> {
    match (Number::of(call.value_at(0)), Number::of(call.value_at(1))) {
        (Some(a), Some(b)) => Ok(Some((a, b))),
        _ if call.any_nullish() => Ok(None),
        _ => {
            let (a, b) = (call.arg_at(0).type_name(), call.arg_at(1).type_name());
            let text = format!("{} only supports numeric types, not {a} and {b}", call.name);
            Err(type_mismatch(number, text))
        }
    }
}

/// `$divide`: a decimal if one operand is one, else a double, even for integers. Division by zero
/// is an error.
fn divide(call: &Call<'_>) -> OptionalValue {
    let Some((a, b)) = two_numbers(call, 14)? else { return NULL };
    match (a, b) {
        (Number::Decimal(_), _) | (_, Number::Decimal(_)) => {
            let b = to_decimal(b);
            if b.is_zero() {
                return Err(invalid_request(2, "can't $divide by zero"));
            }
            some_value(to_decimal(a).divide(b))
        }
        (_, b) if b.to_f64() == 0.0 => Err(invalid_request(2, "can't $divide by zero")),
        (a, b) => some_value(a.to_f64() / b.to_f64()),
    }
}

/// `$mod`: the remainder, with the sign of the dividend. A divisor of zero is an error, whose
/// number differs for decimals.
fn modulo(call: &Call<'_>) -> OptionalValue {
    let Some((a, b)) = two_numbers(call, 16611)? else { return NULL };
    let zero = || Err(invalid_request(16610, "can't $mod by zero"));
    // The remainder of an integer stays an integer if the divisor is a double that is a small whole
    // number.
    let (b, small) = match (a, b) {
        (Number::Int(_), Number::Double(v)) if v == f64::from(v as i32) => {
            (Number::Int(v as i64), true)
        }
        (_, b) => (b, is_int(call.value_at(1))),
    };
    let narrow = is_int(call.value_at(0)) && small;
    match (a, b) {
        (Number::Decimal(_), _) | (_, Number::Decimal(_)) => {
            let b = to_decimal(b);
            if b.is_zero() {
                return Err(invalid_request(5_733_415, "can't $mod by zero"));
            }
            some_value(to_decimal(a).remainder(b))
        }
        (_, Number::Int(0)) => zero(),
        (Number::Int(a), Number::Int(b)) => {
            // Only the least integer by -1 overflows; its remainder is 0.
            some_value(number_value(Number::Int(a.checked_rem(b).unwrap_or(0)), narrow))
        }
        (_, Number::Double(0.0)) => zero(),
        (a, b) => some_value(a.to_f64() % b.to_f64()),
    }
}

/// `$ceil`: the least integer not less than the number.
fn ceil(call: &Call<'_>) -> OptionalValue {
    to_integral(call, f64::ceil, Rounding::Ceil)
}

/// `$floor`: the greatest integer not greater than the number.
fn floor(call: &Call<'_>) -> OptionalValue {
    to_integral(call, f64::floor, Rounding::Floor)
}

/// Implements `$ceil` and `$floor`. An integer is unchanged, in its type.
fn to_integral(call: &Call<'_>, double: fn(f64) -> f64, rounding: Rounding) -> OptionalValue {
    let Some(number) = only_number(call)? else { return NULL };
    match number {
        Number::Int(v) => some_value(number_value(Number::Int(v), is_int(call.value_at(0)))),
        Number::Double(v) => some_value(double(v)),
        Number::Decimal(v) => some_value(decimal_logs::whole_part(v, rounding)),
    }
}
