//! Binds FROM and JOIN: assigns each name a slot and a source of values.
//!
//! The first name of the outermost FROM, which can be any name, denotes the stored document. All
//! other sources, such as `FROM c.list` or `JOIN x IN c.list`, are evaluated for each row.

use std::sync::Arc;

use document::Value;
use select::plan::{DOCUMENT, Expr, Input, Select, Source, Window};

use super::{
    Binder, Rows,
    frame::{Elements, Phase, QueryFrame, RowSource},
    has_aggregate,
};
use crate::{
    ast::{self, Collection, NodeKind, PathStep},
    error::{Fault, Span},
};

impl<'q> Binder<'q> {
    /// Binds the sources in order; each may use the names of earlier ones. A name must be new in
    /// this FROM and in all outer queries. A source that repeats a visible name for the same values
    /// is permitted: in the same FROM it is ignored, otherwise it hides the outer name. The name of
    /// a subquery that may have several results for one row hides an equal name.
    pub(super) fn bind_from(&mut self, inputs: &'q [ast::Input]) -> Result<Vec<Source>, Fault> {
        let mut sources = Vec::with_capacity(inputs.len());
        // Only in a FROM that is nested in FROM clauses alone does an unknown name denote the
        // document.
        let enters = |frame: &QueryFrame<'q>| frame.phase == Phase::From && frame.names.is_empty();
        if self.frames.iter().all(enters) {
            self.current_frame().start = RowSource::Documents;
        }
        // The preceding name, in this FROM or an outer one.
        let before = self.frames.iter().rev().find_map(|frame| frame.names.last());
        let mut before = before.map(|(name, _)| name.clone());
        for input in inputs {
            if self.current_frame().elements != Elements::None {
                self.forget_origins();
            }
            let again = input.name().filter(|(name, _)| self.repeats_name(input, name));
            let is_alias = self.count_input_set(input, again.is_some(), before.as_deref());
            if let Some((name, _)) = again {
                before = Some(name.to_owned());
                if self.frames.last().is_some_and(|frame| frame.has_name(name)) {
                    self.check_repeated(input)?;
                    continue;
                }
            }
            // The names are added afterwards, since a source cannot use its own name.
            let (source, rows) = self.bind_source(input, &mut sources)?;
            if rows.elements != Elements::None {
                self.forget_origins();
            }
            let same = self.same_name(input).filter(|_| !input.iterates);
            if let Some((_, of)) = same.and_then(|same| self.find_name(same)) {
                let (value, inlined) = (self.value_of(of), self.inlined_value(of));
                self.same_values.insert(source.slot, value);
                let is_inlined = self.current_frame().elements == Elements::None;
                if is_inlined && self.is_in_expression(self.frames.len().saturating_sub(1)) {
                    self.inlined_values.insert(source.slot, inlined);
                }
            }
            // In subqueries of expressions, Azure Cosmos DB replaces the names of sources by their
            // values, unless a source follows one over elements.
            let replaces = self.frames.iter().any(|frame| frame.phase != Phase::From)
                && self.current_frame().elements.max(rows.elements) == Elements::None;
            if replaces && !input.iterates {
                self.keep_origin(&source);
            }
            let has_many = rows.has_many || rows.elements == Elements::Joined;
            let hides = again.is_some() || (has_many && !input.iterates);
            self.current_frame().reserved_names.extend(rows.reserved_names);
            if let Some((name, at)) = input.name() {
                let is_reserved = self.frames.last().is_some_and(|frame| frame.reserves_name(name));
                if !hides && (is_reserved || self.find_name(name).is_some()) {
                    self.record_fault(Fault::Input(at.0, name.to_owned()));
                } else {
                    self.current_frame().names.push((name.to_owned(), source.slot));
                    before = Some(name.to_owned());
                }
            }
            let frame = self.current_frame();
            if !is_alias {
                frame.star = Some(source.slot);
            }
            let elements = if input.iterates { Elements::Joined } else { rows.elements };
            frame.elements = frame.elements.max(elements);
            if rows.is_one_for_all && sources.is_empty() {
                frame.start = RowSource::OneForAll;
            }
            frame.names.extend(rows.open_names);
            sources.push(source);
        }
        self.current_frame().phase = Phase::Rows;
        Ok(sources)
    }

    /// Returns whether `name`, the name of a source, already denotes the source's values, or a copy
    /// of them that was made in a subquery of an expression.
    fn repeats_name(&self, input: &ast::Input, name: &str) -> bool {
        let Some(same) = self.same_name(input).filter(|_| !input.iterates) else { return false };
        if same == name {
            let is_query = matches!(input.of, Collection::Query(_));
            return is_query || self.find_name(name).is_some();
        }
        match (self.find_name(same), self.find_name(name)) {
            (Some((_, of)), Some((_, slot))) => self.inlined_value(of) == self.inlined_value(slot),
            // As in Azure Cosmos DB, an unknown name refers to the first name of the query.
            (None, Some(_)) if matches!(input.of, Collection::Path { .. }) => {
                let first = self.frames.iter().find_map(|frame| frame.names.first());
                first.is_some_and(|(first, _)| first == name)
            }
            _ => false,
        }
    }

    /// Counts the sets of values for `*` that a source adds (input sets). Returns whether the
    /// source is only another name for the preceding set. `before` is the name before it, in this
    /// FROM or an outer one; `again` is whether the source repeats a name.
    fn count_input_set(&mut self, input: &ast::Input, again: bool, before: Option<&str>) -> bool {
        let last = before.and_then(|name| self.find_name(name));
        let same = self.same_name(input).filter(|_| !input.iterates);
        let of = same.and_then(|same| self.find_name(same));
        let innermost = self.frames.len().saturating_sub(1);
        let is_inlined = self.is_in_expression(innermost);
        // `*` does not select elements that FROM joins after a repeated name.
        if input.iterates && self.current_frame().star_is_repeated {
            return true;
        }
        // Outside expressions, `IN` with a subquery adds two input sets: the list of results, and
        // its elements.
        if input.iterates && matches!(input.of, Collection::Query(_)) && !is_inlined {
            self.current_frame().star_sets += 1;
        }
        let (last, of) = match (last, of) {
            (Some((level, last)), Some((_, of))) if self.value_of(of) == self.value_of(last) => {
                (level, last)
            }
            _ => {
                self.current_frame().star_sets += 1;
                return false;
            }
        };
        let frame = self.current_frame();
        match again {
            // `*` no longer selects what FROM joined before the repeated name.
            true if last == innermost => {
                frame.star_sets = frame.star_sets.min(1);
                frame.star_is_repeated = true;
            }
            true => {}
            false if is_inlined && last == innermost && frame.elements != Elements::Joined => {
                frame.star_sets = frame.star_sets.max(1);
            }
            false => {
                frame.star_sets += 1;
                return false;
            }
        }
        frame.star = Some(of);
        true
    }

    /// Reports faults of a source that repeats a name of the same FROM. The source is not
    /// part of the plan.
    fn check_repeated(&mut self, input: &'q ast::Input) -> Result<(), Fault> {
        match &input.of {
            Collection::Path { root, at, .. } => {
                if self.find_name(root).is_none() {
                    self.record_fault(Fault::Name(at.0, root.clone()));
                }
                Ok(())
            }
            Collection::Query(query) => self.bind_inner_query(query).map(|_| ()),
        }
    }

    /// Returns the slot whose values the given slot copies, or the given slot if it is not a copy.
    fn value_of(&self, slot: usize) -> usize {
        self.same_values.get(&slot).copied().unwrap_or(slot)
    }

    /// Returns the slot by which Azure Cosmos DB replaces the given slot: copies that were made in
    /// subqueries of expressions are replaced by their originals.
    pub(super) fn inlined_value(&self, slot: usize) -> usize {
        self.inlined_values.get(&slot).copied().unwrap_or(slot)
    }

    /// Returns the name whose values a source returns unchanged, otherwise `None`. Such a source is
    /// a name alone, or a subquery that only selects a name.
    fn same_name<'i>(&'i self, input: &'i ast::Input) -> Option<&'i str> {
        match &input.of {
            Collection::Path { root, steps, .. } => steps.is_empty().then_some(root),
            Collection::Query(query) => self.selected_name(query),
        }
    }

    /// Returns the name that is the only result of a subquery; `None` if it may have other results.
    fn selected_name<'i>(&'i self, query: &'i ast::Query) -> Option<&'i str> {
        if !has_one_result(query) {
            return None;
        }
        match (&query.selection, query.from.as_slice()) {
            (ast::Selection::Value(node), _) => match &node.kind {
                NodeKind::Name(name) => self.outer_name(name, &query.from),
                NodeKind::Query(ast::Subquery::Scalar, query) => self.selected_name(query),
                _ => None,
            },
            (ast::Selection::Star(_), []) => {
                let mut names = self.frames.iter().flat_map(|frame| &frame.names);
                names.next().map(|(name, _)| name.as_str()).filter(|_| names.next().is_none())
            }
            (ast::Selection::Star(_), [first, rest @ ..]) => {
                let (name, _) = first.name()?;
                let is_same = |of: &ast::Input| of.name().is_some_and(|(other, _)| other == name);
                rest.iter().all(is_same).then(|| self.outer_name(name, &query.from)).flatten()
            }
            _ => None,
        }
    }

    /// Follows a name through the sources `inputs` that define it, and returns the outer name with
    /// the same values; `None` if there is no such name. Azure Cosmos DB replaces names in this way
    /// only in subqueries of expressions; elsewhere `name` itself is returned.
    fn outer_name<'i>(&'i self, name: &'i str, inputs: &'i [ast::Input]) -> Option<&'i str> {
        let defines = |input: &ast::Input| input.name().is_some_and(|(of, _)| of == name);
        let replaces = self.is_in_expression(self.frames.len().saturating_sub(1));
        let at = inputs.iter().rposition(defines).filter(|_| replaces);
        let Some(at) = at else { return Some(name) };
        let same = inputs.get(at).and_then(|input| self.same_name(input))?;
        self.outer_name(same, inputs.get(..at).unwrap_or_default())
    }

    /// Binds one source and returns it. `before` has the sources bound so far; if the source
    /// iterates over the results of a subquery, the source of the subquery is added to them. A path
    /// must start with a known name, except at the start of the outermost FROM, where any name
    /// denotes the document.
    fn bind_source(
        &mut self,
        input: &'q ast::Input,
        before: &mut Vec<Source>,
    ) -> Result<(Source, Rows), Fault> {
        let outermost = before.is_empty() && self.current_frame().start == RowSource::Documents;
        let of = match &input.of {
            Collection::Query(query) => {
                let (results, rows) = self.bind_results(query, outermost)?;
                if !input.iterates {
                    return Ok((results, rows));
                }
                let elements = Expr::Slot(results.slot);
                before.push(results);
                return Ok((self.source_of(input, elements), rows));
            }
            Collection::Path { root, at, steps, whole } => {
                let root = match self.find_name(root) {
                    None if outermost => Expr::Slot(DOCUMENT),
                    _ => match self.key_of_input(root, steps, whole.0) {
                        Some(value) => return Ok((self.source_of(input, value), Rows::default())),
                        // An unknown name is reported; the plan is not run then, so any slot will
                        // do.
                        None => {
                            self.resolve_name(root, at.0, whole.0).unwrap_or(Expr::Slot(DOCUMENT))
                        }
                    },
                };
                // A source that is the document itself needs no evaluation.
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

    /// Returns the source that yields the value `of` or, for `IN`, the elements of the array `of`.
    fn source_of(&mut self, input: &ast::Input, of: Expr) -> Source {
        let input = if input.iterates { Input::Elements(of) } else { Input::Value(of) };
        Source { slot: self.next_slot(), input }
    }

    /// Binds a subquery in FROM. If the results of a subquery over the documents depend on all
    /// documents, since it has an order, groups or limits, its results are collected before the
    /// first row. All other subqueries run once per row of the query around them.
    fn bind_results(
        &mut self,
        query: &'q ast::Query,
        outermost: bool,
    ) -> Result<(Source, Rows), Fault> {
        let (select, rows) = self.bind_inner_query(query)?;
        let slot = self.next_slot();
        // Results that depend on all documents cannot be computed from one.
        let of = if outermost && !is_local(&select) {
            Input::Collected(Arc::new(select))
        } else {
            Input::Results(Box::new(select))
        };
        Ok((Source { slot, input: of }, rows))
    }
}

/// Returns the expression for a path in a value.
pub(super) fn path_in(value: Expr, steps: &[PathStep]) -> Expr {
    match value {
        Expr::Slot(slot) => path_in_slot(slot, steps),
        other => stepped(other, steps.iter().map(step_value).collect()),
    }
}

/// Returns the expression for a path in a slot. The names before the first number become one path,
/// which is looked up in the encoded document. From the first number on, each step is a separate
/// expression.
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

/// Returns whether a query always has one result for a row of its outer query: all its sources have
/// one value, and it has no filter and no limits. GROUP BY is permitted, since one row makes one
/// group.
fn has_one_result(query: &ast::Query) -> bool {
    let limits = !query.order.is_empty() || query.top.is_some() || query.window.is_some();
    let has_one_value = |input: &ast::Input| match &input.of {
        _ if input.iterates => false,
        Collection::Path { steps, .. } => steps.is_empty(),
        Collection::Query(of) => (of.group.is_empty() && has_aggregate(of)) || has_one_result(of),
    };
    query.filter.is_none() && !limits && query.from.iter().all(has_one_value)
}

/// Returns a path step as a constant. The binder has refused steps that are not constant.
pub(super) fn step_value(step: &PathStep) -> Expr {
    match step {
        PathStep::Name(name, _) => Expr::Constant(Value::String(name.clone())),
        PathStep::Computed(index, _) => match index.constant_index() {
            Some(value) => Expr::Constant(value.clone()),
            None => Expr::Undefined,
        },
    }
}

/// Applies steps to a value; without steps, returns the value.
pub(super) fn stepped(base: Expr, steps: Vec<Expr>) -> Expr {
    if steps.is_empty() { base } else { Expr::Steps(Box::new(base), steps) }
}

/// Returns whether the results of each document are independent of other documents: the query has
/// no groups, order, DISTINCT, TOP, OFFSET or LIMIT.
fn is_local(select: &Select) -> bool {
    select.scans_documents()
        && select.streams_rows()
        && select.clauses().window == Window::default()
}

/// Returns the span of a path without trailing numbers, which are not properties. `whole` is the
/// span with the numbers, `root` the span of the first name.
pub(super) fn whole_path(root: Span, whole: Span, steps: &[PathStep]) -> Span {
    let mut place = whole;
    for step in steps.iter().rev() {
        let PathStep::Computed(index, at) = step else { return place };
        if matches!(index.constant_index(), Some(Value::String(_))) {
            return place;
        }
        place.end = at.0.start;
    }
    if steps.is_empty() { place } else { root }
}
