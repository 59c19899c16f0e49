//! Plans a finder: its access path, the work that remains for stages, and the description for
//! `explain`.

use std::{collections::VecDeque, sync::Arc};

use bytes::Bytes;
use collation::Collation;
use pipeline::{
    Filter,
    exec::{CountPipeline, Stage},
};

use super::{
    super::{Explain, Find, UsedIndexes},
    Finder, Progress,
    branches::Branches,
    long_keys::LongKeys,
    nearest::Nearest,
    seen::SeenRows,
};
use crate::{
    access::{AccessPath, ChosenAccess, ChosenBranch, Residual, choose_access},
    catalog::CollectionState,
    error::Error,
    keys,
};

impl Finder {
    /// Plans a finder for an operation that compares texts by `collation`; `used` records the
    /// operation's index uses, or `None` to not count them.
    pub(crate) fn new(
        state: &CollectionState,
        find: &Find,
        collation: Option<&Collation>,
        used: Option<&Arc<UsedIndexes>>,
    ) -> Result<Self, Error> {
        let sort = find.sort.as_ref();
        let mut chosen = choose_access(state, &find.filter, sort, &find.hint, collation)?;
        let by_keys = chosen.is_skipped_by_keys();
        let branches = match &mut chosen.access {
            AccessPath::Branches { branches, disjoint } => {
                // Each branch has to yield the requested order, so that they can be merged.
                let order = find.sort.as_ref();
                let order = order.filter(|sort| chosen.sorted && !sort.parts.is_empty());
                let finder = |ChosenBranch { filter, chosen }| {
                    let filter = filter.unwrap_or_else(|| Arc::clone(&find.filter));
                    let find = Find { filter, sort: order.cloned(), hint: find.hint.clone() };
                    Self::of_choice(state, &find, chosen, used)
                };
                let finders = std::mem::take(branches).into_iter().map(finder).collect();
                Some(Box::new(Branches::new(finders, order.cloned(), *disjoint)))
            }
            _ => None,
        };
        let mut finder = Self::of_choice(state, find, chosen, used);
        (finder.by_keys, finder.branches) = (by_keys, branches);
        Ok(finder)
    }

    /// Creates a finder for the candidates of one access path.
    fn of_choice(
        state: &CollectionState,
        find: &Find,
        chosen: ChosenAccess,
        used: Option<&Arc<UsedIndexes>>,
    ) -> Self {
        let uses = chosen.used_index(find.sort.as_ref(), &find.hint);
        let by_keys = chosen.is_skipped_by_keys();
        let filter = match &chosen.residual {
            Residual::Whole => Arc::clone(&find.filter),
            Residual::Parts(left) => Arc::new(left.clone()),
            Residual::Nothing => Arc::new(Filter::always()),
        };
        let nearest = match &chosen.access {
            AccessPath::Near(near) => Some(Box::new(Nearest::new((**near).clone()))),
            _ => None,
        };
        Self {
            filter,
            nearest,
            long_keys: LongKeys::of_walk(&chosen, find.sort.as_ref()).map(Box::new),
            by_keys,
            created: state.record.created,
            at: 0,
            progress: Progress::NotBegun,
            rows_ahead: VecDeque::new(),
            ahead: VecDeque::new(),
            last: None,
            seen: chosen.repeats_rows().then(SeenRows::default),
            uncounted: used.map(Arc::clone).zip(uses),
            uses,
            keys_examined: 0,
            documents_examined: 0,
            counts_entries: false,
            to_skip: 0,
            branches: None,
            follows: false,
            chosen,
        }
    }

    /// Returns the execution's description and statistics.
    pub(crate) fn explain(&self) -> Explain {
        let mut explain = self.description();
        if let Some(branches) = &self.branches {
            explain.merged = branches.are_merged();
            explain.branches = branches.explain();
            for branch in &explain.branches {
                explain.keys_examined += branch.keys_examined;
                explain.documents_examined += branch.documents_examined;
            }
        } else if self.walks_insertions() {
            explain.keys_examined = 0;
        } else if matches!(self.chosen.access, AccessPath::Rows(_)) {
            // A row is also an entry of the primary key. If that is not used, all rows, including
            // skipped ones, count as examined documents.
            match explain.index {
                Some(_) => explain.keys_examined += explain.documents_examined,
                None => explain.documents_examined += std::mem::take(&mut explain.keys_examined),
            }
        }
        explain
    }

    /// Returns the key of the only row that the finder looks up; `None` if it may find others.
    pub(crate) fn only_key(&self) -> Option<Bytes> {
        match &self.chosen.access {
            AccessPath::Ids(ids) if ids.len() == 1 => {
                ids.first().map(|id| Bytes::copy_from_slice(id))
            }
            _ => None,
        }
    }

    /// Returns whether the scan reads a capped collection in the order of the inserts.
    fn walks_insertions(&self) -> bool {
        matches!(&self.chosen.access, AccessPath::Index { index, .. } if index.is_insertion_order())
    }

    /// Makes the scan wait at its end for further rows, in the order of the inserts; returns false
    /// if it does not read in this order.
    pub(crate) fn follow(&mut self) -> bool {
        self.follows = self.walks_insertions();
        self.follows
    }

    /// Returns the creation stamp of the last row that a scan in the order of the inserts has
    /// examined; `None` if it has examined none.
    pub(crate) fn last_insertion(&self) -> Option<u64> {
        keys::stamp_of_insertion(self.last.as_ref()?)
    }

    /// Makes the scan not count as a use of its index.
    pub(crate) fn leave_uncounted(&mut self) {
        self.uncounted = None;
        self.branches.iter_mut().for_each(|branches| branches.leave_uncounted());
    }

    /// Returns whether rows arrive in sort order.
    pub(crate) fn is_sorted(&self) -> bool {
        self.chosen.sorted
    }

    /// Plans to skip this many leading rows by their keys; returns false if rows must be read to
    /// skip them.
    pub(crate) fn plan_skip(&mut self, rows: u64) -> bool {
        if self.by_keys {
            self.to_skip = rows;
        }
        self.by_keys
    }

    /// Returns the count that the stages need, if it can be determined without reading rows.
    pub(crate) fn plan_count(&mut self, stages: &[Stage]) -> Option<CountPipeline> {
        let by_keys = self.chosen.is_counted_by_keys() && self.to_skip == 0;
        let count_pipeline = by_keys.then(|| CountPipeline::of_stages(stages)).flatten();
        self.counts_entries = count_pipeline.is_some() && self.description().index.is_some();
        count_pipeline
    }

    /// Returns whether the planned collection and index still exist.
    pub(crate) fn is_still_valid(&self, state: &CollectionState) -> bool {
        if let Some(branches) = &self.branches {
            return branches.are_still_valid(state);
        }
        self.created == state.record.created
            // An index that has become multikey may name rows several times, for which this finder
            // was planned without `seen`.
            && match &self.chosen.access {
                AccessPath::Index { index, .. } => state
                    .record
                    .indexes
                    .iter()
                    .any(|held| held.id == index.id && (index.multikey || !held.multikey)),
                AccessPath::Near(near) => {
                    state.record.indexes.iter().any(|held| held.id == near.index.id)
                }
                _ => true,
            }
    }
}
