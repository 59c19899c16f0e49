//! Resolves names: the names of the query being bound and those of its outer queries.

use document::Value;
use select::{
    aggregate::AggregateKind,
    plan::{Aggregate, DOCUMENT, Expr},
};

use super::{
    Binder,
    frame::{Elements, Phase, QueryFrame},
    from::path_in,
    keep_fault,
    properties::Origin,
};
use crate::{
    ast::{Item, Node, NodeKind, PathStep, Query, Selection},
    error::{Clause, Fault, MAX_DIAGNOSTICS, Span},
};

impl<'q> Binder<'q> {
    /// Returns the frame of the query being bound. Creates one if the stack is empty, so that
    /// callers need not handle that case.
    pub(super) fn current_frame(&mut self) -> &mut QueryFrame<'q> {
        if self.frames.is_empty() {
            self.frames.push(QueryFrame::default());
        }
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    /// Returns the index of the frame that defines a name, counted from the outermost frame, and
    /// the name's slot. If several queries define the name, the innermost takes precedence, and in
    /// it the last source.
    pub(super) fn find_name(&self, name: &str) -> Option<(usize, usize)> {
        self.frames.iter().enumerate().rev().find_map(|(at, frame)| {
            let found = frame.names.iter().rev().find(|(known, _)| known == name);
            found.map(|(_, slot)| (at, *slot))
        })
    }

    /// Returns the value of a name that FROM defines; `None` after a fault was reported, such as
    /// the use of the name in a clause for several groups. `at` is the span of the whole
    /// expression, which the message quotes.
    pub(super) fn resolve_name(&mut self, name: &str, name_at: Span, at: Span) -> Option<Expr> {
        let Some((outer, slot)) = self.find_name(name) else {
            self.record_fault(Fault::Name(name_at, name.to_owned()));
            return None;
        };
        let innermost = self.frames.len();
        for (level, frame) in self.frames.iter_mut().enumerate().skip(outer).rev() {
            // In a subquery, even in one of ORDER BY, the fault names SELECT.
            let clause = match frame.clause_of_groups() {
                Some(_) if level + 1 < innermost => Clause::Select,
                Some(clause) => clause,
                None => continue,
            };
            let fault = Fault::Ungrouped(at, clause);
            if frame.has_one_row() {
                keep_fault(&mut frame.faults_if_joined, fault);
                continue;
            }
            keep_fault(&mut frame.group_faults, fault);
            self.hidden_by = Some(level);
            return None;
        }
        Some(self.of_only_rows(outer, Expr::Slot(slot)))
    }

    /// Converts a value in the rows of the query with the frame `outer` for use in the innermost
    /// query. Each query from `outer` inward that is being bound for groups has a single row, whose
    /// value is used.
    fn of_only_rows(&mut self, outer: usize, value: Expr) -> Expr {
        (outer..self.frames.len()).fold(value, |value, level| self.of_only_row(level, value))
    }

    /// Returns the value that an expression has in the only row of a query, for use in a clause for
    /// groups. It is the first element of an aggregated list of the values of all rows.
    pub(super) fn of_only_row(&mut self, level: usize, of: Expr) -> Expr {
        let (slot, origin) = (self.slots, self.origin_of(&of));
        match self.frames.get_mut(level) {
            Some(frame) if frame.clause_of_groups().is_some() => {
                self.origins.insert(slot, Origin::OnlyRow(Box::new(origin)));
                frame.aggregates.push(Aggregate { kind: AggregateKind::MakeList, of, slot });
                self.slots += 1;
                let first = Expr::Constant(Value::Int64(0));
                Expr::Steps(Box::new(Expr::Slot(slot)), vec![first])
            }
            _ => of,
        }
    }

    /// Records a fault in a clause that is evaluated per row (FROM, WHERE), in a subquery of an
    /// expression. If the subquery is in SELECT, ORDER BY or an aggregate of a query with GROUP BY,
    /// the fault is reported together with that query's faults about groups.
    pub(super) fn record_row_fault(&mut self, fault: Fault) {
        let looks_later = |frame: &&mut QueryFrame<'q>| {
            frame.shows_groups() || (frame.has_several_groups() && frame.phase == Phase::Aggregate)
        };
        match self.frames.iter_mut().find(looks_later) {
            None => self.record_fault(fault),
            Some(frame)
                if frame.phase == Phase::Aggregate
                    && frame.group_faults.len() < MAX_DIAGNOSTICS =>
            {
                frame.group_faults.insert(frame.early_faults, fault);
                frame.early_faults += 1;
            }
            Some(frame) => keep_fault(&mut frame.group_faults, fault),
        }
    }

    /// Records a fault that is to be reported after the faults about the groups of an outer query.
    pub(super) fn record_group_fault(&mut self, fault: Fault) {
        if let Some(frame) = self.frames.iter_mut().find(|frame| !frame.group_faults.is_empty()) {
            keep_fault(&mut frame.group_faults, fault);
        }
    }

    /// Returns the slot that `*` denotes in a subquery without FROM: that of the first visible name
    /// or, without a visible name, of the document. Returns `None` if the outer queries provide
    /// several sets of values for `*`, unless the subquery is joined with elements in WHERE.
    pub(super) fn only_name(&self) -> Option<usize> {
        let mut names = self.frames.iter().flat_map(|frame| &frame.names);
        let first = names.next().map_or(DOCUMENT, |(_, slot)| *slot);
        let joins = self.frames.last().is_some_and(|frame| frame.row_joins != 0);
        let (of_rows, of_groups) = self.count_input_sets();
        (joins || of_rows.max(of_groups) <= 1).then_some(first)
    }

    /// Records the fault that `*` is ambiguous. If a subquery without FROM has several sets of
    /// values for `*` only because of keys and aggregates, the fault is reported together with
    /// those about groups.
    pub(super) fn record_star_fault(&mut self, fault: Fault, has_from: bool) {
        let is_early = has_from || 1 < self.count_input_sets().0;
        let looks_later = |frame: &&mut QueryFrame<'q>| {
            frame.clause_of_groups().is_some() && !frame.has_one_row()
        };
        match self.frames.iter_mut().find(looks_later).filter(|_| !is_early) {
            Some(frame) => keep_fault(&mut frame.group_faults, fault),
            None => self.record_row_fault(fault),
        }
    }

    /// Counts the sets of values that `*` may denote in the innermost query. The first result counts
    /// the names of FROM and the joined subqueries; the second also counts the keys and aggregates
    /// of GROUP BY, in clauses that are evaluated once per group.
    fn count_input_sets(&self) -> (usize, usize) {
        let (mut values, mut joins) = (std::collections::BTreeSet::new(), 0);
        let (mut most, mut element_sets) = (0, 0);
        for frame in self.frames.iter().rev().skip(1) {
            // In an argument of an aggregate, all names of the group's rows are one set, and
            // subqueries inside the argument add only sets of elements.
            if frame.phase == Phase::Aggregate && frame.has_several_groups() {
                return (1 + joins + element_sets + frame.argument_joins, most);
            }
            element_sets += usize::from(frame.elements != Elements::None);
            joins += frame.group_joins;
            if frame.shows_groups() {
                let of_rows = values.len() + joins;
                return (of_rows, most.max(of_rows + frame.group_sets));
            }
            if frame.clause_of_groups().is_some() && !frame.has_one_row() {
                most = most.max(frame.group_sets);
            }
            joins += frame.row_joins;
            values.extend(frame.names.iter().map(|(_, slot)| self.inlined_value(*slot)));
        }
        (values.len() + joins, most)
    }

    /// Returns whether the query with the frame `level` is, or is part of, a subquery in an
    /// expression.
    pub(super) fn is_in_expression(&self, level: usize) -> bool {
        self.frames.iter().take(level).any(|frame| frame.phase != Phase::From)
    }

    /// Returns the names of a query that its outer query must not define. These are the names of a
    /// query with one row for all documents, and of a query in FROM without elements, if the
    /// sources before it have a single row.
    pub(super) fn reserved_names(&self, frame: &QueryFrame<'q>) -> Vec<String> {
        let is_joined = frame.elements == Elements::None
            && !self.is_in_expression(self.frames.len())
            && self.frames.last().is_some_and(|of| of.has_one_row() && !of.names.is_empty());
        if !frame.is_one_for_all() && !is_joined {
            return Vec::new();
        }
        let names = frame.names.iter().map(|(name, _)| name);
        names.chain(&frame.reserved_names).cloned().collect()
    }

    /// Returns the value of the group key that equals an expression. The keys of a query are not
    /// visible where names refer to its rows, as in WHERE and inside an aggregate.
    pub(super) fn group_key(&mut self, node: &Node) -> Option<Expr> {
        if self.is_key(node) {
            return None;
        }
        if self.takes_hidden_key(node.written_span(), |key| key == node) {
            return Some(Expr::Undefined);
        }
        let found = self.visible_keys(node.is_property()).find(|(_, key, _)| *key == node);
        let (level, _, slot) = found?;
        self.record_uses_in_key(level, node);
        Some(self.of_only_rows(level + 1, Expr::Slot(slot)))
    }

    /// Returns whether a node is the key of GROUP BY that is being bound.
    pub(super) fn is_key(&self, node: &Node) -> bool {
        self.key.is_some_and(|key| std::ptr::eq(key, node))
    }

    /// Returns the value of the longest group key that is a prefix of a path and covers at most
    /// `most` of its steps, and the number of steps that it covers. With `GROUP BY c.a`, `c.a.b` is
    /// `.b` of the key. `at` is the span of the path.
    pub(super) fn key_of_path(
        &mut self,
        base: &Node,
        steps: &[PathStep],
        most: usize,
        at: Span,
    ) -> Option<(Expr, usize)> {
        if self.takes_hidden_key(at, |key| length_of_key(key, base, steps).is_some()) {
            return Some((Expr::Undefined, steps.len()));
        }
        let is_property = !base.is_path() || matches!(steps.last(), Some(PathStep::Name(..)));
        let found = self.visible_keys(is_property).filter_map(|(level, key, slot)| {
            let length = length_of_key(key, base, steps).filter(|length| *length <= most)?;
            Some((level, slot, length))
        });
        // The longest key leaves the fewest steps to evaluate.
        let (level, slot, length) = found.max_by_key(|(_, _, length)| *length)?;
        self.record_use_of_row(level, at);
        Some((self.of_only_rows(level + 1, Expr::Slot(slot)), length))
    }

    /// Returns whether an expression denotes a key of the current query that the groups of an outer
    /// query hide. If so, records a fault of that outer query.
    fn takes_hidden_key(&mut self, at: Span, is_meant: impl Fn(&Node) -> bool) -> bool {
        let frame = self.frames.last().filter(|frame| frame.clause_of_groups().is_some());
        let mut hidden = frame.into_iter().flat_map(|frame| &frame.hidden_keys);
        let Some((_, level)) = hidden.find(|(key, _)| is_meant(key)).copied() else {
            return false;
        };
        if let Some(frame) = self.frames.get_mut(level) {
            keep_fault(&mut frame.group_faults, Fault::Ungrouped(at, Clause::Select));
        }
        true
    }

    /// Returns the value of a path in FROM that starts with a group key of an outer query; `None`
    /// for any other path, and if the key is a name alone.
    pub(super) fn key_of_input(
        &mut self,
        root: &str,
        steps: &[PathStep],
        at: Span,
    ) -> Option<Expr> {
        let base = Node::new(NodeKind::Name(root.to_owned()), Span::default());
        let (value, length) =
            self.key_of_path(&base, steps, steps.len(), at).filter(|(_, length)| 0 < *length)?;
        Some(path_in(value, steps.get(length..).unwrap_or_default()))
    }

    /// Returns the visible keys of the query and its outer queries, innermost first, each with the
    /// index of its frame and its slot. Keys are visible in clauses for groups. A subquery in
    /// SELECT can use the outer query's keys, unless it has groups itself. In ORDER BY, only keys
    /// and paths that are properties are visible.
    fn visible_keys(&self, is_property: bool) -> impl Iterator<Item = (usize, &'q Node, usize)> {
        let hides = |frame: &QueryFrame<'q>| match frame.phase {
            Phase::Groups(_) | Phase::Key => !frame.has_one_row(),
            _ => false,
        };
        let last = self.frames.iter().rposition(hides).unwrap_or_default();
        self.frames.iter().enumerate().skip(last).rev().flat_map(move |(level, frame)| {
            let sees = move |key: &Node| match frame.phase {
                Phase::Groups(Clause::Select) => true,
                Phase::Groups(Clause::OrderBy) => is_property || key.is_property(),
                _ => false,
            };
            let keys = frame.keys.iter().filter(move |(key, _)| sees(key));
            keys.map(move |(key, slot)| (level, *key, *slot))
        })
    }
}

/// Returns the names of a query that remain visible although its binding was abandoned: those of
/// all its sources except the last or, if subqueries in its expressions join elements, those of all
/// its sources.
pub(super) fn left_names(query: &Query, frame: QueryFrame<'_>) -> Vec<(String, usize)> {
    let joined = usize::from(!frame.joins_elements());
    let inputs = query.from.get(..query.from.len().saturating_sub(joined)).unwrap_or_default();
    let is_left =
        |name: &str| inputs.iter().any(|input| input.name().is_some_and(|(of, _)| of == name));
    frame.names.into_iter().filter(|(name, _)| is_left(name)).collect()
}

/// Returns the number of steps of a path that a key covers; `None` if the path does not start with
/// the key.
fn length_of_key(key: &Node, base: &Node, steps: &[PathStep]) -> Option<usize> {
    match &key.kind {
        NodeKind::Member { base: of, steps: path } => {
            (**of == *base && steps.starts_with(path)).then_some(path.len())
        }
        _ => (key == base).then_some(0),
    }
}

/// Returns whether a query has the form of the rewritten query in a client's plan with an ORDER BY:
/// it selects a `_rid`, the sort keys and the payload.
pub(super) fn reads_rid(query: &Query) -> bool {
    let Selection::List(items) = &query.selection else { return false };
    let named =
        |item: &Item, name: &str| item.alias.as_ref().is_some_and(|(alias, _)| alias == name);
    matches!(items.as_slice(), [_, keys, payload]
        if named(keys, "orderByItems") && named(payload, "payload"))
}

/// Returns the property names of the items of a SELECT list. The name is the alias or, without one,
/// the last name of the path. Other items are called `$1`, `$2` and so on; only these are counted.
/// Plans for clients use the same names.
pub(crate) fn names_of(items: &[Item]) -> Vec<String> {
    let mut unnamed = 0;
    let name = |item: &Item| {
        if let Some((alias, _)) = &item.alias {
            return alias.clone();
        }
        let last = match &item.node.kind {
            NodeKind::Name(name) => Some(name.clone()),
            NodeKind::Member { steps, .. } => match steps.last() {
                Some(PathStep::Name(name, _)) => Some(name.clone()),
                _ => None,
            },
            _ => None,
        };
        last.unwrap_or_else(|| {
            unnamed += 1;
            format!("${unnamed}")
        })
    };
    items.iter().map(name).collect()
}

/// Returns the span of a selected item's name.
pub(super) fn place_of_name(item: &Item) -> Span {
    let place = match (&item.alias, &item.node.kind) {
        (Some((_, at)), _) => Some(at.0),
        (None, NodeKind::Member { steps, .. }) => match steps.last() {
            Some(PathStep::Name(_, at)) => Some(at.0),
            _ => None,
        },
        _ => None,
    };
    place.unwrap_or(item.node.span())
}

/// Returns whether an expression can be computed from the selected values, so that ORDER BY can
/// sort what DISTINCT leaves. `*` selects the whole document.
pub(super) fn is_selected(selection: &Selection, node: &Node) -> bool {
    match selection {
        Selection::Star(_) => true,
        Selection::Value(value) => value == node,
        Selection::List(items) => items.iter().any(|item| item.node == *node),
    }
}
