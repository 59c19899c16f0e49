//! FROM and JOIN: which slot each name has and where its values come from.

use std::sync::Arc;

use select::plan::{DOCUMENT, Expr, Input, Select, Source, Window};

use super::Binder;
use crate::{
    ast::{self, Collection, Step},
    error::{Fault, Span},
};

impl<'q> Binder<'q> {
    pub(super) fn from(&mut self, inputs: &'q [ast::Input]) -> Result<Vec<Source>, Fault> {
        let mut sources = Vec::with_capacity(inputs.len());
        self.frame().enters = true;
        for input in inputs {
            let source = self.source(input, &mut sources)?;
            if let Some(name) = name_of(input) {
                if self.frame().names.iter().any(|(known, _)| *known == name) {
                    return Err(Fault::Duplicate(input.at.0, name));
                }
                let slot = source.slot;
                self.frame().names.push((name, slot));
            }
            sources.push(source);
        }
        self.frame().enters = false;
        Ok(sources)
    }

    /// The source of a name; one that it is made of goes before it.
    fn source(&mut self, input: &'q ast::Input, before: &mut Vec<Source>) -> Result<Source, Fault> {
        // Only what is in FROM, all the way, has the documents to itself.
        let outermost = before.is_empty()
            && self.frames.iter().all(|frame| frame.enters && frame.names.is_empty());
        let of = match &input.of {
            Collection::Query(query) => {
                let results = self.results(query, outermost)?;
                if !input.iterates {
                    return Ok(results);
                }
                // The elements of each result.
                let elements = Expr::Slot(results.slot);
                before.push(results);
                elements
            }
            Collection::Path { root, at, steps } => {
                let root = match self.find(root) {
                    None if outermost => DOCUMENT,
                    _ => self.resolve(root, Span { end: at.0.start + root.len(), ..at.0 }, at.0)?,
                };
                if root == DOCUMENT && steps.is_empty() && !input.iterates && outermost {
                    return Ok(Source { slot: DOCUMENT, input: Input::Root });
                }
                self.path(root, steps)?
            }
        };
        let input = if input.iterates { Input::Elements(of) } else { Input::Value(of) };
        Ok(Source { slot: self.slot(), input })
    }

    fn results(&mut self, query: &'q ast::Query, outermost: bool) -> Result<Source, Fault> {
        let select = self.query(query)?;
        let slot = self.slot();
        let of = if outermost && !is_local(&select) {
            Input::Collected(Arc::new(select))
        } else {
            Input::Results(Box::new(select))
        };
        Ok(Source { slot, input: of })
    }

    /// A path inside a slot.
    pub(super) fn path(&mut self, slot: usize, steps: &'q [Step]) -> Result<Expr, Fault> {
        let mut names = Vec::new();
        let mut rest = steps.iter();
        let mut expr = None;
        for step in rest.by_ref() {
            match self.step(step)? {
                Ok(name) => names.push(name),
                Err(computed) => {
                    expr = Some(computed);
                    break;
                }
            }
        }
        let mut path = if names.is_empty() { Expr::Slot(slot) } else { Expr::Path(slot, names) };
        if let Some(computed) = expr {
            path = Expr::Step(Box::new(path), Box::new(computed));
            path = self.steps(path, rest.as_slice())?;
        }
        Ok(path)
    }

    /// Steps inside any value.
    pub(super) fn steps(&mut self, base: Expr, steps: &'q [Step]) -> Result<Expr, Fault> {
        steps.iter().try_fold(base, |base, step| {
            let step = self.step(step)?.map_or_else(
                |computed| computed,
                |name| Expr::Constant(document::Value::String(name)),
            );
            Ok(Expr::Step(Box::new(base), Box::new(step)))
        })
    }

    /// The name that a step is, or what computes it.
    fn step(&mut self, step: &'q Step) -> Result<Result<String, Expr>, Fault> {
        Ok(match step {
            Step::Name(name) => Ok(name.clone()),
            Step::Computed(node) => match self.expr(node)? {
                Expr::Constant(document::Value::String(name)) => Ok(name),
                other => Err(other),
            },
        })
    }
}

/// Whether each document has results of its own, whatever the others are.
fn is_local(select: &Select) -> bool {
    select.scans_documents()
        && select.streams_rows()
        && select.clauses().window == Window::default()
}

/// The name that an input has.
fn name_of(input: &ast::Input) -> Option<String> {
    if let Some(alias) = &input.alias {
        return Some(alias.clone());
    }
    match &input.of {
        Collection::Query(_) => None,
        Collection::Path { root, steps, .. } => match steps.last() {
            None => Some(root.clone()),
            Some(Step::Name(name)) => Some(name.clone()),
            Some(Step::Computed(_)) => None,
        },
    }
}
