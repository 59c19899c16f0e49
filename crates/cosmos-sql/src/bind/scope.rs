//! Names that can be seen: those of the query that is bound and of all queries around it.

use select::plan::{Aggregate, Expr};

use super::Binder;
use crate::{
    ast::{Node, NodeKind, PathStep},
    error::{Fault, Span},
};

/// Whether expressions see rows or groups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Phase {
    /// Names of FROM, as in WHERE.
    #[default]
    Rows,
    /// Keys of GROUP BY and aggregates, as in SELECT of a query that groups.
    Groups,
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

    /// The slot of a name and the phase of the query that has it; the innermost query comes first.
    /// The phase tells the caller whether the name may be used where it stands.
    pub(super) fn find_name(&self, name: &str) -> Option<(usize, Phase)> {
        self.frames.iter().rev().find_map(|frame| {
            // Within a query names are distinct, so that the direction does not matter there.
            let found = frame.names.iter().rev().find(|(known, _)| known == name);
            found.map(|(_, slot)| (*slot, frame.phase))
        })
    }

    /// The slot of a name that rows have. A name of a query that sees groups is an error: a group
    /// has many rows. `at` is the whole expression, which the message shows.
    pub(super) fn resolve_name(&self, name: &str, name_at: Span, at: Span) -> Result<usize, Fault> {
        match self.find_name(name) {
            None => Err(Fault::Name(name_at, name.to_owned())),
            Some((_, Phase::Groups)) => Err(Fault::Ungrouped(at)),
            Some((slot, _)) => Ok(slot),
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
    fn visible_keys(&self) -> impl Iterator<Item = (&'q Node, usize)> {
        let grouped = self.frames.iter().rev().filter(|frame| frame.phase == Phase::Groups);
        grouped.flat_map(|frame| frame.keys.iter().copied())
    }
}
