//! FROM and JOIN: which slot each name has and where its values come from.
//!
//! The first name of FROM is special: in `FROM c` it is the stored document, whatever it is called.
//! Anything deeper, such as `FROM c.list` or `JOIN x IN c.list`, is evaluated from the document for
//! each row.

use std::sync::Arc;

use select::plan::{DOCUMENT, Expr, Input, Select, Source, Window};

use super::Binder;
use crate::{
    ast::{self, Collection, PathStep},
    error::{Fault, Span},
};

impl<'q> Binder<'q> {
    /// Binds the sources in order; each may use the names before it.
    /// A name may stand once in a query; one of an outer query may be used again and hides that
    /// one.
    pub(super) fn bind_from(&mut self, inputs: &'q [ast::Input]) -> Result<Vec<Source>, Fault> {
        let mut sources = Vec::with_capacity(inputs.len());
        // Queries inside FROM are bound meanwhile and look at it.
        self.current_frame().enters = true;
        for input in inputs {
            // The name is added after its source is bound: a source cannot use its own name.
            let source = self.bind_source(input, &mut sources)?;
            if let Some(name) = name_of(input) {
                if self.current_frame().names.iter().any(|(known, _)| *known == name) {
                    return Err(Fault::Duplicate(input.at.0, name));
                }
                let slot = source.slot;
                self.current_frame().names.push((name, slot));
            }
            sources.push(source);
        }
        self.current_frame().enters = false;
        Ok(sources)
    }

    /// The source of a name. One that it is made of (the results that it goes over) is put before
    /// it.
    /// `before` holds the sources so far. Fails for a path that begins with a name nobody gave,
    /// unless it is the first of the outermost FROM, where any name stands for the document.
    fn bind_source(
        &mut self,
        input: &'q ast::Input,
        before: &mut Vec<Source>,
    ) -> Result<Source, Fault> {
        // Only what is in FROM, all the way, has the documents to itself.
        let outermost = before.is_empty()
            && self.frames.iter().all(|frame| frame.enters && frame.names.is_empty());
        let of = match &input.of {
            Collection::Query(query) => {
                let results = self.bind_results(query, outermost)?;
                if !input.iterates {
                    return Ok(results);
                }
                // The elements of each result.
                let elements = Expr::Slot(results.slot);
                before.push(results);
                elements
            }
            Collection::Path { root, at, steps } => {
                let root = match self.find_name(root) {
                    None if outermost => DOCUMENT,
                    _ => self.resolve_name(
                        root,
                        Span { end: at.0.start + root.len(), ..at.0 },
                        at.0,
                    )?,
                };
                // The document itself: nothing has to be evaluated for it.
                if root == DOCUMENT && steps.is_empty() && !input.iterates && outermost {
                    return Ok(Source { slot: DOCUMENT, input: Input::Root });
                }
                self.path_in_slot(root, steps)?
            }
        };
        let input = if input.iterates { Input::Elements(of) } else { Input::Value(of) };
        Ok(Source { slot: self.next_slot(), input })
    }

    /// A query in FROM. One over the documents whose results need all of them (an order, a group, a
    /// limit) is collected before the first row; one that gives each document results of its own
    /// runs row by row.
    /// A query that stands inside another one's row is never collected: its results depend on the
    /// row.
    fn bind_results(&mut self, query: &'q ast::Query, outermost: bool) -> Result<Source, Fault> {
        let select = self.bind_inner_query(query)?;
        let slot = self.next_slot();
        // Results of all documents cannot be told from one document.
        let of = if outermost && !is_local(&select) {
            Input::Collected(Arc::new(select))
        } else {
            Input::Results(Box::new(select))
        };
        Ok(Source { slot, input: of })
    }

    /// A path inside a slot: names as far as they go, then computed steps.
    /// `c.a.b` becomes one path that is walked in the document's bytes; from the first computed
    /// step on each step is an expression of its own.
    pub(super) fn path_in_slot(
        &mut self,
        slot: usize,
        steps: &'q [PathStep],
    ) -> Result<Expr, Fault> {
        let mut names = Vec::new();
        let mut computed = Vec::new();
        for step in steps {
            match self.bind_step(step)? {
                Ok(name) if computed.is_empty() => names.push(name),
                step => computed.push(step_value(step)),
            }
        }
        let path = if names.is_empty() { Expr::Slot(slot) } else { Expr::Path(slot, names) };
        Ok(stepped(path, computed))
    }

    /// Steps inside any value.
    /// For bases that have no slot, such as the result of a function.
    pub(super) fn steps_in_value(
        &mut self,
        base: Expr,
        steps: &'q [PathStep],
    ) -> Result<Expr, Fault> {
        let steps = steps.iter().map(|step| self.bind_step(step).map(step_value));
        Ok(stepped(base, steps.collect::<Result<_, _>>()?))
    }

    /// The name that a step is, or the expression that computes it.
    /// A parameter in brackets is a constant by now, so that `c[@name]` is as fast as `c.name`.
    fn bind_step(&mut self, step: &'q PathStep) -> Result<Result<String, Expr>, Fault> {
        Ok(match step {
            PathStep::Name(name) => Ok(name.clone()),
            PathStep::Computed(node) => match self.bind_expr(node)? {
                Expr::Constant(document::Value::String(name)) => Ok(name),
                other => Err(other),
            },
        })
    }
}

/// A step of an expression: the constant that a name is, or what computes it.
fn step_value(step: Result<String, Expr>) -> Expr {
    step.map_or_else(|computed| computed, |name| Expr::Constant(document::Value::String(name)))
}

/// A value, or what these steps lead to in it.
fn stepped(base: Expr, steps: Vec<Expr>) -> Expr {
    if steps.is_empty() { base } else { Expr::Steps(Box::new(base), steps) }
}

/// Whether each document has results of its own, whatever the others are.
/// That is so without groups, order, DISTINCT, TOP, OFFSET and LIMIT.
fn is_local(select: &Select) -> bool {
    select.scans_documents()
        && select.streams_rows()
        && select.clauses().window == Window::default()
}

/// The name that an input has.
/// A query without an alias has none: its values cannot be named. A computed step gives none
/// either.
fn name_of(input: &ast::Input) -> Option<String> {
    if let Some(alias) = &input.alias {
        return Some(alias.clone());
    }
    match &input.of {
        Collection::Query(_) => None,
        Collection::Path { root, steps, .. } => match steps.last() {
            None => Some(root.clone()),
            Some(PathStep::Name(name)) => Some(name.clone()),
            Some(PathStep::Computed(_)) => None,
        },
    }
}
