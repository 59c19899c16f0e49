//! Truth of evaluated values. `$and` and `$or` stop early, so they are forms.

use document::Value;

use super::super::OptionalValue;
use super::{Function, In, Takes::Exactly, row};

pub(super) const FUNCTIONS: &[Function] = &[row("$not", Exactly(1), not, "the opposite truth")];

/// `$not`: whether the argument does not count as true.
/// A missing argument is not true, so that the result is true.
fn not(call: &In<'_>) -> OptionalValue {
    Ok(Some(Value::Bool(!call.arg_at(0).is_truthy())))
}
