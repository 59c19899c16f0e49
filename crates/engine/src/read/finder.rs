//! Walks the candidates of an access path in a view and returns the rows that the filter matches.
//! It remembers where it is, so that it can go on in a later view.
//!
//! ```text
//!  ranges:      [────────)   [─────────)   [──────)      `at` is the range being walked
//!                   │  └ last: the last candidate that was used
//!                   └ ahead: read with the page, not used yet
//! ```
//!
//! Rows and index entries come in pages, ids are looked up one by one. Rows are taken from their page
//! without waiting for anything. An entry or an id leads to its row, which is read; an index with
//! arrays may name a row several times, and `seen` returns it once.
//!
//! The keys of long values are cut, so that their order is not known from them: `long_keys` puts the
//! rows of equal beginnings in order where the order matters.
//!
//! A query may take several access paths: `branches` walks them with a finder each.
//!
//! What a view cannot tell ([`Halt::LookAgain`]) stops the walk in front of that candidate. Rows
//! that were found by then are returned, since they are certain.

mod ahead;
mod branches;
mod counting;
mod front;
mod long_keys;
mod planning;
mod seen;

use std::{collections::VecDeque, sync::Arc};

use bytes::Bytes;
use evaluation::Context;
use pipeline::Filter;
use store::{KeyRange, Store};

use branches::Branches;
use long_keys::LongKeys;
use seen::SeenRows;

use super::{Explain, UsedIndexes};
use crate::{
    access::{Access, ChosenAccess},
    error::{Error, Halt},
    limits::{ROW_WORK, TAKE_BYTES},
    row::{Entry, Row},
    view::{LiveView, Pages},
    yielding::yield_if_due,
};

/// What leads to a row that may match.
#[derive(Debug)]
enum Candidate {
    /// An index entry, whose row is not read yet.
    Entry(Entry),
    /// The key of a row that may not exist.
    Id(Vec<u8>),
}

/// How far the walk over one range has got.
#[derive(Debug)]
enum Progress {
    /// Its first page was not read.
    NotBegun,
    /// Possibly to its end, which is met when what was read ahead is used up.
    Walking(Pages),
}

/// A walk over candidates.
#[derive(Debug)]
pub(crate) struct Finder {
    /// Checked on every row: what of the filter the ranges of the access path do not say.
    filter: Arc<Filter>,
    /// The access path, its direction, and whether it gives the order of the sort.
    chosen: ChosenAccess,
    /// Index definitions may change between views; a plan is only good while they do not.
    /// The stamp of the collection's creation: another one of the same name is another collection.
    created: u64,
    /// The range being walked.
    at: usize,
    /// How far the walk over it has got.
    progress: Progress,
    /// Read ahead from the range being walked, where it is one of rows.
    rows_ahead: VecDeque<Row>,
    /// The same of any other walk: what leads to rows.
    ahead: VecDeque<Candidate>,
    /// Where the last candidate that was used is in the walk; ids have none.
    last: Option<Bytes>,
    /// Rows met through an index that may name a row several times.
    seen: Option<SeenRows>,
    /// What puts rows with long keys in order; `None` where no order is asked of the walk.
    long_keys: Option<LongKeys>,
    /// The index that it uses, until the walk is begun, and what the operation has used.
    uncounted: Option<(Arc<UsedIndexes>, u32)>,
    /// What is told about the plan, and how much was looked at.
    explain: Explain,
    /// Whether the keys of candidates tell which rows are meant, so that rows can be skipped by them.
    by_keys: bool,
    /// How many rows at the beginning are still to be skipped by their keys.
    to_skip: u64,
    /// The walks of several access paths, which do all the work where there are any.
    branches: Option<Branches>,
}

impl Finder {
    /// Nobody asks for a while: what was read ahead is read again then.
    pub(crate) fn forget_read_ahead(&mut self) {
        self.branches.iter_mut().for_each(Branches::forget_read_ahead);
        // The position among ids is behind what was read ahead.
        if matches!(self.chosen.access, Access::Ids(_)) {
            self.at -= self.ahead.len();
        }
        (self.rows_ahead, self.ahead) = (VecDeque::new(), VecDeque::new());
        self.long_keys.iter_mut().for_each(LongKeys::forget_rows);
    }

    /// Goes on after the last candidate in another view: what was read ahead is read again.
    pub(crate) fn resume_after_last(&mut self) {
        if let Some(branches) = &mut self.branches {
            branches.resume_after_last();
            return;
        }
        self.forget_read_ahead();
        // A page may have been read to its end without being used: the walk goes on after the last
        // candidate that was used, not after the last that was read.
        self.progress = match (&self.last, self.range_at(self.at)) {
            (Some(last), Some(range)) => Progress::Walking(
                self.pages_over(range.remaining_after(last, self.chosen.direction)),
            ),
            _ => Progress::NotBegun,
        };
    }

    /// The range at a position; `None` after the last one, and for ids.
    fn range_at(&self, at: usize) -> Option<&KeyRange> {
        match &self.chosen.access {
            Access::Ids(_) | Access::Branches { .. } => None,
            Access::Rows(ranges) | Access::Index { ranges, .. } => ranges.get(at),
        }
    }

    /// Up to `wanted` rows that the filter means, fewer where they are large; none at the end.
    pub(crate) async fn take_matching<S: Store>(
        &mut self,
        view: &LiveView<S>,
        context: &Context,
        wanted: usize,
    ) -> Result<Vec<Row>, Halt> {
        self.skip_rows(view, context).await?;
        if let Some(branches) = &mut self.branches {
            return branches.take_matching(view, context, wanted).await;
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
                // It stopped in front of a row where others are to run.
                yield_if_due(context, 0).await?;
                continue;
            }
            let Some(candidate) = self.ahead.pop_front() else {
                // Not more than is wanted: a page of the store costs more than what is used of it.
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

    /// Reads the row of a candidate and returns it if it matches. Where the view cannot tell, the
    /// candidate is the next one again.
    async fn look_at<S: Store>(
        &mut self,
        candidate: Candidate,
        view: &LiveView<S>,
        context: &Context,
    ) -> Result<Option<Row>, Halt> {
        let read = match &candidate {
            Candidate::Id(key) => view.get_row(key).await,
            Candidate::Entry(entry) => {
                self.explain.keys_examined += 1;
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
            Candidate::Id(_) => (None, read?),
        };
        let by_id = key.is_none();
        self.last = key;
        let Some(row) = row else { return Ok(None) };
        self.explain.keys_examined += u64::from(by_id);
        yield_if_due(context, ROW_WORK + row.body().len()).await?;
        Ok(self.is_meant(&row, context)?.then_some(row))
    }

    /// Looks at a row: whether it meets what the ranges do not say.
    fn is_meant(&mut self, row: &Row, context: &Context) -> Result<bool, Error> {
        self.explain.documents_examined += 1;
        Ok(self.filter.is_always() || self.filter.matches(row.document(), context)?)
    }

    /// Takes the rows that were read ahead and match, until there are `wanted` or a turn of others is
    /// due. Nothing is waited for, so that a row costs no more than itself.
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
            if self.is_meant(&row, context)? {
                *bytes += row.value.len();
                found.push(row);
                passed_over = None;
            } else {
                passed_over = Some(row.key);
            }
        }
        // Where the walk goes on in another view; noted once, since keys are shared between threads.
        if self.rows_ahead.len() < before {
            self.last = passed_over.or_else(|| found.last().map(|row| row.key.clone()));
        }
        Ok(())
    }

    /// What this view cannot tell of is the next candidate of a later one.
    fn put_back(&mut self, candidate: Candidate) {
        if let (Candidate::Entry(entry), Some(seen)) = (&candidate, &mut self.seen) {
            seen.forget(&entry.row_key);
        }
        // Ids are not read ahead over views; their position is the number of those that were used.
        match candidate {
            Candidate::Id(_) => self.at -= 1,
            other => self.ahead.push_front(other),
        }
    }

    /// Whether the row of an entry was not met through another entry before.
    fn is_new(&mut self, entry: &Entry, context: &Context) -> Result<bool, Halt> {
        let Some(seen) = &mut self.seen else { return Ok(true) };
        Ok(seen.note(&entry.row_key, context)?)
    }
}
