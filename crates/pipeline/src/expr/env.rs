//! What an expression is evaluated over: the document, the operation and the bound variables.
//!
//! Variables are a linked list on the stack, the innermost first: a form binds some by putting a
//! link before its body and taking it away after it, so that a variable may borrow from the form's
//! own values. All variables of one form are one link: a request may bind a hundred thousand.

use document::{DocRef, Path, ValueRef};
use evaluation::{Context, Error, Evaluated, Growth, Kind, check_held};

use crate::{
    failure::invalid_request,
    path::{self, read_path},
};

/// Iterations that nested forms over arrays may multiply to: three `$map` inside each other over a
/// thousand elements are a thousand million.
const MAX_ITERATIONS: u64 = 100_000_000;

/// Variables of one form from which they are found by their order: a request may bind a hundred
/// thousand.
const WIDE: usize = 16;

/// What an expression is evaluated over. It is copied for every level, with what changes there.
/// Borrowing from one another, environments cost nothing to make.
#[derive(Clone, Copy, Debug)]
pub struct Env<'a> {
    /// The document: `$$ROOT`.
    pub root: DocRef<'a>,
    /// The operation.
    pub context: &'a Context,
    /// The innermost variables.
    scope: Option<&'a VariableScope<'a>>,
    /// Bytes that are held around the expression.
    /// Each expression may use what the limit leaves beside them.
    held: usize,
    /// How often forms around it repeat it.
    iterations: u64,
}

/// A bound variable.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Variable<'a> {
    /// Its name, without the `$$`.
    pub(crate) name: &'a str,
    /// Its value; none for a missing one.
    pub(crate) value: Option<ValueRef<'a>>,
}

/// The variables that one form binds, and those bound around it.
/// It lives on the stack of the form that binds them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VariableScope<'a> {
    /// Few in the order of the request, many in the order of their names. A later one hides an
    /// earlier one of the same name.
    bound: &'a [Variable<'a>],
    /// The variables bound around them.
    outer: Option<&'a VariableScope<'a>>,
}

impl<'a> VariableScope<'a> {
    /// These variables inside those of `outer`.
    pub(crate) fn new(bound: &'a mut [Variable<'a>], outer: Option<&'a VariableScope<'a>>) -> Self {
        if WIDE < bound.len() {
            // Those of one name stay in their order.
            bound.sort_by(|a, b| a.name.cmp(b.name));
        }
        Self { bound, outer }
    }

    /// The variable of this name that these bind.
    fn find(&self, name: &str) -> Option<&Variable<'a>> {
        if self.bound.len() <= WIDE {
            return self.bound.iter().rfind(|variable| variable.name == name);
        }
        let behind = self.bound.partition_point(|variable| variable.name <= name);
        let last = self.bound.get(behind.checked_sub(1)?);
        last.filter(|variable| variable.name == name)
    }
}

impl<'a> Env<'a> {
    /// A document of an operation, without further variables; an evaluation begins.
    /// The budget of one evaluation starts over; forms inside go on with the same one.
    pub fn new(root: DocRef<'a>, context: &'a Context) -> Self {
        context.begin_evaluation();
        Self { root, context, scope: None, held: 0, iterations: 1 }
    }

    /// The innermost variables.
    pub(crate) fn scope(&self) -> Option<&'a VariableScope<'a>> {
        self.scope
    }

    /// The same with more variables, innermost.
    pub(crate) fn with_scope<'b>(&self, scope: &'b VariableScope<'b>) -> Env<'b>
    where
        'a: 'b,
    {
        Env { scope: Some(scope), ..*self }
    }

    /// The same while `bytes` more are held around it; fails when that would be too much.
    pub fn with_held(&self, bytes: usize) -> Result<Self, Error> {
        let held = self.held.saturating_add(bytes);
        check_held(held, &self.context.holding)?;
        Ok(Self { held, ..*self })
    }

    /// The account of what an expression builds over it, empty so far.
    pub(crate) fn new_growth(&self) -> Growth<'a> {
        Growth::with_held(self.held, self.context)
    }

    /// The same below a form that evaluates its body `times` times.
    /// Fails before anything runs that would take too many steps. An empty array counts as one.
    pub(crate) fn for_repetitions(&self, times: usize) -> Result<Self, Error> {
        let times = u64::try_from(times.max(1)).unwrap_or(u64::MAX);
        let iterations = self.iterations.saturating_mul(times);
        if MAX_ITERATIONS < iterations {
            return Err(Error::new(
                Kind::TooLarge,
                146,
                "nested expressions over arrays take more steps than allowed",
            ));
        }
        Ok(Self { iterations, ..*self })
    }

    /// A variable, or what lies below it at a path.
    /// A path below an array is read in each element, as a field path is.
    pub(crate) fn read_variable(
        &self,
        name: &str,
        below: Option<&Path>,
    ) -> Result<Evaluated<'a>, Error> {
        let Some(value) = self.look_up(name)? else { return Ok(Evaluated::Missing) };
        Ok(match (below, value) {
            (None, value) => Evaluated::Ref(value),
            (Some(below), ValueRef::Document(fields)) => read_path(fields, below, 0),
            (Some(below), ValueRef::Array(values)) => path::read_in_array(values, below, 0),
            _ => Evaluated::Missing,
        })
    }

    /// The value of a variable: bound by a form, by the request (`let`), or `CURRENT`, which is the
    /// document unless a stage binds it.
    /// The parser does not know which names are bound, so that an unbound one fails here.
    fn look_up(&self, name: &str) -> Result<Option<ValueRef<'a>>, Error> {
        let mut scope = self.scope;
        // The innermost of a name hides those around it.
        while let Some(form) = scope {
            if let Some(variable) = form.find(name) {
                return Ok(variable.value);
            }
            scope = form.outer;
        }
        match self.context.constants.get(name) {
            // A variable of a join that was missing in its row.
            Some(document::Value::Undefined) => Ok(None),
            Some(value) => Ok(Some(value.as_ref())),
            None if name == "CURRENT" => Ok(Some(ValueRef::Document(self.root))),
            None => Err(invalid_request(17276, format!("Use of undefined variable: {name}"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_found_however_many_a_form_binds() {
        for count in [0, 1, 2, WIDE, WIDE + 1, 1000] {
            let names: Vec<String> = (0..count).map(|at| format!("v{}", at / 2)).collect();
            let mut bound: Vec<Variable<'_>> = (0..)
                .zip(&names)
                .map(|(at, name)| Variable { name, value: Some(ValueRef::Int32(at)) })
                .collect();
            let scope = VariableScope::new(&mut bound, None);
            for (at, name) in names.iter().enumerate() {
                // Each name is bound twice, but perhaps the last one.
                let last = (at | 1).min(count - 1);
                let found = scope.find(name).and_then(|variable| variable.value);
                let found = found.map(ValueRef::to_value);
                assert_eq!(found, i32::try_from(last).ok().map(document::Value::Int32), "{name}");
            }
            for name in ["", "u", "v", "v1x", "z"] {
                assert!(scope.find(name).is_none(), "{name:?} of {count}");
            }
        }
    }
}
