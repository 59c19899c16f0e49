//! Evaluation of a bound expression, node by node. What a node does with its operands stands in
//! `connectives`, `operators` and `bits`.

use document::{ArrayRef, Value, ValueRef};
use evaluation::{Error, Evaluated, fitted, owned};

use super::{Env, building, connectives, operators};
use crate::{
    functions::Function,
    like::Like,
    logic,
    number::to_i64,
    plan::{Binary, Expr, Set, Subquery, Unary},
    work::comparing,
};

impl Expr {
    /// Its value in this environment.
    pub fn eval<'a>(&'a self, env: &mut Env<'a>) -> Result<Evaluated<'a>, Error> {
        env.step()?;
        // Each arm answers by itself: this frame stands once per level of a tree.
        match self {
            Self::Constant(value) => Ok(Evaluated::Ref(value.as_ref())),
            Self::Undefined => Ok(Evaluated::Missing),
            Self::Slot(slot) => env.slot(*slot),
            Self::Path(slot, names) => env.path(*slot, names),
            Self::Step(base, step) => element(base, step, env),
            Self::Array(items) => array(items, env),
            Self::Object(fields) => building::object(fields, env),
            Self::Not(inner) => not(inner, env),
            Self::And(items) => connectives::all(items, env),
            Self::Or(items) => connectives::any(items, env),
            Self::Chain(first, rest) => chain(first, rest, env),
            Self::Unary(operator, inner) => unary(*operator, inner, env),
            Self::Concat(items) => concat(items, env),
            Self::Between(parts) => between(parts, env),
            Self::In(value, items) => connectives::among(value, items, env),
            Self::Among(value, set) => among(value, set, env),
            Self::Like(value, like) => like_known(value, like, env),
            Self::LikeAny(value, pattern, escape) => like_any(value, pattern, *escape, env),
            Self::Coalesce(items) => coalesce(items, env),
            Self::Conditional(parts) => conditional(parts, env),
            Self::Call(function, args) => call(function, args, env),
            Self::Subquery(kind, select) => subquery(*kind, select, env),
        }
    }

    /// Whether it is true, and not merely something.
    pub fn holds<'a>(&'a self, env: &mut Env<'a>) -> Result<bool, Error> {
        Ok(logic::truth(&self.eval(env)?) == Some(true))
    }
}

fn not<'a>(inner: &'a Expr, env: &mut Env<'a>) -> Result<Evaluated<'a>, Error> {
    Ok(logic::got(logic::truth(&inner.eval(env)?).map(|truth| !truth)))
}

fn unary<'a>(operator: Unary, inner: &'a Expr, env: &mut Env<'a>) -> Result<Evaluated<'a>, Error> {
    let inner = inner.eval(env)?;
    Ok(match operator {
        Unary::Negate => operators::negate(&inner),
        Unary::Plus => operators::plus(&inner),
        Unary::BitNot => super::bits::not(&inner),
    })
}

fn between<'a>(parts: &'a [Expr; 3], env: &mut Env<'a>) -> Result<Evaluated<'a>, Error> {
    let [value, low, high] = parts;
    let value = value.eval(env)?;
    let (low, high) = env.beside(&value, |env| {
        let low = low.eval(env)?;
        let high = env.beside(&low, |env| high.eval(env))?;
        Ok((low, high))
    })?;
    compares(&value, &low, env)?;
    compares(&value, &high, env)?;
    let above = operators::compared(Binary::GreaterOrEqual, &value, &low);
    let below = operators::compared(Binary::LessOrEqual, &value, &high);
    Ok(logic::got(logic::and(above, below)))
}

/// The work of comparing two values.
fn compares(a: &Evaluated<'_>, b: &Evaluated<'_>, env: &Env<'_>) -> Result<(), Error> {
    match a.value().zip(b.value()).map_or(0, |(a, b)| comparing(a, b)) {
        0 => Ok(()),
        units => env.spend(units),
    }
}

fn among<'a>(value: &'a Expr, set: &Set, env: &mut Env<'a>) -> Result<Evaluated<'a>, Error> {
    let value = value.eval(env)?;
    env.key(&value)?;
    Ok(logic::got(set.has(&value)))
}

fn like_known<'a>(value: &'a Expr, like: &Like, env: &mut Env<'a>) -> Result<Evaluated<'a>, Error> {
    let value = value.eval(env)?;
    matched(&value, like, env)
}

fn like_any<'a>(
    value: &'a Expr,
    pattern: &'a Expr,
    escape: Option<char>,
    env: &mut Env<'a>,
) -> Result<Evaluated<'a>, Error> {
    let value = value.eval(env)?;
    let pattern = env.beside(&value, |env| pattern.eval(env))?;
    let text = pattern.value().and_then(ValueRef::as_str);
    let Some(text) = text else { return Ok(Evaluated::Missing) };
    env.spend(text.len().saturating_mul(size_of::<char>()))?;
    matched(&value, &Like::new(text, escape), env)
}

fn coalesce<'a>(items: &'a [Expr], env: &mut Env<'a>) -> Result<Evaluated<'a>, Error> {
    for item in items {
        let value = item.eval(env)?;
        if value.value().is_some() {
            return Ok(value);
        }
    }
    Ok(Evaluated::Missing)
}

fn conditional<'a>(parts: &'a [Expr; 3], env: &mut Env<'a>) -> Result<Evaluated<'a>, Error> {
    let [condition, yes, no] = parts;
    if condition.holds(env)? { yes.eval(env) } else { no.eval(env) }
}

fn call<'a>(
    function: &Function,
    args: &'a [Expr],
    env: &mut Env<'a>,
) -> Result<Evaluated<'a>, Error> {
    let mut values = Vec::with_capacity(args.len());
    let mut held = 0;
    for arg in args {
        let value = arg.eval(env)?;
        let bytes = owned(&value);
        env.hold(bytes)?;
        held += bytes;
        values.push(value);
    }
    let answer = function.run(&values, env.context(), env.held())?;
    env.release(held);
    Ok(answer)
}

/// A property or an element of a value.
fn element<'a>(base: &'a Expr, step: &'a Expr, env: &mut Env<'a>) -> Result<Evaluated<'a>, Error> {
    let base = base.eval(env)?;
    let step = env.beside(&base, |env| step.eval(env))?;
    element_of(base, &step, env)
}

fn element_of<'a>(
    base: Evaluated<'a>,
    step: &Evaluated<'a>,
    env: &Env<'a>,
) -> Result<Evaluated<'a>, Error> {
    /// What is found, and how many others were passed over.
    fn find<'v>(base: ValueRef<'v>, step: ValueRef<'_>) -> (Option<ValueRef<'v>>, usize) {
        match (base, step) {
            (ValueRef::Document(fields), ValueRef::String(name)) => fields.search(name),
            (ValueRef::Array(ArrayRef::Tree(values)), at) => {
                let at = to_i64(at).and_then(|at| usize::try_from(at).ok());
                (at.and_then(|at| values.get(at)).map(Value::as_ref), 0)
            }
            (ValueRef::Array(ArrayRef::Raw(raw)), at) => {
                let at = to_i64(at).and_then(|at| usize::try_from(at).ok());
                // No element is shorter than three bytes.
                at.map_or((None, 0), |at| (ArrayRef::Raw(raw).get(at), at.min(raw.len() / 3)))
            }
            _ => (None, 0),
        }
    }
    let Some(step) = step.value() else { return Ok(Evaluated::Missing) };
    match base {
        Evaluated::Ref(value) => {
            let (found, others) = find(value, step);
            env.passed_over(others)?;
            found.map_or(Ok(()), |found| env.touch(found))?;
            Ok(found.into())
        }
        Evaluated::Own(value) => {
            let (found, others) = find(value.as_ref(), step);
            env.passed_over(others)?;
            Ok(found.map(ValueRef::to_value).into())
        }
        _ => Ok(Evaluated::Missing),
    }
}

fn array<'a>(items: &'a [Expr], env: &mut Env<'a>) -> Result<Evaluated<'a>, Error> {
    building::array(items.iter().map(|item| |env: &mut Env<'a>| item.eval(env)), env)
}

fn chain<'a>(
    first: &'a Expr,
    rest: &'a [(Binary, Expr)],
    env: &mut Env<'a>,
) -> Result<Evaluated<'a>, Error> {
    let mut left = first.eval(env)?;
    for (operator, right) in rest {
        let right = env.beside(&left, |env| right.eval(env))?;
        compares(&left, &right, env)?;
        left = operators::apply(*operator, &left, &right);
    }
    Ok(left)
}

fn concat<'a>(items: &'a [Expr], env: &mut Env<'a>) -> Result<Evaluated<'a>, Error> {
    let mut text = String::new();
    let mut whole = true;
    for item in items {
        let value = item.eval(env)?;
        match value.value().and_then(ValueRef::as_str) {
            Some(part) if whole => {
                env.spend(part.len())?;
                env.hold(part.len())?;
                text.push_str(part);
                if evaluation::limits::MAX_DOCUMENT_BYTES < text.len() {
                    return Err(evaluation::too_large(text.len()));
                }
            }
            _ => whole = false,
        }
    }
    env.release(text.len());
    Ok(if whole { fitted(Evaluated::Own(Value::String(text))) } else { Evaluated::Missing })
}

fn matched<'a>(value: &Evaluated<'a>, like: &Like, env: &Env<'a>) -> Result<Evaluated<'a>, Error> {
    match value.value().and_then(ValueRef::as_str) {
        Some(text) => Ok(logic::got(Some(like.matches(text, &env.context().budget)?))),
        None => Ok(Evaluated::Missing),
    }
}

fn subquery<'a>(
    kind: Subquery,
    select: &'a crate::plan::Select,
    env: &mut Env<'a>,
) -> Result<Evaluated<'a>, Error> {
    let most = match kind {
        Subquery::Exists | Subquery::Scalar | Subquery::First => 1,
        _ => usize::MAX,
    };
    let (mut values, held) = select.results(env, most)?;
    env.release(held);
    Ok(match kind {
        Subquery::Exists => logic::got(Some(!values.is_empty())),
        Subquery::Scalar | Subquery::First => {
            values.into_iter().next().unwrap_or(Evaluated::Missing)
        }
        Subquery::Last => values.pop().unwrap_or(Evaluated::Missing),
        Subquery::All => {
            logic::got(Some(values.iter().all(|value| logic::truth(value) == Some(true))))
        }
        Subquery::Array => {
            return building::array(
                values.into_iter().map(|value| |_: &mut Env<'a>| Ok(value)),
                env,
            );
        }
    })
}
