//! Comparisons in the total order of values, in which missing is less than null, and `$not`. `$and`
//! and `$or` are not functions but forms, since they do not evaluate all arguments.
//!
//! Unlike in filters, values of different types are comparable: `{$lt: [5, "a"]}` is true, since
//! numbers sort before strings.

use std::cmp::Ordering;

use document::Value;

use super::super::OptionalValue;
use super::{Arity::Exactly, Call, Function, row};

pub(super) const FUNCTIONS: &[Function] = &[
    row("$cmp", Exactly(2), cmp, "-1, 0 or 1"),
    row("$eq", Exactly(2), |c| compare_as(c, Ordering::is_eq), "equal"),
    row("$gt", Exactly(2), |c| compare_as(c, Ordering::is_gt), "greater"),
    row("$gte", Exactly(2), |c| compare_as(c, Ordering::is_ge), "greater or equal"),
    row("$lt", Exactly(2), |c| compare_as(c, Ordering::is_lt), "less"),
    row("$lte", Exactly(2), |c| compare_as(c, Ordering::is_le), "less or equal"),
    row("$ne", Exactly(2), |c| compare_as(c, Ordering::is_ne), "not equal"),
    row("$not", Exactly(1), not, "the opposite truth"),
];

/// Compares the two arguments in the operation's order of all types. Missing counts as undefined, which
/// is less than null.
fn order_of(call: &Call<'_>) -> Ordering {
    call.env.context.compare(call.value_at(0), call.value_at(1))
}

/// `$cmp: [1, 2]` is `-1`.
fn cmp(call: &Call<'_>) -> OptionalValue {
    Ok(Some(Value::Int32(order_of(call) as i32)))
}

fn compare_as(call: &Call<'_>, holds: fn(Ordering) -> bool) -> OptionalValue {
    Ok(Some(Value::Bool(holds(order_of(call)))))
}

/// `$not`: whether the argument does not count as true; true for a missing one.
fn not(call: &Call<'_>) -> OptionalValue {
    Ok(Some(Value::Bool(!call.arg_at(0).is_truthy())))
}
