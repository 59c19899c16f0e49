//! Names that can be seen: those of the query that is bound and of all queries around it.

use select::plan::{Aggregate, Expr};

use super::{Binder, keep_fault};
use crate::{
    ast::{Item, Node, NodeKind, PathStep, Query, Selection},
    error::{Clause, Fault, Span},
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
    /// What its expressions see at the moment.
    pub(super) phase: Phase,
    /// Keys of GROUP BY with their slots.
    /// They are compared as trees, so that `c.a` in SELECT is found as the key `c.a`.
    pub(super) keys: Vec<(&'q Node, usize)>,
    /// Aggregates that were found so far.
    pub(super) aggregates: Vec<Aggregate>,
    /// What is wrong with the use of rows where there are groups.
    pub(super) group_faults: Vec<Fault>,
    /// Whether it is what a client was told to send for an order of groups: such a query reads the
    /// `_rid` of a group.
    pub(super) reads_group_rid: bool,
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

    /// The slot of a name, and what it may be used for; the innermost query comes first. Where a query
    /// between the name and its use sees groups, these are of the rows that the name has, too.
    pub(super) fn find_name(&self, name: &str) -> Option<(usize, Phase)> {
        let mut groups = None;
        self.frames.iter().rev().find_map(|frame| {
            if let (None, Phase::Groups(_)) = (groups, frame.phase) {
                groups = Some(frame.phase);
            }
            // Within a query names are distinct, so that the direction does not matter there.
            let found = frame.names.iter().rev().find(|(known, _)| known == name);
            found.map(|(_, slot)| (*slot, groups.unwrap_or(frame.phase)))
        })
    }

    /// The slot of a name that rows have; `None` where that is reported as a fault. A name of a query
    /// that sees groups is one: a group has many rows. `at` is the whole expression, which the
    /// message shows.
    pub(super) fn resolve_name(&mut self, name: &str, name_at: Span, at: Span) -> Option<usize> {
        match self.find_name(name) {
            None => self.note(Fault::Name(name_at, name.to_owned())),
            Some((_, Phase::Groups(clause))) => {
                let sees = |frame: &&mut QueryFrame<'q>| matches!(frame.phase, Phase::Groups(_));
                // It is that query's fault whose groups stand between the name and its use.
                if let Some(frame) = self.frames.iter_mut().rev().find(sees) {
                    keep_fault(&mut frame.group_faults, Fault::Ungrouped(at, clause));
                }
            }
            Some((slot, _)) => {
                self.properties += 1;
                return Some(slot);
            }
        }
        None
    }

    /// The slot of the only name that can be seen, for a `*` of an inner query without FROM.
    pub(super) fn only_name(&self) -> Option<usize> {
        let mut names = self.frames.iter().flat_map(|frame| &frame.names);
        match (names.next(), names.next()) {
            (Some((_, slot)), None) => Some(*slot),
            _ => None,
        }
    }

    /// The slot of the group key that an expression is.
    /// A query's own keys are not seen while it sees rows, as inside WHERE and inside an aggregate.
    pub(super) fn group_key(&self, node: &Node) -> Option<Expr> {
        self.visible_keys().find(|(key, _)| *key == node).map(|(_, slot)| Expr::Slot(slot))
    }

    /// The slot of the longest group key that a path begins with, and how many of its steps that
    /// is: with `GROUP BY c.a`, `c.a.b` is `.b` of the key.
    pub(super) fn key_of_path(&self, base: &Node, steps: &[PathStep]) -> Option<(Expr, usize)> {
        let found = self.visible_keys().filter_map(|(key, slot)| match &key.kind {
            NodeKind::Member { base: of, steps: path } => {
                let begins = **of == *base && steps.starts_with(path);
                begins.then_some((slot, path.len()))
            }
            _ => (key == base).then_some((slot, 0)),
        });
        // The longest, as the rest of the path is then shortest to walk.
        found.max_by_key(|(_, length)| *length).map(|(slot, length)| (Expr::Slot(slot), length))
    }

    /// The keys of all queries around that see groups.
    /// The innermost query comes first. A query inside SELECT of one that groups sees its keys too.
    /// ORDER BY sees only those that are properties.
    fn visible_keys(&self) -> impl Iterator<Item = (&'q Node, usize)> {
        self.frames.iter().rev().flat_map(|frame| {
            let sees = move |key: &Node| match frame.phase {
                Phase::Groups(Clause::Select) => true,
                Phase::Groups(Clause::OrderBy) => key.is_property(),
                _ => false,
            };
            frame.keys.iter().copied().filter(move |(key, _)| sees(key))
        })
    }
}

/// Whether a query is what a client was told to send for groups in an order: their `_rid`, the keys of
/// the order, and the groups.
pub(super) fn orders_groups(query: &Query) -> bool {
    let Selection::List(items) = &query.selection else { return false };
    let named =
        |item: &Item, name: &str| item.alias.as_ref().is_some_and(|(alias, _)| alias == name);
    !query.group.is_empty()
        && matches!(items.as_slice(), [_, keys, payload]
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
