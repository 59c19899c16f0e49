//! What an expression is evaluated over: the document, the operation and the bound variables.
//!
//! Variables are a linked list on the stack, the innermost first: a form binds one by putting a
//! link before its body and taking it away after it. Nothing is allocated, and a variable may
//! borrow from the form's own values.

use document::{DocRef, Path, ValueRef};
use evaluation::{Context, Error, Evaluated, Growth, Kind, check_held};

use crate::{
    failure::invalid_request,
    path::{self, read_path},
};

/// Iterations that nested forms over arrays may multiply to: three `$map` inside each other over a
/// thousand elements are a thousand million.
const MAX_ITERATIONS: u64 = 100_000_000;

/// What an expression is evaluated over. It is copied for every level, with what changes there.
/// Borrowing from one another, environments cost nothing to make.
#[derive(Clone, Copy, Debug)]
pub struct Env<'a> {
    /// The document: `$$ROOT`.
    pub root: DocRef<'a>,
    /// The operation.
    pub context: &'a Context,
    /// The innermost variable.
    scope: Option<&'a VariableScope<'a>>,
    /// Bytes that are held around the expression.
    /// Each expression may use what the limit leaves beside them.
    held: usize,
    /// How often forms around it repeat it.
    iterations: u64,
}

/// One bound variable and those bound around it.
/// It lives on the stack of the form that binds it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VariableScope<'a> {
    /// Its name, without the `$$`.
    pub(crate) name: &'a str,
    /// Its value; none for a missing one.
    pub(crate) value: Option<ValueRef<'a>>,
    /// The variable bound around it.
    pub(crate) outer: Option<&'a VariableScope<'a>>,
}

/// A variable with none around it.
pub(crate) fn single_variable<'a>(name: &'a str, value: ValueRef<'a>) -> VariableScope<'a> {
    VariableScope { name, value: Some(value), outer: None }
}

impl<'a> Env<'a> {
    /// A document of an operation, without further variables; an evaluation begins.
    /// The budget of one evaluation starts over; forms inside go on with the same one.
    pub fn new(root: DocRef<'a>, context: &'a Context) -> Self {
        context.begin_evaluation();
        Self { root, context, scope: None, held: 0, iterations: 1 }
    }

    /// The innermost variable.
    pub(crate) fn scope(&self) -> Option<&'a VariableScope<'a>> {
        self.scope
    }

    /// The same with another innermost variable.
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
        while let Some(bound) = scope {
            if bound.name == name {
                return Ok(bound.value);
            }
            scope = bound.outer;
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
