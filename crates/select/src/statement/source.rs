//! FROM and JOIN: expands a document to rows.
//!
//! ```text
//! FROM c JOIN t IN c.tags JOIN s IN t.sizes
//!
//! for each document c            the driver's loop: one call
//!   for each element t of c.tags
//!     for each element s of t.sizes
//!       visit
//! ```
//!
//! A source whose value is undefined makes no row, and neither does one that iterates over anything
//! but an array.

use document::ValueRef;
use evaluation::{Error, Evaluated, owned_bytes};

use super::Flow;
use crate::{
    eval::Env,
    plan::{Input, Source},
};

/// Calls `visit` for each row of these sources until it returns `Enough`. Each source is a loop
/// inside the loop of the preceding source: it sets its slot, then expands the remaining sources.
pub(super) fn expand_rows<'a>(
    sources: &'a [Source],
    env: &mut Env<'a>,
    visit: &mut dyn FnMut(&mut Env<'a>) -> Result<Flow, Error>,
) -> Result<Flow, Error> {
    let Some((source, rest)) = sources.split_first() else {
        env.spend_step()?;
        return visit(env);
    };
    match &source.input {
        Input::Root | Input::Collected(_) => expand_rows(rest, env, visit),
        Input::Value(expr) => {
            let value = expr.eval(env)?;
            // `FROM c.a` makes no row if the document has no `a`.
            if value.value().is_none() {
                return Ok(Flow::More);
            }
            env.fill_slot(source.slot, value)?;
            expand_rows(rest, env, visit)
        }
        Input::Elements(expr) => match expr.eval(env)? {
            Evaluated::Ref(ValueRef::Array(values)) => {
                let values = values.iter().map(Evaluated::Ref);
                expand_each(values, source.slot, rest, env, visit)
            }
            // The elements of a computed array are moved into the slot one by one, while the
            // remaining ones are held.
            got @ Evaluated::Owned(document::Value::Array(_)) => {
                let held = owned_bytes(&got);
                env.hold_bytes(held)?;
                let Evaluated::Owned(document::Value::Array(values)) = got else {
                    return Ok(Flow::More);
                };
                let values = values.into_iter().map(Evaluated::Owned);
                let flow = expand_each(values, source.slot, rest, env, visit);
                env.release_bytes(held);
                flow
            }
            _ => Ok(Flow::More),
        },
        Input::Results(select) => {
            let (values, held) = select.all_results(env, usize::MAX)?;
            let flow = expand_each(values.into_iter(), source.slot, rest, env, visit);
            env.release_bytes(held);
            flow
        }
    }
}

/// The loop of one source: sets its slot to each value in turn, and counts the work. Ends early if
/// a visit returns `Enough`.
fn expand_each<'a>(
    values: impl Iterator<Item = Evaluated<'a>>,
    slot: usize,
    rest: &'a [Source],
    env: &mut Env<'a>,
    visit: &mut dyn FnMut(&mut Env<'a>) -> Result<Flow, Error>,
) -> Result<Flow, Error> {
    for value in values {
        env.spend_step()?;
        value.value().map_or(Ok(()), |value| env.spend_touching(value))?;
        env.set_slot(slot, value);
        if expand_rows(rest, env, visit)? == Flow::Enough {
            return Ok(Flow::Enough);
        }
    }
    Ok(Flow::More)
}
