//! Decides whether two expressions always have the same value.

use std::collections::BTreeMap;

use document::Value;
use select::plan::{Binary, Expr, Projection, Subquery};

use super::paths::constant_choice;
use crate::ast::is_same_step;

/// An expression after the steps of a path into constructed values have been taken.
enum Reduced<'e> {
    /// A path into the value of a slot.
    Path(usize, Vec<Value>),
    /// An object, with its defined properties.
    Object(BTreeMap<&'e str, &'e Expr>),
    /// Any other expression, without steps.
    Other(&'e Expr),
}

/// Returns whether two expressions always have the same value. Returns false for some that do,
/// such as two conditional expressions.
pub(super) fn have_same_value(a: &Expr, b: &Expr) -> bool {
    match (reduced(a, Vec::new()), reduced(b, Vec::new())) {
        (Some(Reduced::Path(a, steps)), Some(Reduced::Path(b, others))) => {
            let same = |(step, other): (&Value, &Value)| is_same_step(step, other);
            a == b && steps.len() == others.len() && steps.iter().zip(&others).all(same)
        }
        (Some(Reduced::Object(a)), Some(Reduced::Object(b))) => {
            let has_same = |(name, value): (&&str, &&Expr)| {
                b.get(name).is_some_and(|other| have_same_value(value, other))
            };
            a.len() == b.len() && a.iter().all(has_same)
        }
        (Some(Reduced::Other(a)), Some(Reduced::Other(b))) => match (a, b) {
            (Expr::Undefined, Expr::Undefined) => true,
            (Expr::Constant(a), Expr::Constant(b)) => a == b,
            (Expr::Array(a), Expr::Array(b)) => have_same_values(a, b),
            (Expr::Call(a, args), Expr::Call(b, others)) => {
                a.name == b.name && have_same_values(args, others)
            }
            (Expr::Chain(a, rest), Expr::Chain(b, others)) => {
                let same = |((operator, a), (other, b)): (&(Binary, Expr), &(Binary, Expr))| {
                    operator == other && have_same_value(a, b)
                };
                have_same_value(a, b)
                    && rest.len() == others.len()
                    && rest.iter().zip(others).all(same)
            }
            _ => false,
        },
        _ => false,
    }
}

/// Returns whether the expressions of two lists have the same values in the same order.
fn have_same_values(a: &[Expr], b: &[Expr]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| have_same_value(a, b))
}

/// Takes the steps of a path into an expression as far as the expression constructs its value.
/// `None` if a step is not constant or selects nothing.
fn reduced(expr: &Expr, mut steps: Vec<Value>) -> Option<Reduced<'_>> {
    match expr {
        Expr::Slot(slot) => Some(Reduced::Path(*slot, steps)),
        Expr::Path(slot, names) => {
            let names = names.iter().cloned().map(Value::String);
            Some(Reduced::Path(*slot, names.chain(steps).collect()))
        }
        Expr::Steps(of, more) => {
            let mut all = Vec::with_capacity(more.len() + steps.len());
            for step in more {
                let Expr::Constant(step) = step else { return None };
                all.push(step.clone());
            }
            all.append(&mut steps);
            reduced(of, all)
        }
        Expr::Conditional(parts) => reduced(constant_choice(parts.as_ref())?, steps),
        Expr::Call(function, parts) if function.name == "IIF" => {
            reduced(constant_choice(parts)?, steps)
        }
        Expr::Coalesce(values) => {
            let mut defined = values.iter().filter(|value| !matches!(value, Expr::Undefined));
            let first = defined.next()?;
            if defined.next().is_some() { None } else { reduced(first, steps) }
        }
        Expr::Subquery(Subquery::Scalar, select) => {
            let clauses = select.clauses();
            if !clauses.from.is_empty() || clauses.filter.is_some() || clauses.group.is_some() {
                return None;
            }
            match &clauses.projection {
                Projection::Star(_) => None,
                Projection::Value(of) => reduced(of, steps),
                Projection::Fields(fields) => reduced_object(fields, steps),
            }
        }
        Expr::Object(fields) => reduced_object(fields, steps),
        Expr::Array(items) if !steps.is_empty() => {
            let at = select::to_i64(steps.remove(0).as_ref())?;
            reduced(items.get(usize::try_from(at).ok()?)?, steps)
        }
        other => steps.is_empty().then_some(Reduced::Other(other)),
    }
}

/// Takes the steps of a path into an object.
fn reduced_object(fields: &[(String, Expr)], mut steps: Vec<Value>) -> Option<Reduced<'_>> {
    if steps.is_empty() {
        let defined = fields.iter().filter(|(_, value)| !matches!(value, Expr::Undefined));
        return Some(Reduced::Object(defined.map(|(name, of)| (name.as_str(), of)).collect()));
    }
    let Value::String(name) = steps.remove(0) else { return None };
    let (_, field) = fields.iter().find(|(field, _)| *field == name)?;
    reduced(field, steps)
}
