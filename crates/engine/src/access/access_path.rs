//! Access paths: possible ones with their scores, and the one chosen for a query.

use std::sync::Arc;

use document::key::KEPT_KEY_COMPONENT_BYTES;
use geometry::{Near, Space};
use pipeline::{Filter, sort::Sort};
use store::{Direction, KeyRange};

use super::{
    Hint,
    exact::{Residual, residual_of},
    key_texts::KeyTexts,
};
use crate::catalog::{ID_INDEX, IndexSpec};

/// Maximum number of branches, the access paths that together find the rows of one query.
pub(super) const MAX_BRANCHES: usize = 200;

/// How candidate rows are found.
#[derive(Clone, Debug)]
pub(crate) enum AccessPath {
    /// The rows with these keys, read one by one.
    Ids(Vec<Vec<u8>>),
    /// The rows in these key ranges.
    Rows(Vec<KeyRange>),
    /// The entries of an index in these key ranges.
    Index { index: Arc<IndexSpec>, ranges: Vec<KeyRange> },
    /// The entries of an index of geometries in the order of their distances from a point.
    Near(Box<NearAccess>),
    /// The union of several access paths, each row once.
    Branches {
        branches: Vec<ChosenBranch>,
        /// Whether no two branches find the same row.
        disjoint: bool,
    },
}

/// The entries of an index of geometries around a point.
#[derive(Clone, Debug)]
pub(crate) struct NearAccess {
    pub(crate) index: Arc<IndexSpec>,
    /// The space that the index divides into cells.
    pub(crate) space: Space,
    /// Key prefixes of the entries, before their cells.
    pub(crate) prefixes: CellPrefixes,
    /// The point and the distances.
    pub(crate) near: Arc<Near>,
}

/// Key prefixes of entries of an index of geometries, before their cells.
#[derive(Clone, Debug)]
pub(crate) enum CellPrefixes {
    /// The filter fixes the fields before the cells, so the prefixes are known.
    Known(Vec<Vec<u8>>),
    /// All prefixes that entries in some ranges have.
    Within {
        /// The ranges of keys that the filter allows.
        ranges: Vec<KeyRange>,
        /// For each field before the geometry, whether its order is descending.
        descending: Vec<bool>,
    },
}

/// One of the access paths that together find a query's rows.
#[derive(Clone, Debug)]
pub(crate) struct ChosenBranch {
    /// The filter that the branch's rows have to match; `None` means the query's filter.
    pub(crate) filter: Option<Arc<Filter>>,
    pub(crate) chosen: ChosenAccess,
}

impl AccessPath {
    /// Returns the name of the access path for logs.
    pub(crate) fn label(&self) -> String {
        match self {
            Self::Ids(_) => "ids".to_owned(),
            Self::Rows(_) => "scan".to_owned(),
            Self::Index { index, .. } if index.is_insertion_order() => "scan".to_owned(),
            Self::Index { index, .. } => format!("index {}", index.name),
            Self::Near(near) => format!("index {}", near.index.name),
            Self::Branches { branches, .. } => {
                let mut labels: Vec<_> =
                    branches.iter().map(|it| it.chosen.access.label()).collect();
                labels.dedup();
                labels.join(", ")
            }
        }
    }

    /// Returns whether keys give the order of rows across ranges: they have the values of the
    /// order, and no range bound contains a truncated long value.
    pub(super) fn can_be_merged(&self, sort: &Sort) -> bool {
        match self {
            Self::Ids(keys) => !keys.iter().any(|key| may_be_truncated(key)),
            Self::Index { index, ranges } => {
                keys_hold_order(index, sort)
                    && !ranges.iter().any(|range| may_be_truncated(&range.start))
            }
            // Rows are compared by their stored values.
            Self::Rows(_) | Self::Near(_) => true,
            Self::Branches { branches, .. } => {
                branches.iter().all(|it| it.chosen.access.can_be_merged(sort))
            }
        }
    }
}

/// Returns whether the key may contain a truncated component: it is longer than the longest
/// component that is not truncated.
pub(super) fn may_be_truncated(key: &[u8]) -> bool {
    KEPT_KEY_COMPONENT_BYTES < key.len()
}

/// Returns whether the keys of an index have the values of all parts of an order, so that entries
/// of different ranges can be compared. Parts after `_id` do not matter, since ids are unique.
pub(super) fn keys_hold_order(index: &IndexSpec, sort: &Sort) -> bool {
    for part in &sort.parts {
        let path = part.path.as_str();
        let is_field = index.key.iter().any(|(field, _)| field == path);
        let is_id_at_end = path == "_id" && index.ends_with_id();
        if !is_field && !is_id_at_end {
            return false;
        }
        if path == "_id" {
            break;
        }
    }
    true
}

#[derive(Clone, Debug)]
pub(crate) struct ChosenAccess {
    pub(crate) access: AccessPath,
    /// Direction of the scan over rows or entries.
    pub(crate) direction: Direction,
    /// Whether rows arrive in the sort order.
    pub(crate) sorted: bool,
    /// The part of the filter that remains to be checked on each row.
    pub(crate) residual: Residual,
}

impl ChosenAccess {
    /// Returns whether counting keys counts the matching documents: each key in the ranges
    /// represents exactly one of them.
    pub(crate) fn is_counted_by_keys(&self) -> bool {
        let one_each = match &self.access {
            AccessPath::Index { index, .. } => index.has_fields() && !index.multikey,
            AccessPath::Rows(_) => true,
            // A row with a listed id may not exist, and several branches may find the same row.
            AccessPath::Ids(_) | AccessPath::Near(_) | AccessPath::Branches { .. } => false,
        };
        one_each && matches!(self.residual, Residual::Nothing)
    }

    /// Returns whether a scan may find a row by more than one entry.
    pub(crate) fn repeats_rows(&self) -> bool {
        match &self.access {
            AccessPath::Index { index, .. } if index.is_insertion_order() => false,
            AccessPath::Index { index, .. } => index.multikey || !index.has_fields(),
            AccessPath::Near(_) => true,
            AccessPath::Ids(_) | AccessPath::Rows(_) | AccessPath::Branches { .. } => false,
        }
    }

    /// Returns whether the first rows of the result can be skipped (`skip`) by reading only their
    /// keys.
    pub(crate) fn is_skipped_by_keys(&self) -> bool {
        match &self.access {
            AccessPath::Branches { branches, disjoint } => {
                *disjoint && branches.iter().all(|it| it.chosen.is_counted_by_keys())
            }
            _ => self.is_counted_by_keys(),
        }
    }

    /// Returns the index used. The primary key counts as used if ids are listed or bounded, if its
    /// order is the requested one, or if a hint names it. `None` for a full scan, and for branches,
    /// since each has an index.
    pub(crate) fn used_index(&self, sort: Option<&Sort>, hint: &Hint) -> Option<u32> {
        let is_meant = match &self.access {
            AccessPath::Index { index, .. } if index.is_insertion_order() => return None,
            AccessPath::Index { index, .. } => return Some(index.id),
            AccessPath::Near(near) => return Some(near.index.id),
            AccessPath::Ids(ids) => !ids.is_empty(),
            AccessPath::Branches { .. } => false,
            AccessPath::Rows(ranges) => {
                let bounded = ranges.as_slice() != [KeyRange::all()];
                let ordered = self.sorted && sort.is_some_and(|sort| !sort.parts.is_empty());
                let hinted = matches!(hint, Hint::Index(_) | Hint::Key(_) | Hint::Between { .. });
                bounded || ordered || hinted
            }
        };
        is_meant.then_some(ID_INDEX)
    }
}

/// A possible access path with its score, by which paths are compared.
pub(super) struct ScoredAccess<'a> {
    pub(super) score: usize,
    /// The part of the score that results from bounds on fields, rather than from sort order.
    pub(super) bound: usize,
    pub(super) access: AccessPath,
    pub(super) direction: Direction,
    pub(super) sorted: bool,
    /// If set, the ranges are divided into groups, in order; the list has the number of ranges of
    /// each group. The index yields the sort order only if the groups are merged.
    pub(super) merged: Option<Vec<usize>>,
    /// Document paths that the ranges bound and at which no document has more than one value.
    pub(super) ranged: Vec<&'a str>,
    /// The filter of a partial index, which all documents in the index match.
    pub(super) partial: Option<&'a Filter>,
    /// How the access path holds texts.
    pub(super) texts: KeyTexts<'a>,
}

impl<'a> ScoredAccess<'a> {
    /// Creates the access path of an index in these ranges, which yields no order.
    pub(super) fn unordered(
        index: &Arc<IndexSpec>,
        (score, ranges): (usize, Vec<KeyRange>),
        sort: Option<&Sort>,
        partial: Option<&'a Filter>,
        texts: KeyTexts<'a>,
    ) -> Self {
        Self {
            score,
            bound: score,
            access: AccessPath::Index { index: Arc::clone(index), ranges },
            direction: Direction::Forward,
            sorted: sort.is_none_or(|sort| sort.parts.is_empty()),
            merged: None,
            ranged: Vec::new(),
            partial,
            texts,
        }
    }
}

impl ScoredAccess<'_> {
    /// Makes the candidate the chosen path; `parts` are the conjuncts of the filter, from which the
    /// part that must be checked on each row is computed.
    pub(super) fn choose(self, parts: &[&Filter]) -> ChosenAccess {
        let residual = residual_of(parts, &self.ranged, self.partial, self.texts);
        let Self { access, direction, sorted, merged, .. } = self;
        let access = match (access, merged) {
            (AccessPath::Index { index, mut ranges }, Some(lengths)) => {
                let mut branches = Vec::with_capacity(lengths.len());
                for length in lengths {
                    let rest = ranges.split_off(length.min(ranges.len()));
                    let ranges = std::mem::replace(&mut ranges, rest);
                    let access = AccessPath::Index { index: Arc::clone(&index), ranges };
                    let residual = residual.clone();
                    let chosen = ChosenAccess { access, direction, sorted, residual };
                    branches.push(ChosenBranch { filter: None, chosen });
                }
                AccessPath::Branches { branches, disjoint: true }
            }
            (access, _) => access,
        };
        ChosenAccess { access, direction, sorted, residual }
    }
}
