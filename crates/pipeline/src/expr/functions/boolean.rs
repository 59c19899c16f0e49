//! `$not`. `$and` and `$or` are not functions but forms, since they do not evaluate all arguments.

use document::Value;

use super::super::OptionalValue;
use super::{Arity::Exactly, Call, Function, row};

pub(super) const FUNCTIONS: &[Function] = &[row("$not", Exactly(1), not, "the opposite truth")];

/// `$not`: whether the argument does not count as true; true for a missing one.
fn not(call: &Call<'_>) -> OptionalValue {
    Ok(Some(Value::Bool(!call.arg_at(0).is_truthy())))
}
