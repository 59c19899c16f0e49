//! Names that can be seen: those of the query that is bound and of all queries around it.

use document::Value;
use select::{
    aggregate::AggregateKind,
    plan::{Aggregate, DOCUMENT, Expr},
};

use super::{Binder, from::path_in, keep_fault};
use crate::{
    ast::{Item, Node, NodeKind, PathStep, Query, Selection},
    error::{Clause, Fault, Span},
    limits::MAX_MISTAKES,
};

/// What expressions see: rows or groups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Phase {
    /// Names of FROM, as in WHERE.
    #[default]
    Rows,
    /// Names of FROM, in a key of GROUP BY.
    Key,
    /// Keys of GROUP BY and aggregates, in this clause of a query that groups.
    Groups(Clause),
    /// Inside an aggregate: rows again, but no aggregate.
    Aggregate,
}

/// What one query adds to the names that can be seen.
/// It is taken down when its query is bound; slots given in it stay taken.
#[derive(Debug, Default)]
pub(super) struct QueryFrame<'q> {
    /// Names of FROM with their slots.
    pub(super) names: Vec<(String, usize)>,
    /// Whether its FROM is being bound.
    /// A query in FROM asks all frames around it, since only in FROM all the way out the documents
    /// are its own to read.
    pub(super) enters: bool,
    /// Whether its rows are of the documents, and not of a row of a query around it.
    pub(super) is_of_documents: bool,
    /// Names that no other input of FROM may have, though they cannot be seen: those of queries in it
    /// that have one row for all documents.
    pub(super) taken_names: Vec<String>,
    /// What its expressions see at the moment.
    pub(super) phase: Phase,
    /// Keys of GROUP BY with their slots.
    /// They are compared as trees, so that `c.a` in SELECT is found as the key `c.a`.
    pub(super) keys: Vec<(&'q Node, usize)>,
    /// Keys with names that groups of a query around hide, and the frame of that query.
    pub(super) hidden_keys: Vec<(&'q Node, usize)>,
    /// Aggregates that were found so far.
    pub(super) aggregates: Vec<Aggregate>,
    /// What is wrong with the use of rows where there are groups.
    pub(super) group_faults: Vec<Fault>,
    /// Whether it has a GROUP BY.
    pub(super) has_keys: bool,
    /// Whether it has an aggregate.
    pub(super) aggregates_rows: bool,
    /// Whether it has one row, which is its only group: names of rows can be used where groups are
    /// seen.
    pub(super) has_one_row: bool,
    /// Whether a query inside one of its expressions goes over elements, which are joined to its rows.
    pub(super) joins_elements: bool,
    /// Whether its FROM goes over elements, its own or those of a query in it, whether or not these are
    /// aggregated.
    pub(super) has_elements: bool,
    /// Whether there are several rows for one document.
    pub(super) has_many: bool,
    /// Whether there are several results for one row.
    pub(super) has_many_results: bool,
    /// Whether its FROM has one row for all documents.
    pub(super) has_one_document: bool,
    /// Whether names of a query in FROM that was given up are among its names.
    pub(super) has_given_up: bool,
    /// The slot of a name that FROM repeats right behind itself: `*` stands for it.
    pub(super) repeated: Option<usize>,
    /// How many of `group_faults` are about arguments of aggregates, which are looked at before.
    pub(super) early_faults: usize,
    /// Whether it is what a client was told to send for an order: such a query reads the `_rid` of a
    /// group, or of the document that a row is of.
    pub(super) reads_rid: bool,
}

impl QueryFrame<'_> {
    /// Whether FROM gives a name.
    pub(super) fn has_name(&self, name: &str) -> bool {
        self.names.iter().any(|(known, _)| known == name)
    }

    /// Whether inputs of queries in its FROM are inputs of it, too.
    pub(super) fn has_open_names(&self) -> bool {
        self.has_given_up || !self.taken_names.is_empty()
    }

    /// Whether a name cannot be given by its FROM, though nothing has it.
    pub(super) fn takes_name(&self, name: &str) -> bool {
        self.taken_names.iter().any(|taken| taken == name)
    }

    /// Whether it has a GROUP BY that may make several groups.
    fn has_several_groups(&self) -> bool {
        self.has_keys && !self.has_one_row
    }

    /// Whether its expressions see several groups at the moment.
    fn shows_groups(&self) -> bool {
        self.has_several_groups() && self.clause_of_groups().is_some()
    }

    /// The clause that sees groups at the moment, if one does.
    fn clause_of_groups(&self) -> Option<Clause> {
        match self.phase {
            Phase::Groups(clause) => Some(clause),
            _ => None,
        }
    }
}

impl<'q> Binder<'q> {
    /// The frame of the query that is bound.
    /// One is made where there is none, so that no caller has to handle an empty stack.
    pub(super) fn current_frame(&mut self) -> &mut QueryFrame<'q> {
        if self.frames.is_empty() {
            self.frames.push(QueryFrame::default());
        }
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    /// The frame that has a name, counted from the outermost one, and the slot of the name; the
    /// innermost query comes first, and in it the last input.
    pub(super) fn find_name(&self, name: &str) -> Option<(usize, usize)> {
        self.frames.iter().enumerate().rev().find_map(|(at, frame)| {
            let found = frame.names.iter().rev().find(|(known, _)| known == name);
            found.map(|(_, slot)| (at, *slot))
        })
    }

    /// The value of a name that rows have; `None` where that is reported as a fault. A name is one
    /// where a query between it and its use sees groups of several rows. `at` is the whole
    /// expression, which the message shows.
    pub(super) fn resolve_name(&mut self, name: &str, name_at: Span, at: Span) -> Option<Expr> {
        let Some((outer, slot)) = self.find_name(name) else {
            self.note(Fault::Name(name_at, name.to_owned()));
            return None;
        };
        let innermost = self.frames.len();
        for (level, frame) in self.frames.iter_mut().enumerate().skip(outer).rev() {
            let Some(clause) = frame.clause_of_groups().filter(|_| !frame.has_one_row) else {
                continue;
            };
            // A query inside ORDER BY selects by itself.
            let clause = if level + 1 < innermost { Clause::Select } else { clause };
            keep_fault(&mut frame.group_faults, Fault::Ungrouped(at, clause));
            self.hidden_by = Some(level);
            return None;
        }
        self.properties += 1;
        Some(self.of_only_rows(outer, Expr::Slot(slot)))
    }

    /// The value that an expression has in the innermost query, where it has it in the query of the
    /// frame `outer`.
    fn of_only_rows(&mut self, outer: usize, value: Expr) -> Expr {
        (outer..self.frames.len()).fold(value, |value, level| self.of_only_row(level, value))
    }

    /// The value that an expression has for the only row of a query, where that sees its group: the
    /// first one of the list of all.
    pub(super) fn of_only_row(&mut self, level: usize, of: Expr) -> Expr {
        let slot = self.slots;
        match self.frames.get_mut(level) {
            Some(frame) if frame.clause_of_groups().is_some() => {
                frame.aggregates.push(Aggregate { kind: AggregateKind::MakeList, of, slot });
                self.slots += 1;
                let first = Expr::Constant(Value::Int64(0));
                Expr::Steps(Box::new(Expr::Slot(slot)), vec![first])
            }
            _ => of,
        }
    }

    /// Keeps a fault about the rows of a query inside an expression. Inside what a query with keys
    /// selects, orders by or aggregates it is one about groups.
    pub(super) fn note_about_rows(&mut self, fault: Fault) {
        let looks_later = |frame: &&mut QueryFrame<'q>| {
            frame.shows_groups() || (frame.has_several_groups() && frame.phase == Phase::Aggregate)
        };
        match self.frames.iter_mut().find(looks_later) {
            None => self.note(fault),
            Some(frame)
                if frame.phase == Phase::Aggregate && frame.group_faults.len() < MAX_MISTAKES =>
            {
                frame.group_faults.insert(frame.early_faults, fault);
                frame.early_faults += 1;
            }
            Some(frame) => keep_fault(&mut frame.group_faults, fault),
        }
    }

    /// Keeps a fault that is found behind those about the groups of a query around.
    pub(super) fn note_about_groups(&mut self, fault: Fault) {
        if let Some(frame) = self.frames.iter_mut().find(|frame| !frame.group_faults.is_empty()) {
            keep_fault(&mut frame.group_faults, fault);
        }
    }

    /// Takes the results of a query of a single value for rows of the query that is bound, which has one
    /// row otherwise. Returns whether it does so.
    pub(super) fn take_elements(&mut self) -> bool {
        let frame = self.current_frame();
        if frame.is_of_documents || frame.has_many || frame.has_many_results {
            return false;
        }
        frame.has_elements = true;
        match frame.phase {
            // The rows were made one before.
            Phase::Groups(_) => frame.has_many_results = true,
            _ => frame.has_many = true,
        }
        true
    }

    /// The slot of the name that can be seen, for a `*` of an inner query without FROM; the document
    /// where there is none, nothing where there are several.
    pub(super) fn only_name(&self) -> Option<usize> {
        let mut names = self.frames.iter().flat_map(|frame| &frame.names);
        let only = names.next().map_or(DOCUMENT, |(_, slot)| *slot);
        let around = self.frames.iter().rev().skip(1);
        let is_alone = |frame: &QueryFrame<'q>| {
            !frame.joins_elements && !(frame.shows_groups() && frame.aggregates_rows)
        };
        (names.next().is_none() && around.clone().all(is_alone)).then_some(only)
    }

    /// The names that the query around cannot give: those of a query that is of one row for all
    /// documents.
    pub(super) fn taken_names(&self, frame: &QueryFrame<'q>) -> Vec<String> {
        let is_one = |frame: &QueryFrame<'q>| frame.has_one_document && !frame.has_many;
        if !is_one(frame) && !self.frames.iter().any(is_one) {
            return Vec::new();
        }
        let names = frame.names.iter().map(|(name, _)| name);
        names.chain(&frame.taken_names).cloned().collect()
    }

    /// The value of the group key that an expression is.
    /// A query's own keys are not seen while it sees rows, as inside WHERE and inside an aggregate.
    pub(super) fn group_key(&mut self, node: &Node) -> Option<Expr> {
        if self.takes_hidden_key(node.written_span(), |key| key == node) {
            return Some(Expr::Undefined);
        }
        let found = self.visible_keys(node.is_property()).find(|(_, key, _)| *key == node);
        found.map(|(level, _, slot)| self.of_only_rows(level + 1, Expr::Slot(slot)))
    }

    /// The value of the longest group key that a path begins with, and how many of its steps that
    /// is: with `GROUP BY c.a`, `c.a.b` is `.b` of the key. `at` is the whole path.
    pub(super) fn key_of_path(
        &mut self,
        base: &Node,
        steps: &[PathStep],
        at: Span,
    ) -> Option<(Expr, usize)> {
        if self.takes_hidden_key(at, |key| length_of_key(key, base, steps).is_some()) {
            return Some((Expr::Undefined, steps.len()));
        }
        let is_property = base.is_path() && matches!(steps.last(), Some(PathStep::Name(..)));
        let found = self.visible_keys(is_property).filter_map(|(level, key, slot)| {
            length_of_key(key, base, steps).map(|length| (level, slot, length))
        });
        // The longest, as the rest of the path is then shortest to walk.
        let (level, slot, length) = found.max_by_key(|(_, _, length)| *length)?;
        Some((self.of_only_rows(level + 1, Expr::Slot(slot)), length))
    }

    /// Whether a key of the query that is bound is meant which groups of a query around hide; that
    /// query is told of its use.
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

    /// The value of a path of FROM that begins with a group key of a query around. A key that is a
    /// name alone is none there.
    pub(super) fn key_of_input(
        &mut self,
        root: &str,
        steps: &[PathStep],
        at: Span,
    ) -> Option<Expr> {
        let base = Node::new(NodeKind::Name(root.to_owned()), Span::default());
        let (value, length) =
            self.key_of_path(&base, steps, at).filter(|(_, length)| 0 < *length)?;
        Some(path_in(value, steps.get(length..).unwrap_or_default()))
    }

    /// The keys of all queries around that see groups, each with the frame that has it and its slot.
    /// The innermost query comes first. A query inside SELECT of one that groups sees its keys too,
    /// unless it groups itself.
    /// ORDER BY sees only keys that are properties, where what begins with one is none itself.
    fn visible_keys(&self, is_property: bool) -> impl Iterator<Item = (usize, &'q Node, usize)> {
        let hides = |frame: &QueryFrame<'q>| match frame.phase {
            Phase::Groups(_) | Phase::Key => !frame.has_one_row,
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

/// The names of a query that was given up that stay: those of its inputs but the last one, behind which
/// elements of a query inside it may stand.
pub(super) fn left_names(query: &Query, frame: QueryFrame<'_>) -> Vec<(String, usize)> {
    let joined = usize::from(!frame.joins_elements);
    let inputs = query.from.get(..query.from.len().saturating_sub(joined)).unwrap_or_default();
    let is_left =
        |name: &str| inputs.iter().any(|input| input.name().is_some_and(|(of, _)| of == name));
    frame.names.into_iter().filter(|(name, _)| is_left(name)).collect()
}

/// How many steps of a path a key is that it begins with.
fn length_of_key(key: &Node, base: &Node, steps: &[PathStep]) -> Option<usize> {
    match &key.kind {
        NodeKind::Member { base: of, steps: path } => {
            (**of == *base && steps.starts_with(path)).then_some(path.len())
        }
        _ => (key == base).then_some(0),
    }
}

/// Whether a query is what a client was told to send for an order: a `_rid`, the keys of the order, and
/// what is selected.
pub(super) fn reads_rid(query: &Query) -> bool {
    let Selection::List(items) = &query.selection else { return false };
    let named =
        |item: &Item, name: &str| item.alias.as_ref().is_some_and(|(alias, _)| alias == name);
    matches!(items.as_slice(), [_, keys, payload]
        if named(keys, "orderByItems") && named(payload, "payload"))
}

/// Where the name of a selected item stands.
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

/// Whether what an expression comes to is known from what is selected: then DISTINCT and ORDER BY
/// work on the same values.
/// `*` selects the whole document, of which everything is known.
pub(super) fn is_selected(selection: &Selection, node: &Node) -> bool {
    match selection {
        Selection::Star(_) => true,
        Selection::Value(value) => value == node,
        Selection::List(items) => items.iter().any(|item| item.node == *node),
    }
}
