//! Ways to the rows that a filter means: as candidates with a score, and as the one that is chosen.

use std::sync::Arc;

use document::limits::KEPT_KEY_COMPONENT_BYTES;
use pipeline::{Filter, sort::Sort};
use store::{Direction, KeyRange};

use super::{
    Hint,
    exact::{Residual, residual_of},
};
use crate::catalog::{ID_INDEX, IndexSpec};

/// The most access paths that are walked for one query.
pub(super) const MAX_BRANCHES: usize = 200;

/// How candidates are found.
#[derive(Clone, Debug)]
pub(crate) enum Access {
    /// Rows with these keys.
    Ids(Vec<Vec<u8>>),
    /// Rows in these ranges.
    Rows(Vec<KeyRange>),
    /// Entries of an index in these ranges.
    Index { index: Box<IndexSpec>, ranges: Vec<KeyRange> },
    /// The rows that these access paths lead to, each row once.
    Branches {
        branches: Vec<ChosenBranch>,
        /// No two of them lead to the same row.
        disjoint: bool,
    },
}

/// One of several access paths of a query.
#[derive(Clone, Debug)]
pub(crate) struct ChosenBranch {
    /// What its rows have to meet; `None` for the filter of the query.
    pub(crate) filter: Option<Arc<Filter>>,
    pub(crate) chosen: ChosenAccess,
}

impl Access {
    /// By which way it comes to rows, for logs.
    pub(crate) fn way(&self) -> String {
        match self {
            Self::Ids(_) => "ids".to_owned(),
            Self::Rows(_) => "scan".to_owned(),
            Self::Index { index, .. } => format!("index {}", index.name),
            Self::Branches { branches, .. } => {
                let mut ways: Vec<_> = branches.iter().map(|it| it.chosen.access.way()).collect();
                ways.dedup();
                ways.join(", ")
            }
        }
    }

    /// Whether no key of a long value, of which the beginning is kept, is among the values that its
    /// ranges name. Only then keys tell the order of rows in different ranges.
    pub(super) fn keys_are_whole(&self) -> bool {
        match self {
            Self::Ids(keys) => !keys.iter().any(|key| is_cut(key)),
            Self::Index { ranges, .. } => !ranges.iter().any(|range| is_cut(&range.start)),
            // The rows themselves are compared.
            Self::Rows(_) => true,
            Self::Branches { branches, .. } => {
                branches.iter().all(|it| it.chosen.access.keys_are_whole())
            }
        }
    }
}

/// Whether a component was cut, or one of several.
pub(super) fn is_cut(key: &[u8]) -> bool {
    KEPT_KEY_COMPONENT_BYTES < key.len()
}

/// A choice.
#[derive(Clone, Debug)]
pub(crate) struct ChosenAccess {
    /// Where candidates come from.
    pub(crate) access: Access,
    /// Of the walk over rows or entries.
    pub(crate) direction: Direction,
    /// Rows come in the order of the sort.
    pub(crate) sorted: bool,
    /// What of the filter the ranges do not say.
    pub(crate) residual: Residual,
}

impl ChosenAccess {
    /// Whether keys alone say how many documents are meant: each key in its ranges stands for one of
    /// them, and none is left out.
    pub(crate) fn is_counted_by_keys(&self) -> bool {
        let one_each = match &self.access {
            Access::Index { index, .. } => !index.multikey,
            Access::Rows(_) => true,
            // A row that is named may not exist, and several branches may lead to one row.
            Access::Ids(_) | Access::Branches { .. } => false,
        };
        one_each && matches!(self.residual, Residual::Nothing)
    }

    /// Whether rows at the beginning can be skipped by their keys.
    pub(crate) fn is_skipped_by_keys(&self) -> bool {
        match &self.access {
            Access::Branches { branches, disjoint } => {
                *disjoint && branches.iter().all(|it| it.chosen.is_counted_by_keys())
            }
            _ => self.is_counted_by_keys(),
        }
    }

    /// The index that is used: that of the id where ids are named or bounded, where rows come in its
    /// order because that is asked for, and where a hint names it. `None`: all rows are walked, or
    /// each branch uses its own.
    pub(crate) fn used_index(&self, sort: Option<&Sort>, hint: &Hint) -> Option<u32> {
        let is_meant = match &self.access {
            Access::Index { index, .. } => return Some(index.id),
            Access::Ids(ids) => !ids.is_empty(),
            Access::Branches { .. } => false,
            Access::Rows(ranges) => {
                let bounded = ranges.as_slice() != [KeyRange::all()];
                let ordered = self.sorted && sort.is_some_and(|sort| !sort.parts.is_empty());
                let hinted = matches!(hint, Hint::Index(_) | Hint::Key(_));
                bounded || ordered || hinted
            }
        };
        is_meant.then_some(ID_INDEX)
    }
}

/// A way and how good it is.
pub(super) struct ScoredAccess<'a> {
    pub(super) score: usize,
    /// The part of the score that the bounds make up.
    pub(super) bound: usize,
    pub(super) access: Access,
    pub(super) direction: Direction,
    pub(super) sorted: bool,
    /// The ranges of an index give the order only where those of each of these lengths, one after the
    /// other, are merged with the others.
    pub(super) merged: Option<Vec<usize>>,
    /// Paths that its ranges bound and at which no document has more than one value.
    pub(super) ranged: Vec<&'a str>,
    /// What every document in it meets.
    pub(super) partial: Option<&'a Filter>,
}

impl ScoredAccess<'_> {
    /// The way as a choice, with what of these conjuncts it leaves to be checked.
    pub(super) fn choose(self, parts: &[&Filter]) -> ChosenAccess {
        let residual = residual_of(parts, &self.ranged, self.partial);
        let Self { access, direction, sorted, merged, .. } = self;
        let access = match (access, merged) {
            (Access::Index { index, mut ranges }, Some(lengths)) => {
                let mut branches = Vec::with_capacity(lengths.len());
                for length in lengths {
                    let rest = ranges.split_off(length.min(ranges.len()));
                    let ranges = std::mem::replace(&mut ranges, rest);
                    let access = Access::Index { index: index.clone(), ranges };
                    let residual = residual.clone();
                    let chosen = ChosenAccess { access, direction, sorted, residual };
                    branches.push(ChosenBranch { filter: None, chosen });
                }
                Access::Branches { branches, disjoint: true }
            }
            (access, _) => access,
        };
        ChosenAccess { access, direction, sorted, residual }
    }
}
