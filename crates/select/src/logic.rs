//! Three-valued logic: true, false, and nothing.

use document::{Value, ValueRef};
use evaluation::{Error, Evaluated};

/// Whether a value is true or false; anything else is nothing.
pub(crate) fn truth(value: &Evaluated<'_>) -> Option<bool> {
    value.value().and_then(ValueRef::as_bool)
}

/// A truth as a value.
pub(crate) fn got<'a>(truth: Option<bool>) -> Evaluated<'a> {
    truth.map(Value::Bool).into()
}

/// AND of two.
pub(crate) fn and(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    match (a, b) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

/// What several truths come to, the first of which that is `by` decides. One that is nothing leaves
/// it open, unless another one decides it.
pub(crate) fn decided(
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
