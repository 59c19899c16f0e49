//! Comparison and arithmetic of two values. The result is undefined ("nothing" below) for operands
//! of other types.
//!
//! ```text
//! 1 + 2 = 3          "a" + 1   nothing        1 = "1"   false
//! 7 / 2 = 3.5        6 / 2 = 3                1 < "2"   nothing
//! 7 % 0  nothing     nothing = 1   nothing    [1] < [2] nothing
//! ```

use std::cmp::Ordering;

use document::ValueRef;
use evaluation::Evaluated;

use crate::{
    equal::is_equal,
    eval::bits,
    logic,
    number::{integer_value, number_or_nothing, to_f64},
    order::{self, simple_class},
    plan::Binary,
};

/// Returns the result of a binary operator; undefined if it does not accept the operands' types.
pub(super) fn apply_binary<'a>(
    operator: Binary,
    a: &Evaluated<'_>,
    b: &Evaluated<'_>,
) -> Evaluated<'a> {
    match operator {
        Binary::Equal => logic::truth_value(equals(a, b)),
        Binary::NotEqual => logic::truth_value(equals(a, b).map(|equal| !equal)),
        Binary::Less | Binary::LessOrEqual | Binary::Greater | Binary::GreaterOrEqual => {
            logic::truth_value(compare_ordered(operator, a, b))
        }
        Binary::Add | Binary::Subtract | Binary::Multiply | Binary::Divide | Binary::Modulo => {
            arithmetic(operator, a, b).unwrap_or(Evaluated::Missing)
        }
        _ => bits::apply_bitwise(operator, a, b),
    }
}

/// Returns whether two values are equal; `None` if one is undefined. Values of different types are
/// not equal.
pub(super) fn equals(a: &Evaluated<'_>, b: &Evaluated<'_>) -> Option<bool> {
    Some(is_equal(a.value()?, b.value()?))
}

/// Returns whether `<`, `<=`, `>` or `>=` holds for two values of one simple type (null, boolean,
/// number or string); `None` for other types and for two different types.
pub(super) fn compare_ordered(
    operator: Binary,
    a: &Evaluated<'_>,
    b: &Evaluated<'_>,
) -> Option<bool> {
    let (a, b) = (a.value()?, b.value()?);
    if simple_class(a)? != simple_class(b)? {
        return None;
    }
    let order = order::compare_values(a, b);
    Some(match operator {
        Binary::Less => order == Ordering::Less,
        Binary::LessOrEqual => order != Ordering::Greater,
        Binary::Greater => order == Ordering::Greater,
        _ => order != Ordering::Less,
    })
}

/// Returns a value that is stored as an integer, for exact arithmetic. Whole doubles do not count.
fn stored_integer(value: ValueRef<'_>) -> Option<i64> {
    match value {
        ValueRef::Int32(v) => Some(i64::from(v)),
        ValueRef::Int64(v) => Some(v),
        _ => None,
    }
}

/// `+`, `-`, `*`, `/` and `%`: exact if both operands are integers and the result is an integer of
/// 64 bits, else computed in doubles. A division with a remainder is computed in doubles: `7 / 2`
/// is 3.5.
fn arithmetic<'a>(operator: Binary, a: &Evaluated<'_>, b: &Evaluated<'_>) -> Option<Evaluated<'a>> {
    let (a, b) = (a.value()?, b.value()?);
    if let (Some(a), Some(b)) = (stored_integer(a), stored_integer(b)) {
        let exact = match operator {
            Binary::Add => a.checked_add(b),
            Binary::Subtract => a.checked_sub(b),
            Binary::Multiply => a.checked_mul(b),
            Binary::Divide => (a.checked_rem(b) == Some(0)).then(|| a.checked_div(b)).flatten(),
            _ => a.checked_rem(b),
        };
        if let Some(exact) = exact {
            return Some(integer_value(exact));
        }
    }
    let (a, b) = (to_f64(a)?, to_f64(b)?);
    Some(number_or_nothing(match operator {
        Binary::Add => a + b,
        Binary::Subtract => a - b,
        Binary::Multiply => a * b,
        Binary::Divide => a / b,
        _ => a % b,
    }))
}

/// Evaluates unary minus, which is exact for integers and undefined for other types than numbers.
pub(super) fn negated<'a>(value: &Evaluated<'_>) -> Evaluated<'a> {
    let Some(value) = value.value() else { return Evaluated::Missing };
    if let Some(negated) = stored_integer(value).and_then(i64::checked_neg) {
        return integer_value(negated);
    }
    to_f64(value).map_or(Evaluated::Missing, |value| number_or_nothing(-value))
}

/// Evaluates unary plus: the number itself, or undefined for other types.
pub(super) fn unary_plus<'a>(value: &Evaluated<'_>) -> Evaluated<'a> {
    match value.value() {
        Some(value) if value.is_number() => Evaluated::Owned(value.to_value()),
        _ => Evaluated::Missing,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use document::json::{parse, to_string};

    use super::*;

    /// Parses a JSON value, or "undefined".
    pub(in crate::eval) fn got(text: &str) -> Evaluated<'static> {
        match text {
            "undefined" => Evaluated::Missing,
            text => Evaluated::Owned(parse(text.as_bytes(), 9).unwrap()),
        }
    }

    pub(in crate::eval) fn shown(got: &Evaluated<'_>) -> String {
        got.value().map_or("undefined".to_owned(), to_string)
    }

    #[test]
    fn types_are_never_mixed() {
        use Binary as B;
        for (a, operator, b, want) in [
            ("1", B::Equal, "1.0", "true"),
            ("1", B::Equal, "\"1\"", "false"),
            ("null", B::NotEqual, "0", "true"),
            ("undefined", B::Equal, "undefined", "undefined"),
            ("undefined", B::NotEqual, "1", "undefined"),
            ("{\"a\":1,\"b\":2}", B::Equal, "{\"b\":2,\"a\":1}", "true"),
            ("[1,2]", B::Equal, "[2,1]", "false"),
            ("1", B::Less, "2", "true"),
            ("9007199254740993", B::Greater, "9007199254740992", "true"),
            ("\"a\"", B::LessOrEqual, "\"b\"", "true"),
            ("\"a\"", B::Less, "1", "undefined"),
            ("null", B::Less, "null", "false"),
            ("null", B::GreaterOrEqual, "null", "true"),
            ("false", B::Less, "true", "true"),
            ("[1]", B::Less, "[2]", "undefined"),
            ("{}", B::LessOrEqual, "{}", "undefined"),
            ("undefined", B::Less, "1", "undefined"),
            ("1", B::Add, "2", "3"),
            ("0.5", B::Add, "0.5", "1"),
            ("9223372036854775807", B::Add, "1", "9.223372036854776e+18"),
            ("9223372036854775807", B::Subtract, "1", "9223372036854775806"),
            ("4611686018427387904", B::Multiply, "2", "9.223372036854776e+18"),
            ("6", B::Divide, "3", "2"),
            ("1", B::Divide, "4", "0.25"),
            ("1", B::Divide, "0", "undefined"),
            ("-9223372036854775808", B::Divide, "-1", "9.223372036854776e+18"),
            ("7", B::Modulo, "-4", "3"),
            ("-7", B::Modulo, "4", "-3"),
            ("7.5", B::Modulo, "2", "1.5"),
            ("7", B::Modulo, "0", "undefined"),
            ("1e308", B::Multiply, "10", "undefined"),
            ("1", B::Add, "true", "undefined"),
            ("\"a\"", B::Add, "\"b\"", "undefined"),
        ] {
            let value = apply_binary(operator, &got(a), &got(b));
            assert_eq!(shown(&value), want, "{a} {operator:?} {b}");
        }
        for (value, opposite, same) in [
            ("1", "-1", "1"),
            ("-9223372036854775808", "9.223372036854776e+18", "-9223372036854775808"),
            ("2.5", "-2.5", "2.5"),
            ("\"1\"", "undefined", "undefined"),
            ("undefined", "undefined", "undefined"),
        ] {
            assert_eq!(shown(&negated(&got(value))), opposite);
            assert_eq!(shown(&unary_plus(&got(value))), same);
        }
    }
}
