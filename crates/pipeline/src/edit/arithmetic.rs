//! Sums, products and bit operations of numbers, in the narrowest type that holds the result.

use document::{Decimal128, Value};

use super::BitOperator;

/// A sum; `None` when it overflows 64 bits.
pub(super) fn add_numbers(a: &Value, b: &Value) -> Option<Value> {
    combine_numbers(a, b, i64::checked_add, |a, b| a + b, Decimal128::add)
}

/// A product; `None` when it overflows 64 bits.
pub(super) fn multiply_numbers(a: &Value, b: &Value) -> Option<Value> {
    combine_numbers(a, b, i64::checked_mul, |a, b| a * b, Decimal128::multiply)
}

/// Combines two numbers in the widest of their types. Two 32-bit integers whose result does not fit
/// become 64-bit.
/// A double with an integer is a double, also where that loses digits; a 64-bit integer with one of
/// 32 bits is 64-bit. `None` for values that are not numbers, too.
fn combine_numbers(
    a: &Value,
    b: &Value,
    whole: fn(i64, i64) -> Option<i64>,
    double: fn(f64, f64) -> f64,
    decimal: fn(Decimal128, Decimal128) -> Decimal128,
) -> Option<Value> {
    match (a, b) {
        // The widest type first: each arm may assume that none wider is there.
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

/// A number as a decimal.
/// A double has 15 digits here, as wherever it meets a decimal.
fn to_decimal(value: &Value) -> Option<Decimal128> {
    match value {
        Value::Decimal128(v) => Some(*v),
        Value::Double(v) => Some(Decimal128::from_f64(*v)),
        other => to_whole(other).map(Decimal128::from_i64),
    }
}

/// An integer or a double as a double.
fn to_double(value: &Value) -> Option<f64> {
    match value {
        Value::Double(v) => Some(*v),
        other => to_whole(other).map(|v| v as f64),
    }
}

/// An integer of either width.
/// Doubles are none, even when they are whole.
fn to_whole(value: &Value) -> Option<i64> {
    match value {
        Value::Int32(v) => Some(i64::from(*v)),
        Value::Int64(v) => Some(*v),
        _ => None,
    }
}

/// A bit operation on two whole numbers; 32 bits wide if both are.
/// `None` where one of them is a double, a decimal or no number.
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
