//! Forms: expressions that decide which of their parts are evaluated, and in which environment. A
//! body sees the variables that its form binds. Results borrowed from them are copied, since the
//! variables end with the form.
//!
//! ```text
//! $map: {input: [1, 2], as: "x", in: {$add: ["$$x", "$k"]}}     document {k: 10}
//!
//! scope   x = 1  ->  body 11
//! scope   x = 2  ->  body 12          result [11, 12]
//! ```
//!
//! Work and memory are counted at every step, not at the end: nested forms can build a large value
//! from a small request.

use std::sync::Arc;

use document::{ArrayRef, Document, Value, ValueRef};
use evaluation::{Error, Evaluated, STEP, Size, check_built};

use super::{Env, Expr, Variable, VariableScope, sorted::sort_values};
use crate::{invalid_request, shown, shown_or_missing, type_mismatch};

/// `$map`: evaluates a body for each element of an array.
#[derive(Clone, Debug)]
pub struct Mapping {
    /// The expression of the array.
    pub input: Expr,
    /// Name of the variable that holds the element.
    pub name: Arc<str>,
    /// Name of the variable that holds the element's index, if any.
    pub index: Option<Arc<str>>,
    /// The expression evaluated for each element.
    pub body: Expr,
}

/// `$filter`: selects the elements that meet a condition.
#[derive(Clone, Debug)]
pub struct Filtering {
    /// The expression of the array.
    pub input: Expr,
    /// Name of the variable that holds the element.
    pub name: Arc<str>,
    /// The condition on an element.
    pub condition: Expr,
    /// The expression of the maximum number of elements; absent for no limit.
    pub limit: Expr,
}

/// Evaluates a form. AND, OR, `$cond`, `$switch` and `$ifNull` stop at the part that decides, so
/// that errors in later parts do not occur. Results are borrowed from the document where nothing
/// was computed.
pub(super) fn evaluate_form<'e>(expr: &'e Expr, env: &Env<'e>) -> Result<Evaluated<'e>, Error> {
    match expr {
        Expr::Object(fields) => build_object(fields, env),
        Expr::Array(items) => build_array(items, env),
        Expr::And(parts) => {
            for part in parts {
                if !part.is_true(env)? {
                    return Ok(Evaluated::Owned(Value::Bool(false)));
                }
            }
            Ok(Evaluated::Owned(Value::Bool(true)))
        }
        Expr::Or(parts) => {
            for part in parts {
                if part.is_true(env)? {
                    return Ok(Evaluated::Owned(Value::Bool(true)));
                }
            }
            Ok(Evaluated::Owned(Value::Bool(false)))
        }
        Expr::Cond(parts) => {
            let [condition, yes, no] = &**parts;
            if condition.is_true(env)? {
                yes.evaluate_borrowed(env)
            } else {
                no.evaluate_borrowed(env)
            }
        }
        Expr::Switch(branches, default) => eval_switch(branches, default.as_deref(), env),
        // The last part is the result even if it is null.
        Expr::IfNull(parts) => {
            let mut last = Evaluated::Missing;
            for part in parts {
                last = part.evaluate_borrowed(env)?;
                if !last.is_nullish() {
                    break;
                }
            }
            Ok(last)
        }
        Expr::Let(variables, body) => let_in(variables, body, env),
        Expr::Map(mapping) => eval_map(mapping, env),
        Expr::Filter(filtering) => eval_filter(filtering, env),
        Expr::Reduce(parts) => eval_reduce(parts, env),
        Expr::Regex(call) => call.match_text(env),
        // Sorting compares each element several times; the work is counted before it starts.
        Expr::SortArray(input, by) => {
            let input = input.evaluate_borrowed(env)?;
            if input.is_nullish() {
                return Ok(Evaluated::Owned(Value::Null));
            }
            let Some(ValueRef::Array(values)) = input.value() else {
                return Err(type_mismatch(
                    2_942_504,
                    format!(
                        "The input argument to $sortArray must be an array, but was of type: {}",
                        input.type_name()
                    ),
                ));
            };
            let held = env.with_held(owned_memory(&input))?;
            let mut growth = held.new_growth();
            let mut values = growth.copy_values(values.iter())?;
            env.context.budget.spend_bounded(growth.memory_bytes().saturating_mul(4))?;
            sort_values(&mut values, by, env.context.collation());
            Ok(Evaluated::Owned(Value::Array(values)))
        }
        _ => Ok(Evaluated::Missing),
    }
}

/// Builds an object of computed fields, omitting missing values. Fields do not see each other.
fn build_object<'e>(fields: &'e [(String, Expr)], env: &Env<'e>) -> Result<Evaluated<'e>, Error> {
    let mut built = Document::new();
    let mut growth = env.new_growth();
    for (name, part) in fields {
        let got = part.evaluate_borrowed(&env.with_held(growth.memory_bytes())?)?;
        if let Some(value) = got.value() {
            growth.add_name(name)?;
            growth.add_size(Size::of_value(value))?;
        }
        if let Some(value) = got.into_value() {
            built.push(name.as_str(), value);
        }
    }
    checked_value(Value::Document(built), env)
}

/// Builds an array of computed elements; a missing value becomes null.
fn build_array<'e>(items: &'e [Expr], env: &Env<'e>) -> Result<Evaluated<'e>, Error> {
    let mut values = Vec::with_capacity(items.len());
    let mut growth = env.new_growth();
    for item in items {
        let got = item.evaluate_borrowed(&env.with_held(growth.memory_bytes())?)?;
        growth.add_size(Size::of_value(got.or_null()))?;
        values.push(got.into_value().unwrap_or(Value::Null));
    }
    checked_value(Value::Array(values), env)
}

/// Checks the size and depth of a built value and counts it as work. Each form checks its result,
/// since an outer one may multiply it.
fn checked_value<'e>(built: Value, env: &Env<'_>) -> Result<Evaluated<'e>, Error> {
    env.context.budget.spend_bounded(check_built(built.as_ref())?.memory)?;
    Ok(Evaluated::Owned(built))
}

/// `$switch`: the first branch whose case is true, else the default; an error without a default.
fn eval_switch<'e>(
    branches: &'e [(Expr, Expr)],
    default: Option<&'e Expr>,
    env: &Env<'e>,
) -> Result<Evaluated<'e>, Error> {
    for (case, then) in branches {
        if case.is_true(env)? {
            return then.evaluate_borrowed(env);
        }
    }
    match default {
        Some(default) => default.evaluate_borrowed(env),
        None => Err(invalid_request(
            40066,
            "$switch could not find a matching branch for an input, and no default was specified.",
        )),
    }
}

/// Evaluates a body and copies a borrowed result out of the scope. The copy is counted before it is
/// made.
fn eval_in_scope(body: &Expr, env: &Env<'_>) -> Result<Option<Value>, Error> {
    let got = body.evaluate_borrowed(env)?;
    if let Evaluated::Ref(value) = &got {
        let size = Size::of_value(*value);
        env.with_held(size.memory)?;
        env.context.budget.spend_bounded(size.memory)?;
    }
    Ok(got.into_value())
}

/// `$let`: all values are evaluated before any is bound, so that they do not see each other. With
/// `{vars: {a: 1, b: "$$a"}}` the `$$a` is that of an outer `$let`.
fn let_in<'e>(
    variables: &'e [(Arc<str>, Expr)],
    body: &'e Expr,
    env: &Env<'e>,
) -> Result<Evaluated<'e>, Error> {
    let mut held = 0;
    let mut values = Vec::with_capacity(variables.len());
    env.context.budget.spend_bounded(variables.len() * STEP)?;
    for (name, expr) in variables {
        let got = expr.evaluate_borrowed(&env.with_held(held)?)?;
        if let Evaluated::Owned(value) = &got {
            held += Size::of_value(value.as_ref()).memory;
        }
        values.push((name, got));
    }
    let mut bound: Vec<Variable<'_>> =
        values.iter().map(|(name, got)| Variable { name, value: got.value() }).collect();
    let scope = VariableScope::new(&mut bound, env.scope());
    eval_in_scope(body, &env.with_held(held)?.with_scope(&scope)).map(Evaluated::from)
}

/// Returns the elements of a form's input; `None` if it is null or missing, the error `otherwise`
/// if it is not an array.
fn array_elements<'g>(
    input: &'g Evaluated<'_>,
    otherwise: Error,
) -> Result<Option<ArrayRef<'g>>, Error> {
    match input.value() {
        None => Ok(None),
        Some(value) if value.is_nullish() => Ok(None),
        Some(ValueRef::Array(values)) => Ok(Some(values)),
        Some(_) => Err(otherwise),
    }
}

/// `$map`: evaluates the body for each element; a missing result becomes null. Null for an input
/// that is null or missing.
fn eval_map<'e>(mapping: &'e Mapping, env: &Env<'e>) -> Result<Evaluated<'e>, Error> {
    let input = mapping.input.evaluate_borrowed(env)?;
    let otherwise =
        type_mismatch(16883, format!("input to $map must be an array not {}", input.type_name()));
    let Some(values) = array_elements(&input, otherwise)? else {
        return Ok(Evaluated::Owned(Value::Null));
    };
    let whole = env.for_repetitions(values.len())?.with_held(owned_memory(&input))?;
    let mut built = Vec::new();
    let mut growth = whole.new_growth();
    for (position, value) in values.iter().enumerate() {
        // The loop itself is work, even if the body does nothing.
        env.context.budget.spend_bounded(STEP)?;
        let env = whole.with_held(growth.memory_bytes())?;
        let position = Value::Int64(i64::try_from(position).unwrap_or(i64::MAX));
        let element = Variable { name: &mapping.name, value: Some(value) };
        // The index precedes the element, so that an element of the same name hides it.
        let name = mapping.index.as_deref().unwrap_or(element.name);
        let mut bound = [Variable { name, value: Some(position.as_ref()) }, element];
        let scope = VariableScope::new(&mut bound, env.scope());
        let made = eval_in_scope(&mapping.body, &env.with_scope(&scope))?.unwrap_or(Value::Null);
        growth.add_size(Size::of_value(made.as_ref()))?;
        growth.push_value(&mut built, made)?;
    }
    checked_value(Value::Array(built), env)
}

/// Returns the memory of a computed value; a borrowed one is counted elsewhere.
fn owned_memory(got: &Evaluated<'_>) -> usize {
    if let Evaluated::Owned(value) = got { Size::of_value(value.as_ref()).memory } else { 0 }
}

/// `$filter`: the elements for which the condition is true, up to a limit. Elements after the last
/// one needed are not evaluated. Null for an input that is null or missing.
fn eval_filter<'e>(filtering: &'e Filtering, env: &Env<'e>) -> Result<Evaluated<'e>, Error> {
    let input = filtering.input.evaluate_borrowed(env)?;
    let otherwise = type_mismatch(
        28651,
        format!("input to $filter must be an array not {}", input.type_name()),
    );
    let Some(values) = array_elements(&input, otherwise)? else {
        return Ok(Evaluated::Owned(Value::Null));
    };
    // Before the loop, so that a wrong limit is an error for an empty array, too.
    let most = filter_limit(&filtering.limit.evaluate_borrowed(env)?)?;
    let env = env.for_repetitions(values.len())?.with_held(owned_memory(&input))?;
    let mut kept = Vec::new();
    let mut growth = env.new_growth();
    for value in values.iter() {
        env.context.budget.spend_bounded(STEP)?;
        let mut bound = [Variable { name: &filtering.name, value: Some(value) }];
        let scope = VariableScope::new(&mut bound, env.scope());
        if filtering.condition.is_true(&env.with_scope(&scope))? {
            let value = growth.copy_value(value)?;
            growth.push_value(&mut kept, value)?;
            if kept.len() >= most {
                break;
            }
        }
    }
    env.context.budget.spend_bounded(growth.memory_bytes())?;
    Ok(Evaluated::Owned(Value::Array(kept)))
}

/// Parses the limit of `$filter`: a whole number above 0, such as `2.0`; null is no limit.
fn filter_limit(limit: &Evaluated<'_>) -> Result<usize, Error> {
    if limit.is_nullish() {
        return Ok(usize::MAX);
    }
    let number = limit.value().and_then(document::Number::of);
    let whole = number.and_then(document::Number::to_i64_exact);
    let Some(whole) = whole.and_then(|whole| i32::try_from(whole).ok()) else {
        return Err(invalid_request(
            327_391,
            format!(
                "$filter: limit must be represented as a 32-bit integral value: {}",
                shown_or_missing(limit)
            ),
        ));
    };
    if whole <= 0 {
        let text = format!("$filter: limit must be greater than 0: {whole}");
        return Err(invalid_request(327_392, text));
    }
    Ok(usize::try_from(whole).unwrap_or(usize::MAX))
}

/// `$reduce`: evaluates the body for each element, with the element as `$$this` and the result for
/// the elements before it, initially the initial value, as `$$value`.
/// `{$reduce: {input: [1, 2, 3], initialValue: 0, in: {$add: ["$$value", "$$this"]}}}` is 6. An
/// empty array yields the initial value; null for an input that is null or missing.
fn eval_reduce<'e>(parts: &'e [Expr; 3], env: &Env<'e>) -> Result<Evaluated<'e>, Error> {
    let [input, initial, body] = parts;
    let input = input.evaluate_borrowed(env)?;
    let otherwise = type_mismatch(
        40080,
        format!("$reduce requires that 'input' be an array, found: {}", shown(input.or_null())),
    );
    let Some(values) = array_elements(&input, otherwise)? else {
        return Ok(Evaluated::Owned(Value::Null));
    };
    let whole = env.for_repetitions(values.len())?.with_held(owned_memory(&input))?;
    let mut value = initial.evaluate(&whole)?;
    for this in values.iter() {
        env.context.budget.spend_bounded(STEP)?;
        let held = value.as_ref().map_or(0, |value| Size::of_value(value.as_ref()).memory);
        let env = whole.with_held(held)?;
        // The scope ends with this block, so the result must be owned.
        let made = {
            let mut bound = [
                Variable { name: "value", value: value.as_ref().map(Value::as_ref) },
                Variable { name: "this", value: Some(this) },
            ];
            let scope = VariableScope::new(&mut bound, env.scope());
            eval_in_scope(body, &env.with_scope(&scope))?
        };
        value = made;
    }
    Ok(Evaluated::from(value))
}
