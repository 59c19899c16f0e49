//! FROM and JOIN: which slot each name has and where its values come from.
//!
//! The first name of FROM is special: in `FROM c` it is the stored document, whatever it is called.
//! Anything deeper, such as `FROM c.list` or `JOIN x IN c.list`, is evaluated from the document for
//! each row.

use std::sync::Arc;

use document::Value;
use select::plan::{DOCUMENT, Expr, Input, Select, Source, Window};

use super::{Binder, Rows};
use crate::{
    ast::{self, Collection, NodeKind, PathStep},
    error::{Fault, Span},
};

impl<'q> Binder<'q> {
    /// Binds the sources in order; each may use the names before it.
    /// A name is given once: those of the queries around are names, too. A name of this FROM that
    /// stands there again gives nothing new. The name of a query that goes over elements hides others.
    pub(super) fn bind_from(&mut self, inputs: &'q [ast::Input]) -> Result<Vec<Source>, Fault> {
        let mut sources = Vec::with_capacity(inputs.len());
        // Queries inside FROM are bound meanwhile and look at it.
        self.current_frame().enters = true;
        // Only what is in FROM, all the way, has the documents to itself.
        let of_documents = self.frames.iter().all(|frame| frame.enters && frame.names.is_empty());
        self.current_frame().is_of_documents = of_documents;
        // The name that comes before, in this FROM or around it.
        let before = self.frames.iter().rev().find_map(|frame| frame.names.last());
        let mut before = before.map(|(name, _)| name.clone());
        for input in inputs {
            let again = input.name().filter(|(name, _)| self.gives_again(input, name));
            if let Some((name, _)) = again {
                let follows = before.as_deref() == Some(name);
                let found = self.find_name(name).filter(|_| follows);
                self.current_frame().repeated = found.map(|(_, slot)| slot);
                before = Some(name.to_owned());
                if self.frames.last().is_some_and(|frame| frame.has_name(name)) {
                    self.check_root(input);
                    continue;
                }
            }
            // The names are added after the source is bound: a source cannot use its own name.
            let (source, rows) = self.bind_source(input, &mut sources)?;
            let same = self.same_name(input).filter(|_| !input.iterates);
            if let Some((_, of)) = same.and_then(|same| self.find_name(same)) {
                let value = self.value_of(of);
                self.same_values.insert(source.slot, value);
            }
            let hides = again.is_some() || (rows.has_elements && !input.iterates);
            self.current_frame().taken_names.extend(rows.taken_names);
            if let Some((name, at)) = input.name() {
                let is_taken = self.frames.last().is_some_and(|frame| frame.takes_name(name));
                if !hides && (is_taken || self.find_name(name).is_some()) {
                    self.note(Fault::Input(at.0, name.to_owned()));
                } else {
                    self.current_frame().names.push((name.to_owned(), source.slot));
                    before = Some(name.to_owned());
                }
            }
            let frame = self.current_frame();
            frame.has_elements |= input.iterates || rows.has_elements;
            frame.has_many |= input.iterates || rows.has_many;
            frame.has_one_document |= rows.is_one_document && sources.is_empty();
            frame.has_given_up |= !rows.open_names.is_empty();
            frame.names.extend(rows.open_names);
            sources.push(source);
        }
        self.current_frame().enters = false;
        Ok(sources)
    }

    /// Whether an input gives a name that can be seen to the values that it has already.
    fn gives_again(&mut self, input: &ast::Input, name: &str) -> bool {
        let Some((_, slot)) = self.find_name(name) else { return false };
        let same = self.same_name(input);
        let Some(same) = same.filter(|_| !input.iterates) else { return false };
        match self.find_name(same) {
            Some((_, of)) => self.value_of(of) == self.value_of(slot),
            // A name that is unknown stands for the first one.
            None => {
                let first = self.frames.iter().find_map(|frame| frame.names.first());
                first.is_some_and(|(first, _)| first == name)
            }
        }
    }

    /// Reports the name that an input begins with where it is unknown.
    fn check_root(&mut self, input: &ast::Input) {
        if let Collection::Path { root, at, .. } = &input.of
            && self.find_name(root).is_none()
        {
            self.note(Fault::Name(at.0, root.clone()));
        }
    }

    /// The slot whose values a slot has.
    fn value_of(&self, slot: usize) -> usize {
        self.same_values.get(&slot).copied().unwrap_or(slot)
    }

    /// The name whose values an input gives as they are: a name alone, or what a query selects that does
    /// nothing else.
    fn same_name<'i>(&self, input: &'i ast::Input) -> Option<&'i str> {
        match &input.of {
            Collection::Path { root, steps, .. } => steps.is_empty().then_some(root),
            Collection::Query(query) if selects_only(query) && !query.distinct => {
                match (&query.selection, query.from.as_slice()) {
                    (ast::Selection::Value(node), []) => match &node.kind {
                        NodeKind::Name(name) => Some(name),
                        _ => None,
                    },
                    (ast::Selection::Star(_), [of]) => self.same_name(of),
                    _ => None,
                }
            }
            Collection::Query(_) => None,
        }
    }

    /// The source of a name. One that it is made of (the results that it goes over) is put before
    /// it.
    /// `before` holds the sources so far. Fails for a path that begins with a name nobody gave,
    /// unless it is the first of the outermost FROM, where any name stands for the document.
    fn bind_source(
        &mut self,
        input: &'q ast::Input,
        before: &mut Vec<Source>,
    ) -> Result<(Source, Rows), Fault> {
        let outermost = before.is_empty() && self.current_frame().is_of_documents;
        let of = match &input.of {
            Collection::Query(query) => {
                let (results, rows) = self.bind_results(query, outermost)?;
                if !input.iterates {
                    return Ok((results, rows));
                }
                // The elements of each result.
                let elements = Expr::Slot(results.slot);
                before.push(results);
                return Ok((self.source_of(input, elements), rows));
            }
            Collection::Path { root, at, steps, whole } => {
                let root = match self.find_name(root) {
                    None if outermost => Expr::Slot(DOCUMENT),
                    _ => match self.key_of_input(root, steps, whole.0) {
                        Some(value) => return Ok((self.source_of(input, value), Rows::default())),
                        // Reported where there is no such name; what is made of it is never run.
                        None => {
                            self.resolve_name(root, at.0, whole.0).unwrap_or(Expr::Slot(DOCUMENT))
                        }
                    },
                };
                // The document itself: nothing has to be evaluated for it.
                let is_document = matches!(root, Expr::Slot(DOCUMENT));
                if is_document && steps.is_empty() && !input.iterates && outermost {
                    let source = Source { slot: DOCUMENT, input: Input::Root };
                    return Ok((source, Rows::default()));
                }
                path_in(root, steps)
            }
        };
        Ok((self.source_of(input, of), Rows::default()))
    }

    /// The source of a value, or of its elements.
    fn source_of(&mut self, input: &ast::Input, of: Expr) -> Source {
        let input = if input.iterates { Input::Elements(of) } else { Input::Value(of) };
        Source { slot: self.next_slot(), input }
    }

    /// A query in FROM. One over the documents whose results need all of them (an order, a group, a
    /// limit) is collected before the first row; one that gives each document results of its own
    /// runs row by row.
    /// A query that stands inside another one's row is never collected: its results depend on the
    /// row.
    fn bind_results(
        &mut self,
        query: &'q ast::Query,
        outermost: bool,
    ) -> Result<(Source, Rows), Fault> {
        let (select, rows) = self.bind_inner_query(query)?;
        let slot = self.next_slot();
        // Results of all documents cannot be told from one document.
        let of = if outermost && !is_local(&select) {
            Input::Collected(Arc::new(select))
        } else {
            Input::Results(Box::new(select))
        };
        Ok((Source { slot, input: of }, rows))
    }
}

/// A path inside a value.
pub(super) fn path_in(value: Expr, steps: &[PathStep]) -> Expr {
    match value {
        Expr::Slot(slot) => path_in_slot(slot, steps),
        other => stepped(other, steps.iter().map(step_value).collect()),
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

/// The constant that an expression in brackets is: a number, or a query that selects a number or a text
/// and nothing else.
pub(super) fn constant_index(index: &ast::Node) -> Option<&Value> {
    match &index.kind {
        NodeKind::Literal(value @ (Value::Int64(_) | Value::Double(_))) => Some(value),
        NodeKind::Query(ast::Subquery::Scalar, query) => match &query.selection {
            ast::Selection::Value(ast::Node { kind: NodeKind::Literal(value), .. }) => {
                let is_index =
                    matches!(value, Value::Int64(_) | Value::Double(_) | Value::String(_));
                (is_index && selects_only(query)).then_some(value)
            }
            _ => None,
        },
        _ => None,
    }
}

/// Whether a query has no clauses but SELECT, and FROM with names alone.
fn selects_only(query: &ast::Query) -> bool {
    let alone = |input: &ast::Input| {
        let is_name = matches!(&input.of, Collection::Path { steps, .. } if steps.is_empty());
        is_name && !input.iterates
    };
    let groups = query.filter.is_some() || !query.group.is_empty();
    let limits = !query.order.is_empty() || query.top.is_some() || query.window.is_some();
    !groups && !limits && query.from.iter().all(alone)
}

/// A step as the constant that it is. The binder has refused those that are none.
pub(super) fn step_value(step: &PathStep) -> Expr {
    match step {
        PathStep::Name(name, _) => Expr::Constant(Value::String(name.clone())),
        PathStep::Computed(index, _) => match constant_index(index) {
            Some(value) => Expr::Constant(value.clone()),
            None => Expr::Undefined,
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
