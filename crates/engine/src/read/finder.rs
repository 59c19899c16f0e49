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
//! What a view cannot tell ([`Halt::LookAgain`]) stops the walk in front of that candidate. Rows
//! that were found by then are returned, since they are certain.

mod ahead;
mod long_keys;

use std::{
    collections::{HashSet, VecDeque},
    sync::Arc,
};

use bytes::Bytes;
use evaluation::Context;
use memory::Share;
use pipeline::{
    Filter,
    exec::{Stage, Tally},
};
use store::{KeyRange, Store};

use long_keys::LongKeys;

use super::{Explain, Find, UsedIndexes};
use crate::{
    access::{Access, ChosenAccess, Residual, choose_access},
    catalog::CollectionState,
    error::{Error, Halt},
    limits::{ROW_WORK, SEEN_BYTES, TAKE_BYTES},
    row::{Entry, Row},
    view::{LiveView, Pages, charge_keys},
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
    seen: Option<HashSet<Box<[u8]>>>,
    /// What puts rows with long keys in order; `None` where no order is asked of the walk.
    long_keys: Option<LongKeys>,
    /// What these hold, from the first walk on.
    held: Option<Share>,
    /// The index that it uses, until the walk is begun, and what the operation has used.
    uncounted: Option<(Arc<UsedIndexes>, u32)>,
    /// What is told about the plan, and how much was looked at.
    pub(crate) explain: Explain,
}

impl Finder {
    /// Plans a walk of an operation that has used these indexes so far; `None`: it is not counted.
    pub(crate) fn new(
        state: &CollectionState,
        find: &Find,
        used: Option<&Arc<UsedIndexes>>,
    ) -> Result<Self, Error> {
        let chosen = choose_access(state, &find.filter, find.sort.as_ref(), &find.hint)?;
        let explain = Explain::of_choice(&chosen);
        let uses = chosen.used_index(find.sort.as_ref(), &find.hint);
        let filter = match &chosen.residual {
            Residual::Whole => Arc::clone(&find.filter),
            Residual::Parts(left) => Arc::new(left.clone()),
            Residual::Nothing => Arc::new(Filter::always()),
        };
        let long_keys = LongKeys::of_walk(&chosen, find.sort.as_ref());
        Ok(Self {
            filter,
            chosen,
            long_keys,
            created: state.record.created,
            at: 0,
            progress: Progress::NotBegun,
            rows_ahead: VecDeque::new(),
            ahead: VecDeque::new(),
            last: None,
            seen: explain.traits.multikey.then(HashSet::new),
            held: None,
            uncounted: used.map(Arc::clone).zip(uses),
            explain,
        })
    }

    /// The use of its index is not counted.
    pub(crate) fn leave_uncounted(&mut self) {
        self.uncounted = None;
    }

    /// Whether rows come in the order of the sort.
    pub(crate) fn is_sorted(&self) -> bool {
        self.chosen.sorted
    }

    /// What stages want of the rows, if that is their number and no row has to be read to know it.
    pub(crate) fn plan_count(&mut self, stages: &[Stage]) -> Option<Tally> {
        let tally = self.chosen.is_counted_by_keys().then(|| Tally::of_stages(stages)).flatten();
        let by_index = matches!(self.chosen.access, Access::Index { .. });
        self.explain.counted = by_index && tally.is_some();
        tally
    }

    /// Whether the collection is still the one, and the index still there, that was planned for.
    pub(crate) fn is_still_valid(&self, state: &CollectionState) -> bool {
        self.created == state.record.created
            // An index that got its first arrays may name a row several times, which this walk,
            // planned without `seen`, would return as often.
            && match &self.chosen.access {
                Access::Index { index, .. } => state
                    .record
                    .indexes
                    .iter()
                    .any(|held| held.id == index.id && (index.multikey || !held.multikey)),
                _ => true,
            }
    }

    /// Nobody asks for a while: what was read ahead is read again then.
    pub(crate) fn forget_read_ahead(&mut self) {
        (self.rows_ahead, self.ahead) = (VecDeque::new(), VecDeque::new());
        self.long_keys.iter_mut().for_each(LongKeys::forget_rows);
    }

    /// Goes on after the last candidate in another view: what was read ahead is read again.
    pub(crate) fn resume_after_last(&mut self) {
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
            Access::Ids(_) => None,
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
            // Without its row a candidate is not dealt with: it comes again in the next view.
            if let Err(Halt::LookAgain) = read {
                self.put_back(candidate);
                if found.is_empty() {
                    return Err(Halt::LookAgain);
                }
                break;
            }
            let (key, row) = match candidate {
                Candidate::Entry(entry) => (Some(entry.key), read?),
                Candidate::Id(_) => (None, read?),
            };
            self.last = key;
            let Some(row) = row else { continue };
            yield_if_due(context, ROW_WORK + row.body().len()).await?;
            if self.is_meant(&row, context)? {
                bytes += row.value.len();
                found.push(row);
            }
        }
        Ok(found)
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

    /// Counts the next page of what is meant, by headers alone; `None` at the end. Only where
    /// [`plan_count`](Self::plan_count) says so.
    pub(crate) async fn count_page<S: Store>(
        &mut self,
        view: &LiveView<S>,
        context: &Context,
        wanted: usize,
    ) -> Result<Option<u64>, Halt> {
        let Some(mut pages) = self.begin_page(wanted) else { return Ok(None) };
        self.note_access(view, context);
        let by_index = matches!(self.chosen.access, Access::Index { .. });
        let page = match by_index {
            true => view.count_entries(&mut pages).await?,
            false => view.count_rows(&mut pages).await?,
        };
        let page = page.unwrap_or_default();
        self.progress = Progress::Walking(pages);
        self.last = page.last.or(self.last.take());
        match by_index {
            true => self.explain.keys_examined += page.live,
            false => self.explain.documents_examined += page.live,
        }
        charge_keys(context, page.examined).await?;
        Ok(Some(page.live))
    }

    /// What this view cannot tell of is the next candidate of a later one.
    fn put_back(&mut self, candidate: Candidate) {
        if let (Candidate::Entry(entry), Some(seen)) = (&candidate, &mut self.seen) {
            seen.remove(entry.row_key.as_ref());
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
        // A copy: the block of the store that it came in shall not wait with it.
        if !seen.insert(entry.row_key.as_ref().into()) {
            return Ok(false);
        }
        let held = self.held.get_or_insert_with(|| context.holding.share());
        held.grow(entry.row_key.len() + SEEN_BYTES)?;
        Ok(true)
    }
}
