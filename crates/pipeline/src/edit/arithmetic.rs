//! Sums, products and bit operations of numbers. A result has the wider type of the operands, or
//! the next wider type if it does not fit.

use document::{Decimal128, Value};

use super::BitOperator;

/// Adds two numbers; returns `None` if the result exceeds 64-bit integers.
pub(super) fn add_numbers(a: &Value, b: &Value) -> Option<Value> {
    combine_numbers(a, b, i64::checked_add, |a, b| a + b, Decimal128::add)
}

/// Multiplies two numbers; returns `None` if the result exceeds 64-bit integers.
pub(super) fn multiply_numbers(a: &Value, b: &Value) -> Option<Value> {
    combine_numbers(a, b, i64::checked_mul, |a, b| a * b, Decimal128::multiply)
}

/// Combines two numbers in the wider of their types. A result of 32-bit integers that does not fit
/// becomes 64-bit. An integer and a double make a double, even if that loses digits. `None` for
/// values that are not numbers.
fn combine_numbers(
    a: &Value,
    b: &Value,
    whole: fn(i64, i64) -> Option<i64>,
    double: fn(f64, f64) -> f64,
    decimal: fn(Decimal128, Decimal128) -> Decimal128,
) -> Option<Value> {
    match (a, b) {
        // Arms are ordered from the widest type.
        (Value::Decimal128(_), _) | (_, Value::Decimal128(_)) => {
            Some(Value::Decimal128(decimal(to_decimal(a)?, to_decimal(b)?)))
        }
        (Value::Double(_), _) | (_, Value::Double(_)) => {
            Some(Value::Double(double(to_double(a)?, to_double(b)?)))
        }
        (Value::Int32(a), Value::Int32(b)) => {
            let result = whole(i64::from(*a), i64::from(*b))?;
            Some(i32::try_from(result).map_or(Value::Int64(result), Value::Int32))
        }
        (a, b) => Some(Value::Int64(whole(to_whole(a)?, to_whole(b)?)?)),
    }
}

/// Converts a number to a decimal. Doubles are converted with 15 digits, as in all conversions.
fn to_decimal(value: &Value) -> Option<Decimal128> {
    match value {
        Value::Decimal128(v) => Some(*v),
        Value::Double(v) => Some(Decimal128::from_f64(*v)),
        other => to_whole(other).map(Decimal128::from_i64),
    }
}

/// Converts an integer or a double to a double.
fn to_double(value: &Value) -> Option<f64> {
    match value {
        Value::Double(v) => Some(*v),
        other => to_whole(other).map(|v| v as f64),
    }
}

/// Returns an integer of either width; `None` for doubles, even whole ones.
fn to_whole(value: &Value) -> Option<i64> {
    match value {
        Value::Int32(v) => Some(i64::from(*v)),
        Value::Int64(v) => Some(*v),
        _ => None,
    }
}

/// Applies a bit operation to two integers; the result is 32 bits wide if both are. `None` if one
/// is not an integer.
pub(super) fn apply_bits(operator: BitOperator, a: &Value, b: &Value) -> Option<Value> {
    if let (Value::Int32(a), Value::Int32(b)) = (a, b) {
        return Some(Value::Int32(match operator {
            BitOperator::And => a & b,
            BitOperator::Or => a | b,
            BitOperator::Xor => a ^ b,
        }));
    }
    let (a, b) = (to_whole(a)?, to_whole(b)?);
    Some(Value::Int64(match operator {
        BitOperator::And => a & b,
        BitOperator::Or => a | b,
        BitOperator::Xor => a ^ b,
    }))
}
