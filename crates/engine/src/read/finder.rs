//! Scans the candidates of an access path in a view and returns the rows that match the filter. It
//! keeps its position, so that it can continue in a later view.
//!
//! ```text
//!  ranges:      [────────)   [─────────)   [──────)      `at` is the current range
//!                   │  └ last: the last candidate that was used
//!                   └ ahead: read with the page, not used yet
//! ```
//!
//! Rows and index entries are read in pages, ids individually. Rows are taken from their page
//! without awaiting. An entry or id leads to a read of its row; since a multikey index may name a
//! row several times, `seen` removes duplicates.
//!
//! Keys of long values are truncated and do not give their order: `long_keys` sorts rows with equal
//! key prefixes where the order matters.
//!
//! With several access paths, `branches` runs one finder for each. A search by distance does not scan
//! ranges in their order: `nearest` reads the entries around a point.
//!
//! If the view cannot decide whether a candidate has expired ([`Halt::LookAgain`]), the scan stops
//! before this candidate. Rows found so far are certain and are returned.

mod ahead;
mod branches;
mod counting;
mod front;
mod long_keys;
mod nearest;
mod planning;
mod seen;

use std::{collections::VecDeque, sync::Arc};

use bytes::Bytes;
use evaluation::Context;
use pipeline::Filter;
use store::KeyRange;

use branches::Branches;
use long_keys::LongKeys;
use nearest::Nearest;
use seen::SeenRows;

use super::{Explain, UsedIndexes};
use crate::{
    access::{AccessPath, ChosenAccess},
    error::{Error, Halt},
    limits::{ROW_WORK, TAKE_BYTES},
    row::{Entry, Row},
    view::{LiveView, Pages},
    yielding::yield_if_due,
};

/// A reference to a row that may match the filter.
#[derive(Debug)]
enum Candidate {
    /// An index entry whose row has not been read yet.
    Entry(Entry),
    /// A key under which a row may or may not exist.
    Id(Vec<u8>),
}

/// Progress of the scan of one range.
#[derive(Debug)]
enum Progress {
    /// No page was read yet.
    NotBegun,
    /// Some pages were read. The range ends when no page is left and the rows read ahead are used
    /// up.
    Walking(Pages),
}

/// A scan that finds the rows of a query by one access path.
#[derive(Debug)]
pub(crate) struct Finder {
    /// The residual filter, checked on every row.
    filter: Arc<Filter>,
    /// The access path, its direction, and whether it yields the sort order.
    chosen: ChosenAccess,
    /// Stamp of the collection's creation, by which a plan detects that the name denotes another
    /// collection.
    created: u64,
    /// Index of the current range.
    at: usize,
    progress: Progress,
    /// Rows read ahead from the current range, for scans of rows.
    rows_ahead: VecDeque<Row>,
    /// Index entries or ids read ahead from the current range, for scans that are not row scans.
    ahead: VecDeque<Candidate>,
    /// Key of the last used candidate; `None` for lookups by id.
    last: Option<Bytes>,
    /// Rows already returned, for an index that may have several entries for a row.
    seen: Option<SeenRows>,
    /// Sorts rows whose keys are truncated; `None` if the query has no order.
    long_keys: Option<Box<LongKeys>>,
    /// The index whose use must still be counted, and the set that counts it; `None` once counted.
    uncounted: Option<(Arc<UsedIndexes>, u32)>,
    /// The index that the access path uses; `None` for a full scan.
    uses: Option<u32>,
    /// Number of live index entries examined so far.
    keys_examined: u64,
    /// Number of live documents examined so far.
    documents_examined: u64,
    /// Whether index entries are counted without reading documents.
    counts_entries: bool,
    /// Whether rows can be skipped without reading them, because the key of a candidate identifies
    /// a matching row.
    by_keys: bool,
    /// Number of leading rows still to be skipped by key.
    to_skip: u64,
    /// The finders of the branches, if the access path is a union; this finder then only combines
    /// them.
    branches: Option<Box<Branches>>,
    /// The search by distance, if the access path is one; this finder then only describes it.
    nearest: Option<Box<Nearest>>,
    /// Whether the scan keeps its position at the end of its last range, to continue with rows that
    /// are inserted later.
    follows: bool,
}

impl Finder {
    /// Returns the finder's access path, and the finders of its branches if it has several.
    pub(super) fn paths(&self) -> (&ChosenAccess, Vec<&Finder>) {
        let branches = self.branches.iter().flat_map(|branches| branches.finders());
        (&self.chosen, branches.collect())
    }

    /// Returns the description of the plan, with the statistics of this finder alone. It is made on
    /// request, since few queries are explained.
    pub(super) fn description(&self) -> Explain {
        Explain {
            counted: self.counts_entries,
            keys_examined: self.keys_examined,
            documents_examined: self.documents_examined,
            ..Explain::of_choice(&self.chosen, self.uses)
        }
    }

    /// Drops the candidates that were read ahead; they are read again later.
    pub(crate) fn forget_read_ahead(&mut self) {
        self.branches.iter_mut().for_each(|branches| branches.forget_read_ahead());
        // For ids, `at` is the position after the ids read ahead.
        if matches!(self.chosen.access, AccessPath::Ids(_)) {
            self.at -= self.ahead.len();
        }
        (self.rows_ahead, self.ahead) = (VecDeque::new(), VecDeque::new());
        self.long_keys.iter_mut().for_each(|keys| keys.forget_rows());
        self.nearest.iter_mut().for_each(|nearest| nearest.forget_read_ahead());
    }

    /// Continues after the last used candidate in another view; drops rows read ahead.
    pub(crate) fn resume_after_last(&mut self) {
        if let Some(branches) = &mut self.branches {
            branches.resume_after_last();
            return;
        }
        self.forget_read_ahead();
        // A page may have been read without being used up, so the scan continues after the last
        // candidate used, not the last one read.
        self.progress = match (&self.last, self.range_at(self.at)) {
            (Some(last), Some(range)) => Progress::Walking(
                self.pages_over(range.remaining_after(last, self.chosen.direction)),
            ),
            _ => Progress::NotBegun,
        };
    }

    /// Returns a range by index; `None` after the last one and for ids.
    fn range_at(&self, at: usize) -> Option<&KeyRange> {
        match &self.chosen.access {
            AccessPath::Ids(_) | AccessPath::Near(_) | AccessPath::Branches { .. } => None,
            AccessPath::Rows(ranges) | AccessPath::Index { ranges, .. } => ranges.get(at),
        }
    }

    /// Returns up to `wanted` matching rows, fewer if they are large; an empty list at the end.
    pub(crate) async fn take_matching(
        &mut self,
        view: &LiveView,
        context: &Context,
        wanted: usize,
    ) -> Result<Vec<Row>, Halt> {
        self.skip_rows(view, context).await?;
        if let Some(branches) = &mut self.branches {
            return branches.take_matching(view, context, wanted).await;
        }
        if self.nearest.is_some() {
            return self.take_nearest(view, context, wanted).await;
        }
        let mut found = Vec::new();
        let mut bytes = 0;
        while found.len() < wanted && bytes < TAKE_BYTES {
            if let Some(row) = self.next_long() {
                bytes += row.value.len();
                found.push(row);
                continue;
            }
            if self.is_before_long() {
                match self.gather_long(view, context).await {
                    Ok(()) => continue,
                    Err(Halt::LookAgain) if !found.is_empty() => break,
                    Err(halt) => return Err(halt),
                }
            }
            if !self.rows_ahead.is_empty() {
                self.take_rows_ahead(context, wanted, &mut found, &mut bytes)?;
                // `take_rows_ahead` returns early if a yield is due.
                yield_if_due(context, 0).await?;
                continue;
            }
            let Some(candidate) = self.ahead.pop_front() else {
                // No more than wanted, since rows read but not used are wasted work.
                match self.read_more(view, context, wanted - found.len()).await {
                    Ok(true) => continue,
                    Ok(false) => break,
                    Err(Halt::LookAgain) if !found.is_empty() => break,
                    Err(halt) => return Err(halt),
                }
            };
            match self.look_at(candidate, view, context).await {
                Ok(Some(row)) => {
                    bytes += row.value.len();
                    found.push(row);
                }
                Ok(None) => {}
                Err(Halt::LookAgain) if !found.is_empty() => break,
                Err(halt) => return Err(halt),
            }
        }
        Ok(found)
    }

    /// Reads the row of a candidate and returns it if it matches. If the view cannot decide whether
    /// the row has expired, the candidate stays the next one.
    async fn look_at(
        &mut self,
        candidate: Candidate,
        view: &LiveView,
        context: &Context,
    ) -> Result<Option<Row>, Halt> {
        let read = match &candidate {
            Candidate::Id(key) => view.get_row(key).await,
            Candidate::Entry(entry) => {
                self.keys_examined += 1;
                match self.is_new(entry, context)? {
                    true => view.passing_row_of(entry).await.map(Some),
                    false => Ok(None),
                }
            }
        };
        if let Err(Halt::LookAgain) = read {
            self.put_back(candidate);
            return Err(Halt::LookAgain);
        }
        let (key, row) = match candidate {
            Candidate::Entry(entry) => (Some(entry.key), read?),
            Candidate::Id(_) => {
                context.budget.record_examined(1);
                (None, read?)
            }
        };
        let by_id = key.is_none();
        self.last = key;
        let Some(row) = row else { return Ok(None) };
        self.keys_examined += u64::from(by_id);
        yield_if_due(context, ROW_WORK + row.body().len()).await?;
        Ok(self.matches_residual(&row, context)?.then_some(row))
    }

    /// Returns whether a row matches the residual filter, and counts it as examined.
    fn matches_residual(&mut self, row: &Row, context: &Context) -> Result<bool, Error> {
        self.documents_examined += 1;
        Ok(self.filter.is_always() || self.filter.matches(row.document(), context)?)
    }

    /// Takes matching rows that were read ahead, until `wanted` are taken or a yield is due. Does
    /// not await, which keeps the cost per row minimal.
    fn take_rows_ahead(
        &mut self,
        context: &Context,
        wanted: usize,
        found: &mut Vec<Row>,
        bytes: &mut usize,
    ) -> Result<(), Halt> {
        found.reserve(self.rows_ahead.len().min(wanted - found.len()));
        let (before, mut passed_over) = (self.rows_ahead.len(), None);
        while found.len() < wanted && *bytes < TAKE_BYTES && !context.budget.would_be_due() {
            if self.is_before_long() {
                break;
            }
            let Some(row) = self.rows_ahead.pop_front() else { break };
            context.budget.spend(ROW_WORK + row.body().len())?;
            if self.matches_residual(&row, context)? {
                *bytes += row.value.len();
                found.push(row);
                passed_over = None;
            } else {
                passed_over = Some(row.key);
            }
        }
        // The resume position, stored once per call because keys are reference-counted across
        // threads.
        if self.rows_ahead.len() < before {
            self.last = passed_over.or_else(|| found.last().map(|row| row.key.clone()));
        }
        Ok(())
    }

    /// Makes a candidate the next one again, because a later view must decide whether its row has
    /// expired.
    fn put_back(&mut self, candidate: Candidate) {
        if let (Candidate::Entry(entry), Some(seen)) = (&candidate, &mut self.seen) {
            seen.forget(&entry.row_key);
        }
        // `at` counts an id as soon as it is taken from the list.
        match candidate {
            Candidate::Id(_) => self.at -= 1,
            other => self.ahead.push_front(other),
        }
    }

    /// Returns whether the row of an entry was not seen through another entry.
    fn is_new(&mut self, entry: &Entry, context: &Context) -> Result<bool, Halt> {
        let Some(seen) = &mut self.seen else { return Ok(true) };
        Ok(seen.note(&entry.row_key, context)?)
    }
}
