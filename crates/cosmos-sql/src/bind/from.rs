//! FROM and JOIN: which slot each name has and where its values come from.
//!
//! The first name of FROM is special: in `FROM c` it is the stored document, whatever it is called.
//! Anything deeper, such as `FROM c.list` or `JOIN x IN c.list`, is evaluated from the document for
//! each row.

use std::sync::Arc;

use document::Value;
use select::plan::{DOCUMENT, Expr, Input, Select, Source, Window};

use super::Binder;
use crate::{
    ast::{self, Collection, NodeKind, PathStep},
    error::{Fault, Span},
};

impl<'q> Binder<'q> {
    /// Binds the sources in order; each may use the names before it.
    /// A name is given once: those of the queries around are names, too.
    pub(super) fn bind_from(&mut self, inputs: &'q [ast::Input]) -> Result<Vec<Source>, Fault> {
        let mut sources = Vec::with_capacity(inputs.len());
        // Queries inside FROM are bound meanwhile and look at it.
        self.current_frame().enters = true;
        for input in inputs {
            // The name is added after its source is bound: a source cannot use its own name.
            let source = self.bind_source(input, &mut sources)?;
            if let Some((name, at)) = input.name() {
                let slot = source.slot;
                let own = self.current_frame().names.iter().any(|(known, _)| *known == name);
                let around = self.find_name(name).is_some() && !input.is_name();
                if own || around {
                    self.note(Fault::Input(at.0, name.to_owned()));
                } else {
                    self.current_frame().names.push((name.to_owned(), slot));
                }
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
                    // Reported where there is no such name; what is made of it is never run.
                    _ => {
                        let whole = whole_path(at.0, at.0.up_to(last_place(steps, at.0)), steps);
                        self.resolve_name(root, at.0, whole).unwrap_or(DOCUMENT)
                    }
                };
                // The document itself: nothing has to be evaluated for it.
                if root == DOCUMENT && steps.is_empty() && !input.iterates && outermost {
                    return Ok(Source { slot: DOCUMENT, input: Input::Root });
                }
                path_in_slot(root, steps)
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
}

/// A path inside a slot: names as far as they go, then numbers.
/// `c.a.b` becomes one path that is walked in the document's bytes; from the first number on each
/// step is an expression of its own.
pub(super) fn path_in_slot(slot: usize, steps: &[PathStep]) -> Expr {
    let names: Vec<String> = steps
        .iter()
        .map_while(|step| match step {
            PathStep::Name(name, _) => Some(name.clone()),
            PathStep::Computed(..) => None,
        })
        .collect();
    let rest = steps.iter().skip(names.len()).map(step_value).collect();
    let path = if names.is_empty() { Expr::Slot(slot) } else { Expr::Path(slot, names) };
    stepped(path, rest)
}

/// A step as the constant that it is. The binder has refused those that are none.
pub(super) fn step_value(step: &PathStep) -> Expr {
    match step {
        PathStep::Name(name, _) => Expr::Constant(Value::String(name.clone())),
        PathStep::Computed(index, _) => match &index.kind {
            NodeKind::Literal(value) => Expr::Constant(value.clone()),
            _ => Expr::Undefined,
        },
    }
}

/// A value, or what these steps lead to in it.
pub(super) fn stepped(base: Expr, steps: Vec<Expr>) -> Expr {
    if steps.is_empty() { base } else { Expr::Steps(Box::new(base), steps) }
}

/// Whether each document has results of its own, whatever the others are.
/// That is so without groups, order, DISTINCT, TOP, OFFSET and LIMIT.
fn is_local(select: &Select) -> bool {
    select.scans_documents()
        && select.streams_rows()
        && select.clauses().window == Window::default()
}

/// The place of a path without the numbers at its end, which are no properties. `whole` is that of
/// the path with them, `root` that of its first name.
pub(super) fn whole_path(root: Span, whole: Span, steps: &[PathStep]) -> Span {
    let mut place = whole;
    for step in steps.iter().rev() {
        let PathStep::Computed(index, _) = step else { return place };
        // The bracket before the number ends what is before it.
        place.end = index.span().start.saturating_sub(1);
    }
    if steps.is_empty() { place } else { root }
}

/// The place of the last step of a path, `root` where there is none.
fn last_place(steps: &[PathStep], root: Span) -> Span {
    steps.last().map_or(root, |step| match step {
        PathStep::Name(_, at) | PathStep::Computed(_, at) => at.0,
    })
}
