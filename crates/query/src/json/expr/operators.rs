//! Comparison and arithmetic of two values. Operands of other types make nothing.

use std::cmp::Ordering;

use document::ValueRef;

use super::{Binary, bits, logic};
use crate::{
    expr::Got,
    json::{self, integer, number, to_f64},
};

/// What an operator makes of two values.
pub(super) fn apply<'a>(operator: Binary, a: &Got<'_>, b: &Got<'_>) -> Got<'a> {
    match operator {
        Binary::Equal => logic::got(equal(a, b)),
        Binary::NotEqual => logic::got(equal(a, b).map(|equal| !equal)),
        Binary::Less | Binary::LessOrEqual | Binary::Greater | Binary::GreaterOrEqual => {
            logic::got(compared(operator, a, b))
        }
        Binary::Add | Binary::Subtract | Binary::Multiply | Binary::Divide | Binary::Modulo => {
            arithmetic(operator, a, b).unwrap_or(Got::Missing)
        }
        _ => bits::apply(operator, a, b),
    }
}

/// Whether two values are the same; nothing when one is nothing.
pub(super) fn equal(a: &Got<'_>, b: &Got<'_>) -> Option<bool> {
    Some(json::equal(a.value()?, b.value()?))
}

/// Whether two values of one simple type stand in this order; else nothing.
pub(super) fn compared(operator: Binary, a: &Got<'_>, b: &Got<'_>) -> Option<bool> {
    let (a, b) = (a.value()?, b.value()?);
    if simple_class(a)? != simple_class(b)? {
        return None;
    }
    let order = json::compare(a, b);
    Some(match operator {
        Binary::Less => order == Ordering::Less,
        Binary::LessOrEqual => order != Ordering::Greater,
        Binary::Greater => order == Ordering::Greater,
        _ => order != Ordering::Less,
    })
}

/// The type of a value that has an order of its own: arrays and objects have none.
pub(in crate::json) fn simple_class(value: ValueRef<'_>) -> Option<u8> {
    match value {
        ValueRef::Null => Some(0),
        ValueRef::Bool(_) => Some(1),
        ValueRef::String(_) => Some(3),
        other => other.is_number().then_some(2),
    }
}

fn whole(value: ValueRef<'_>) -> Option<i64> {
    match value {
        ValueRef::Int32(v) => Some(i64::from(v)),
        ValueRef::Int64(v) => Some(v),
        _ => None,
    }
}

fn arithmetic<'a>(operator: Binary, a: &Got<'_>, b: &Got<'_>) -> Option<Got<'a>> {
    let (a, b) = (a.value()?, b.value()?);
    if let (Some(a), Some(b)) = (whole(a), whole(b)) {
        let exact = match operator {
            Binary::Add => a.checked_add(b),
            Binary::Subtract => a.checked_sub(b),
            Binary::Multiply => a.checked_mul(b),
            Binary::Divide => (a.checked_rem(b) == Some(0)).then(|| a.checked_div(b)).flatten(),
            _ => a.checked_rem(b),
        };
        if let Some(exact) = exact {
            return Some(integer(exact));
        }
    }
    let (a, b) = (to_f64(a)?, to_f64(b)?);
    Some(number(match operator {
        Binary::Add => a + b,
        Binary::Subtract => a - b,
        Binary::Multiply => a * b,
        Binary::Divide => a / b,
        _ => a % b,
    }))
}

/// `-`
pub(super) fn negate<'a>(value: &Got<'_>) -> Got<'a> {
    let Some(value) = value.value() else { return Got::Missing };
    if let Some(negated) = whole(value).and_then(i64::checked_neg) {
        return integer(negated);
    }
    to_f64(value).map_or(Got::Missing, |value| number(-value))
}

/// `+`
pub(super) fn plus<'a>(value: &Got<'_>) -> Got<'a> {
    match value.value() {
        Some(value) if value.is_number() => Got::Own(value.to_value()),
        _ => Got::Missing,
    }
}
