//! Bitwise functions of integers.

use document::{Number, Value};

use super::{
    super::OptionalValue,
    Arity::{Any, Exactly},
    Call, Function,
    arithmetic::NULL,
    number::{is_int, number_value},
    row,
};
use crate::type_mismatch;

pub(super) const FUNCTIONS: &[Function] = &[
    row("$bitAnd", Any, |c| fold_bits(c, -1, |a, b| a & b), "bitwise AND"),
    row("$bitNot", Exactly(1), bit_not, "bitwise NOT"),
    row("$bitOr", Any, |c| fold_bits(c, 0, |a, b| a | b), "bitwise OR"),
    row("$bitXor", Any, |c| fold_bits(c, 0, |a, b| a ^ b), "bitwise XOR"),
];

/// Folds a bit operation over all arguments; null if one is null. `start` is the neutral element,
/// and the result without arguments. Doubles and decimals are errors, even whole ones. The result
/// is 32 bits wide if all arguments are.
fn fold_bits(call: &Call<'_>, start: i64, join: fn(i64, i64) -> i64) -> OptionalValue {
    let (mut bits, mut narrow) = (start, true);
    for arg in call.args {
        let value = arg.operand();
        match Number::of(value) {
            _ if value.is_nullish() => return NULL,
            Some(Number::Int(v)) => {
                bits = join(bits, v);
                narrow &= is_int(value);
            }
            _ => {
                let text = format!("{} only supports int and long operands.", call.name);
                return Err(type_mismatch(14, text));
            }
        }
    }
    Ok(Some(number_value(Number::Int(bits), narrow)))
}

/// `$bitNot`: the bitwise complement, of the same type as the argument.
fn bit_not(call: &Call<'_>) -> OptionalValue {
    match call.value_at(0) {
        document::ValueRef::Int32(v) => Ok(Some(Value::Int32(!v))),
        document::ValueRef::Int64(v) => Ok(Some(Value::Int64(!v))),
        value if value.is_nullish() => NULL,
        value => {
            let kind = value.kind().name();
            Err(type_mismatch(28765, format!("$bitNot only supports int and long, not: {kind}.")))
        }
    }
}
