//! Names that can be seen: those of the query that is bound and of all queries around it.

use select::plan::{Aggregate, Expr};

use super::Binder;
use crate::{
    ast::{Node, NodeKind, Step},
    error::{Fault, Span},
};

/// Whether expressions see rows or groups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Phase {
    #[default]
    Rows,
    Groups,
    /// Inside an aggregate: rows again, but no aggregate.
    Aggregate,
}

/// What one query adds.
#[derive(Debug, Default)]
pub(super) struct Frame<'q> {
    pub(super) names: Vec<(String, usize)>,
    /// Whether its FROM is being bound.
    pub(super) enters: bool,
    pub(super) phase: Phase,
    pub(super) keys: Vec<(&'q Node, usize)>,
    pub(super) aggregates: Vec<Aggregate>,
}

impl<'q> Binder<'q> {
    /// The query that is bound.
    pub(super) fn frame(&mut self) -> &mut Frame<'q> {
        if self.frames.is_empty() {
            self.frames.push(Frame::default());
        }
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    /// The slot of a name.
    pub(super) fn find(&self, name: &str) -> Option<(usize, Phase)> {
        self.frames.iter().rev().find_map(|frame| {
            let found = frame.names.iter().rev().find(|(known, _)| known == name);
            found.map(|(_, slot)| (*slot, frame.phase))
        })
    }

    /// The slot of a name that rows have; `at` is the expression that it begins.
    pub(super) fn resolve(&self, name: &str, name_at: Span, at: Span) -> Result<usize, Fault> {
        match self.find(name) {
            None => Err(Fault::Name(name_at, name.to_owned())),
            Some((_, Phase::Groups)) => Err(Fault::Ungrouped(at)),
            Some((slot, _)) => Ok(slot),
        }
    }

    /// The key of a group that an expression is.
    pub(super) fn key(&self, node: &Node) -> Option<Expr> {
        self.keys().find(|(key, _)| *key == node).map(|(_, slot)| Expr::Slot(slot))
    }

    /// The key of a group that the beginning of a path is, and how many steps that is.
    pub(super) fn key_of_path(&self, base: &Node, steps: &[Step]) -> Option<(Expr, usize)> {
        let found = self.keys().filter_map(|(key, slot)| match &key.kind {
            NodeKind::Member { base: of, steps: path } => {
                let begins = **of == *base && steps.starts_with(path);
                begins.then_some((slot, path.len()))
            }
            _ => (key == base).then_some((slot, 0)),
        });
        found.max_by_key(|(_, length)| *length).map(|(slot, length)| (Expr::Slot(slot), length))
    }

    /// Keys of the groups that are seen.
    fn keys(&self) -> impl Iterator<Item = (&'q Node, usize)> {
        let grouped = self.frames.iter().rev().filter(|frame| frame.phase == Phase::Groups);
        grouped.flat_map(|frame| frame.keys.iter().copied())
    }
}
