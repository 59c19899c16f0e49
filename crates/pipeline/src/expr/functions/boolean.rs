//! Truth of evaluated values. `$and` and `$or` stop early, so they are forms.

use document::Value;

use super::super::Answer;
use super::{Function, In, Takes::Exactly, row};

pub(super) const FUNCTIONS: &[Function] = &[row("$not", Exactly(1), not, "the opposite truth")];

fn not(call: &In<'_>) -> Answer {
    Ok(Some(Value::Bool(!call.arg(0).is_truthy())))
}
