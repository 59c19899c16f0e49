//! FROM and JOIN: the rows that a document, or what is inside it, makes.

use document::ValueRef;
use evaluation::{Error, Evaluated, owned};

use super::Flow;
use crate::{
    eval::Env,
    plan::{Input, Source},
};

/// Calls `visit` for each row of these sources, until it has enough.
pub(super) fn expand<'a>(
    sources: &'a [Source],
    env: &mut Env<'a>,
    visit: &mut dyn FnMut(&mut Env<'a>) -> Result<Flow, Error>,
) -> Result<Flow, Error> {
    let Some((source, rest)) = sources.split_first() else {
        env.step()?;
        return visit(env);
    };
    match &source.input {
        Input::Root | Input::Collected(_) => expand(rest, env, visit),
        Input::Value(expr) => {
            let value = expr.eval(env)?;
            if value.value().is_none() {
                return Ok(Flow::More);
            }
            env.fill(source.slot, value)?;
            expand(rest, env, visit)
        }
        Input::Elements(expr) => match expr.eval(env)? {
            Evaluated::Ref(ValueRef::Array(values)) => {
                let values = values.iter().map(Evaluated::Ref);
                each(values, source.slot, rest, env, visit)
            }
            got @ Evaluated::Own(document::Value::Array(_)) => {
                let held = owned(&got);
                env.hold(held)?;
                let Evaluated::Own(document::Value::Array(values)) = got else {
                    return Ok(Flow::More);
                };
                let values = values.into_iter().map(Evaluated::Own);
                let flow = each(values, source.slot, rest, env, visit);
                env.release(held);
                flow
            }
            _ => Ok(Flow::More),
        },
        Input::Results(select) => {
            let (values, held) = select.results(env, usize::MAX)?;
            let flow = each(values.into_iter(), source.slot, rest, env, visit);
            env.release(held);
            flow
        }
    }
}

fn each<'a>(
    values: impl Iterator<Item = Evaluated<'a>>,
    slot: usize,
    rest: &'a [Source],
    env: &mut Env<'a>,
    visit: &mut dyn FnMut(&mut Env<'a>) -> Result<Flow, Error>,
) -> Result<Flow, Error> {
    for value in values {
        env.step()?;
        value.value().map_or(Ok(()), |value| env.touch(value))?;
        env.set(slot, value);
        if expand(rest, env, visit)? == Flow::Enough {
            return Ok(Flow::Enough);
        }
    }
    Ok(Flow::More)
}
