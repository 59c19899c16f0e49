//! Evaluation of bound expressions, node by node, to a value or to undefined. `connectives`,
//! `operators` and `bits` implement the operators.
//!
//! Values are borrowed from the document or the plan where possible ([`Evaluated`]). While an
//! operand is evaluated, the operands before it are counted as held. Types never cause an error: an
//! operand of another type makes the result undefined. Errors are limits (work, memory, size) and
//! invalid regular expressions.
//!
//! `statement` (`Select::all_results`) runs subqueries. It is the one call to a higher module,
//! because queries contain expressions and expressions contain queries.

mod bits;
pub(crate) mod building;
mod connectives;
mod env;
mod operators;

pub use env::{CompleteDocument, Env};

use document::{ArrayRef, Value, ValueRef};
use evaluation::{Error, Evaluated, owned_bytes, without_spare_room};

use crate::{
    functions::Function,
    like::Like,
    logic,
    number::to_i64,
    plan::{Binary, Expr, Set, Subquery, Unary},
    work::work_of_comparing,
};

impl Expr {
    /// Evaluates the expression. Returns [`Evaluated::Missing`] if it is undefined.
    pub fn eval<'a>(&'a self, env: &mut Env<'a>) -> Result<Evaluated<'a>, Error> {
        env.spend_step()?;
        // Each arm only calls a function, because recursion repeats this stack frame for every
        // level of the tree. Arms are in the order of the enum.
        match self {
            Self::Constant(value) => Ok(Evaluated::Ref(value.as_ref())),
            Self::Undefined => Ok(Evaluated::Missing),
            Self::Slot(slot) => env.slot_value(*slot),
            Self::Path(slot, names) => env.value_at(*slot, names),
            Self::Steps(base, steps) => eval_steps(base, steps, env),
            Self::Array(items) => eval_array(items, env),
            Self::Object(fields) => building::build_object(fields, env),
            Self::Not(inner) => eval_not(inner, env),
            Self::And(items) => connectives::eval_and(items, env),
            Self::Or(items) => connectives::eval_or(items, env),
            Self::Chain(first, rest) => eval_chain(first, rest, env),
            Self::Unary(operator, inner) => eval_unary(*operator, inner, env),
            Self::Concat(items) => eval_concat(items, env),
            Self::Between(parts) => eval_between(parts, env),
            Self::In(value, items) => connectives::eval_in(value, items, env),
            Self::Among(value, set) => eval_among(value, set, env),
            Self::Like(value, like) => eval_like_known(value, like, env),
            Self::LikeAny(value, pattern, escape) => eval_like_any(value, pattern, *escape, env),
            Self::Coalesce(items) => eval_coalesce(items, env),
            Self::Conditional(parts) => eval_conditional(parts, env),
            Self::Call(function, args) => eval_call(function, args, env),
            Self::Subquery(kind, select) => eval_subquery(*kind, select, env),
        }
    }

    /// Returns whether the expression is true, and not false or undefined, as WHERE requires.
    pub fn is_true<'a>(&'a self, env: &mut Env<'a>) -> Result<bool, Error> {
        Ok(logic::truth_of(&self.eval(env)?) == Some(true))
    }
}

/// Evaluates NOT, which is undefined unless the operand is a boolean.
fn eval_not<'a>(inner: &'a Expr, env: &mut Env<'a>) -> Result<Evaluated<'a>, Error> {
    Ok(logic::truth_value(logic::truth_of(&inner.eval(env)?).map(|truth| !truth)))
}

fn eval_unary<'a>(
    operator: Unary,
    inner: &'a Expr,
    env: &mut Env<'a>,
) -> Result<Evaluated<'a>, Error> {
    let inner = inner.eval(env)?;
    Ok(match operator {
        Unary::Negate => operators::negated(&inner),
        Unary::Plus => operators::unary_plus(&inner),
        Unary::BitNot => bits::negate_bits(&inner),
    })
}

/// Evaluates BETWEEN as `low <= value AND value <= high`, in three-valued logic.
fn eval_between<'a>(parts: &'a [Expr; 3], env: &mut Env<'a>) -> Result<Evaluated<'a>, Error> {
    let [value, low, high] = parts;
    let value = value.eval(env)?;
    let (low, high) = env.while_holding(&value, |env| {
        let low = low.eval(env)?;
        let high = env.while_holding(&low, |env| high.eval(env))?;
        Ok((low, high))
    })?;
    spend_comparing(&value, &low, env)?;
    spend_comparing(&value, &high, env)?;
    let above = operators::compare_ordered(Binary::GreaterOrEqual, &value, &low);
    let below = operators::compare_ordered(Binary::LessOrEqual, &value, &high);
    Ok(logic::truth_value(logic::and_truths(above, below)))
}

fn spend_comparing(a: &Evaluated<'_>, b: &Evaluated<'_>, env: &Env<'_>) -> Result<(), Error> {
    match a.value().zip(b.value()).map_or(0, |(a, b)| work_of_comparing(a, b)) {
        0 => Ok(()),
        units => env.spend_bytes(units),
    }
}

/// IN with constants only, which are a set of keys: a long list costs no more than a short one.
fn eval_among<'a>(value: &'a Expr, set: &Set, env: &mut Env<'a>) -> Result<Evaluated<'a>, Error> {
    let value = value.eval(env)?;
    env.spend_keying(&value)?;
    Ok(logic::truth_value(set.contains(&value)))
}

/// Evaluates LIKE with a pattern that was parsed when the query was bound.
fn eval_like_known<'a>(
    value: &'a Expr,
    like: &Like,
    env: &mut Env<'a>,
) -> Result<Evaluated<'a>, Error> {
    let value = value.eval(env)?;
    match_like(&value, like, env)
}

/// LIKE with a computed pattern, which is parsed for every row; this is counted as work.
fn eval_like_any<'a>(
    value: &'a Expr,
    pattern: &'a Expr,
    escape: Option<char>,
    env: &mut Env<'a>,
) -> Result<Evaluated<'a>, Error> {
    let value = value.eval(env)?;
    let pattern = env.while_holding(&value, |env| pattern.eval(env))?;
    let text = pattern.value().and_then(ValueRef::as_str);
    let Some(text) = text else { return Ok(Evaluated::Missing) };
    env.spend_bytes(text.len().saturating_mul(size_of::<char>()))?;
    match_like(&value, &Like::new(text, escape), env)
}

/// Evaluates `??`: the first operand that is not undefined.
fn eval_coalesce<'a>(items: &'a [Expr], env: &mut Env<'a>) -> Result<Evaluated<'a>, Error> {
    for item in items {
        let value = item.eval(env)?;
        if value.value().is_some() {
            return Ok(value);
        }
    }
    Ok(Evaluated::Missing)
}

/// Evaluates `?:`; a condition that is not true selects the last operand.
fn eval_conditional<'a>(parts: &'a [Expr; 3], env: &mut Env<'a>) -> Result<Evaluated<'a>, Error> {
    let [condition, yes, no] = parts;
    if condition.is_true(env)? { yes.eval(env) } else { no.eval(env) }
}

/// Evaluates the arguments and calls a function. All arguments are counted as held until it
/// returns.
fn eval_call<'a>(
    function: &Function,
    args: &'a [Expr],
    env: &mut Env<'a>,
) -> Result<Evaluated<'a>, Error> {
    let mut values = Vec::with_capacity(args.len());
    let mut held = 0;
    for arg in args {
        let value = arg.eval(env)?;
        let bytes = owned_bytes(&value);
        env.hold_bytes(bytes)?;
        held += bytes;
        values.push(value);
    }
    let answer = function.run(&values, env.context(), env.held_bytes())?;
    env.release_bytes(held);
    Ok(answer)
}

/// Evaluates `base[step][step]`: a property or an element of a value, step by step.
fn eval_steps<'a>(
    base: &'a Expr,
    steps: &'a [Expr],
    env: &mut Env<'a>,
) -> Result<Evaluated<'a>, Error> {
    steps.iter().try_fold(base.eval(env)?, |value, step| {
        let step = env.while_holding(&value, |env| step.eval(env))?;
        element_of(value, &step, env)
    })
}

/// Returns the property of an object by name or the element of an array by position; undefined for
/// other types and if it does not exist. In a raw array the elements before the one at this
/// position are passed over, which is counted as work.
fn element_of<'a>(
    base: Evaluated<'a>,
    step: &Evaluated<'a>,
    env: &Env<'a>,
) -> Result<Evaluated<'a>, Error> {
    /// Returns the property or element of `base` that `step` selects, and how many others were
    /// passed over.
    fn find<'v>(base: ValueRef<'v>, step: ValueRef<'_>) -> (Option<ValueRef<'v>>, usize) {
        match (base, step) {
            (ValueRef::Document(fields), ValueRef::String(name)) => fields.search(name),
            (ValueRef::Array(ArrayRef::Tree(values)), at) => {
                let at = to_i64(at).and_then(|at| usize::try_from(at).ok());
                (at.and_then(|at| values.get(at)).map(Value::as_ref), 0)
            }
            (ValueRef::Array(ArrayRef::Raw(raw)), at) => {
                let at = to_i64(at).and_then(|at| usize::try_from(at).ok());
                // No BSON element is shorter than three bytes.
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
            found.map_or(Ok(()), |found| env.spend_touching(found))?;
            Ok(found.into())
        }
        Evaluated::Owned(value) => {
            let (found, others) = find(value.as_ref(), step);
            env.passed_over(others)?;
            Ok(found.map(ValueRef::to_value).into())
        }
        _ => Ok(Evaluated::Missing),
    }
}

/// Evaluates an array literal; undefined items are left out.
fn eval_array<'a>(items: &'a [Expr], env: &mut Env<'a>) -> Result<Evaluated<'a>, Error> {
    building::build_array(items.iter().map(|item| |env: &mut Env<'a>| item.eval(env)), env)
}

/// Applies operators of one precedence from left to right: `a - b + c` is `(a - b) + c`. It is a
/// loop over a list, so that a long chain needs no deep stack.
fn eval_chain<'a>(
    first: &'a Expr,
    rest: &'a [(Binary, Expr)],
    env: &mut Env<'a>,
) -> Result<Evaluated<'a>, Error> {
    let mut left = first.eval(env)?;
    for (operator, right) in rest {
        let right = env.while_holding(&left, |env| right.eval(env))?;
        spend_comparing(&left, &right, env)?;
        left = operators::apply_binary(*operator, &left, &right);
    }
    Ok(left)
}

/// `||`: undefined unless all operands are strings. The remaining operands are evaluated in any
/// case, since they may fail.
fn eval_concat<'a>(items: &'a [Expr], env: &mut Env<'a>) -> Result<Evaluated<'a>, Error> {
    let mut text = String::new();
    let mut whole = true;
    for item in items {
        let value = item.eval(env)?;
        match value.value().and_then(ValueRef::as_str) {
            Some(part) if whole => {
                env.spend_bytes(part.len())?;
                env.hold_bytes(part.len())?;
                text.push_str(part);
                if document::MAX_DOCUMENT_BYTES < text.len() {
                    return Err(evaluation::too_large(text.len()));
                }
            }
            _ => whole = false,
        }
    }
    env.release_bytes(text.len());
    Ok(if whole {
        without_spare_room(Evaluated::Owned(Value::String(text)))
    } else {
        Evaluated::Missing
    })
}

/// Evaluates LIKE, which is undefined if the value is not a string.
fn match_like<'a>(
    value: &Evaluated<'a>,
    like: &Like,
    env: &Env<'a>,
) -> Result<Evaluated<'a>, Error> {
    match value.value().and_then(ValueRef::as_str) {
        Some(text) => Ok(logic::truth_value(Some(like.matches_text(text, &env.context().budget)?))),
        None => Ok(Evaluated::Missing),
    }
}

/// Runs a subquery to its end, over the values of the outer names. EXISTS and the scalar forms stop
/// at the first result.
fn eval_subquery<'a>(
    kind: Subquery,
    select: &'a crate::plan::Select,
    env: &mut Env<'a>,
) -> Result<Evaluated<'a>, Error> {
    let most = match kind {
        Subquery::Exists | Subquery::Scalar | Subquery::First => 1,
        _ => usize::MAX,
    };
    let (mut values, held) = select.all_results(env, most)?;
    env.release_bytes(held);
    Ok(match kind {
        Subquery::Exists => logic::truth_value(Some(!values.is_empty())),
        Subquery::Scalar | Subquery::First => {
            values.into_iter().next().unwrap_or(Evaluated::Missing)
        }
        Subquery::Last => values.pop().unwrap_or(Evaluated::Missing),
        Subquery::All => logic::truth_value(Some(
            values.iter().all(|value| logic::truth_of(value) == Some(true)),
        )),
        Subquery::Array => {
            return building::build_array(
                values.into_iter().map(|value| |_: &mut Env<'a>| Ok(value)),
                env,
            );
        }
    })
}
