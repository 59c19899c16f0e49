//! Three-valued logic: true, false and undefined, which is `None`.
//!
//! ```text
//! AND    true   false  none        OR     true   false  none
//! true   true   false  none        true   true   true   true
//! false  false  false  false       false  true   false  none
//! none   none   false  none        none   true   none   none
//! ```

use document::{Value, ValueRef};
use evaluation::{Error, Evaluated};

/// Returns the truth of a boolean. Any other type is undefined: the language has no truthy values.
pub(crate) fn truth_of(value: &Evaluated<'_>) -> Option<bool> {
    value.value().and_then(ValueRef::as_bool)
}

pub(crate) fn truth_value<'a>(truth: Option<bool>) -> Evaluated<'a> {
    truth.map(Value::Bool).into()
}

pub(crate) fn and_truths(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    match (a, b) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

/// Combines truth values by AND (`by` is false) or by OR (`by` is true). The first operand that
/// equals `by` decides, and the operands after it are not evaluated. Otherwise one undefined
/// operand makes the result undefined.
pub(crate) fn decide(
    truths: impl Iterator<Item = Result<Option<bool>, Error>>,
    by: bool,
) -> Result<Option<bool>, Error> {
    let mut whole = true;
    for truth in truths {
        match truth? {
            Some(truth) if truth == by => return Ok(Some(by)),
            Some(_) => {}
            None => whole = false,
        }
    }
    Ok(whole.then_some(!by))
}
