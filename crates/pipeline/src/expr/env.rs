//! The environment of an expression: the document, the operation and the bound variables.
//!
//! Variables are in a linked list of scopes on the stack, the innermost first. A form, which is an
//! expression such as `$let` or `$map` that binds variables for its body, pushes a scope before it
//! evaluates the body and pops it afterwards, so that a variable may borrow from the form's own
//! values. All variables of one form are in one scope, since a request may bind a hundred thousand.

use document::{DocRef, Path, ValueRef};
use evaluation::{Context, Error, Evaluated, Growth, Kind, check_held};

use crate::{
    invalid_request,
    path::{self, read_path},
};

/// Maximum product of the iterations of nested forms over arrays: three nested `$map` over a
/// thousand elements would be a billion.
const MAX_ITERATIONS: u64 = 100_000_000;

/// Number of variables in a scope above which they are sorted by name for a binary search: a
/// request may bind a hundred thousand.
const WIDE: usize = 16;

/// The environment of an expression. It only borrows, so a modified copy for each level costs
/// nothing.
#[derive(Clone, Copy, Debug)]
pub struct Env<'a> {
    /// The document that the expression is evaluated over: `$$ROOT`.
    pub root: DocRef<'a>,
    /// The context of the operation.
    pub context: &'a Context,
    scope: Option<&'a VariableScope<'a>>,
    /// Bytes held by the evaluation around the expression; the expression may use that much less.
    held: usize,
    /// The product of the numbers of iterations of all enclosing `$map`, `$filter` and `$reduce`.
    iterations: u64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Variable<'a> {
    /// The variable's name, without the `$$`.
    pub(crate) name: &'a str,
    /// The variable's value; `None` if it is missing.
    pub(crate) value: Option<ValueRef<'a>>,
}

/// The variables that one form (such as `$let`) binds, and the enclosing scope. It lies on the
/// stack frame that evaluates the form.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VariableScope<'a> {
    /// The variables: in the order of the request if there are few, sorted by name if there are
    /// many. If several have the same name, the last one is used.
    bound: &'a [Variable<'a>],
    outer: Option<&'a VariableScope<'a>>,
}

impl<'a> VariableScope<'a> {
    /// Creates a scope inside `outer`.
    pub(crate) fn new(bound: &'a mut [Variable<'a>], outer: Option<&'a VariableScope<'a>>) -> Self {
        if WIDE < bound.len() {
            // A stable sort, so that variables with one name stay in order.
            bound.sort_by(|a, b| a.name.cmp(b.name));
        }
        Self { bound, outer }
    }

    /// Returns the variable of this scope with this name.
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
    /// Starts an evaluation over a document, without variables. It resets the budget of one
    /// evaluation, which nested forms share.
    pub fn new(root: DocRef<'a>, context: &'a Context) -> Self {
        context.begin_evaluation();
        Self { root, context, scope: None, held: 0, iterations: 1 }
    }

    pub(crate) fn scope(&self) -> Option<&'a VariableScope<'a>> {
        self.scope
    }

    /// Returns the environment with a further scope.
    pub(crate) fn with_scope<'b>(&self, scope: &'b VariableScope<'b>) -> Env<'b>
    where
        'a: 'b,
    {
        Env { scope: Some(scope), ..*self }
    }

    /// Returns the environment of an expression while the evaluation around it holds `bytes` more.
    /// Fails if that exceeds the memory limits.
    pub fn with_held(&self, bytes: usize) -> Result<Self, Error> {
        let held = self.held.saturating_add(bytes);
        check_held(held, &self.context.operation_memory)?;
        Ok(Self { held, ..*self })
    }

    /// Starts the accounting of a value that the expression builds.
    pub(crate) fn new_growth(&self) -> Growth<'a> {
        Growth::with_held(self.held, self.context)
    }

    /// Returns the environment of a body that a form evaluates `times` times. Fails if the total
    /// number of iterations would be too large. An empty array counts as one iteration.
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

    /// Returns the value of a variable, or the value at a path below it. As with field paths, a
    /// path below an array is read in each element.
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

    /// Returns the value of a variable: bound by a form, by the request (`let`), or `CURRENT`,
    /// which is the document unless a stage binds it. The parser does not check whether names are
    /// bound, so an unbound one fails here.
    fn look_up(&self, name: &str) -> Result<Option<ValueRef<'a>>, Error> {
        let mut scope = self.scope;
        // Inner variables hide outer ones with the same name.
        while let Some(form) = scope {
            if let Some(variable) = form.find(name) {
                return Ok(variable.value);
            }
            scope = form.outer;
        }
        match self.context.constants.get(name) {
            // A variable of a join whose value was missing in the row.
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
                // Each name is bound twice, except possibly the last one.
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
