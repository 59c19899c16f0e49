//! Walks the candidates of an access path in a view and returns the rows that the filter matches.
//! It remembers where it is, so that it can go on in a later view.
//!
//! ```text
//!  ranges:      [────────)   [─────────)   [──────)      `at` is the range being walked
//!                   │  └ last: the last candidate that was used
//!                   └ ahead: read with the page, not used yet
//! ```
//!
//! Three kinds of candidates have one path through this file: ids are looked up one by one, rows
//! and index entries come in pages. An entry leads to its row; an index with arrays may name a row
//! several times, and `seen` returns it once.
//!
//! What a view cannot tell ([`Halt::LookAgain`]) stops the walk in front of that candidate. Rows
//! that were found by then are returned, since they are certain.

use std::{
    collections::{HashSet, VecDeque},
    sync::Arc,
};

use bytes::Bytes;
use evaluation::Context;
use memory::Share;
use pipeline::Filter;
use store::{KeyRange, Store};

use super::{Explain, Find, IndexTraits};
use crate::{
    access::{Access, ChosenAccess, choose_access},
    catalog::CollectionState,
    error::{Error, Halt},
    limits::{FIRST_PAGE_ROWS, PAGE_ROWS, ROW_WORK, SEEN_BYTES, TAKE_BYTES},
    row::{Entry, Row},
    view::{LiveView, Pages, charge_keys},
    yielding::yield_if_due,
};

/// What may match: the filter is checked on the row itself.
#[derive(Clone, Debug)]
enum Candidate {
    /// A row of a page.
    Row(Row),
    /// An index entry, whose row is not read yet.
    Entry(Entry),
    /// The key of a row that may not exist.
    Id(Vec<u8>),
}

impl Candidate {
    /// Where it is in the walk: a later view goes on after this key.
    fn walk_key(&self) -> Bytes {
        match self {
            Self::Row(row) => row.key.clone(),
            Self::Entry(entry) => entry.key.clone(),
            Self::Id(key) => Bytes::copy_from_slice(key),
        }
    }
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
    /// Checked on every row: the access path only has to cover it.
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
    /// Read ahead from the range being walked.
    ahead: VecDeque<Candidate>,
    /// The last candidate that was used.
    last: Option<Bytes>,
    /// Rows met through an index that may name a row several times.
    seen: Option<HashSet<Box<[u8]>>>,
    /// What these hold, from the first walk on.
    held: Option<Share>,
    /// What is told about the plan, and how much was looked at.
    pub(crate) explain: Explain,
}

impl Finder {
    /// Plans a walk.
    pub(crate) fn new(state: &CollectionState, find: &Find) -> Result<Self, Error> {
        let chosen = choose_access(state, &find.filter, find.sort.as_ref(), &find.hint)?;
        let mut explain = Explain {
            sorted: chosen.sorted,
            backward: chosen.direction == store::Direction::Backward,
            ..Explain::default()
        };
        let mut seen = None;
        match &chosen.access {
            Access::Ids(_) => explain.by_id = true,
            Access::Rows(_) => {}
            Access::Index { index, .. } => {
                explain.index = Some(index.name.clone());
                explain.pattern = index.key_pattern();
                explain.traits = IndexTraits {
                    unique: index.unique,
                    sparse: index.sparse,
                    partial: index.partial.is_some(),
                    multikey: index.multikey,
                };
                seen = index.multikey.then(HashSet::new);
            }
        }
        Ok(Self {
            filter: Arc::clone(&find.filter),
            chosen,
            created: state.record.created,
            at: 0,
            progress: Progress::NotBegun,
            ahead: VecDeque::new(),
            last: None,
            seen,
            held: None,
            explain,
        })
    }

    /// Whether rows come in the order of the sort.
    pub(crate) fn is_sorted(&self) -> bool {
        self.chosen.sorted
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
        self.ahead = VecDeque::new();
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
            // Not more than is wanted: a page of the store costs more than what is used of it.
            let next = match self.next_candidate(view, context, wanted - found.len()).await {
                Err(Halt::LookAgain) if !found.is_empty() => break,
                next => next?,
            };
            let Some(candidate) = next else { break };
            let key = candidate.walk_key();
            let row = match candidate {
                Candidate::Row(row) => Some(row),
                candidate => match self.fetch_row(view, &candidate, context).await {
                    // The candidate was taken from the queue; without its row it is not dealt with.
                    Err(Halt::LookAgain) => {
                        self.put_back(candidate);
                        if found.is_empty() {
                            return Err(Halt::LookAgain);
                        }
                        break;
                    }
                    row => row?,
                },
            };
            if let Some(row) = row {
                self.explain.documents_examined += 1;
                yield_if_due(context, ROW_WORK + row.body().len()).await?;
                if self.filter.is_always() || self.filter.matches(row.document(), context)? {
                    bytes += row.value.len();
                    found.push(row);
                }
            }
            // Only now: a candidate that could not be checked must come again in the next view.
            self.last = Some(key);
        }
        Ok(found)
    }

    /// What this view cannot tell of is the next candidate of a later one.
    fn put_back(&mut self, candidate: Candidate) {
        match (&candidate, &mut self.seen) {
            // Ids are not queued; their position is the number of those that were used.
            (Candidate::Id(_), _) => {
                self.at -= 1;
                return;
            }
            (Candidate::Entry(entry), Some(seen)) => {
                seen.remove(entry.row_key.as_ref());
            }
            _ => {}
        }
        self.ahead.push_front(candidate);
    }

    /// The row of a candidate; `None` where there is no live one, or it was returned before.
    async fn fetch_row<S: Store>(
        &mut self,
        view: &LiveView<S>,
        candidate: &Candidate,
        context: &Context,
    ) -> Result<Option<Row>, Halt> {
        match candidate {
            Candidate::Row(row) => Ok(Some(row.clone())),
            Candidate::Id(key) => view.get_row(key).await,
            Candidate::Entry(entry) => {
                self.explain.keys_examined += 1;
                if let Some(seen) = &mut self.seen {
                    // A copy: the block of the store that it came in shall not wait with it.
                    if !seen.insert(entry.row_key.as_ref().into()) {
                        return Ok(None);
                    }
                    let held = self.held.get_or_insert_with(|| context.holding.share());
                    held.grow(entry.row_key.len() + SEEN_BYTES)?;
                }
                view.row_of(entry).await.map(Some)
            }
        }
    }

    /// The next candidate in the order of the walk; `None` at the end. Reads a page when the last
    /// one is used up, small where little is wanted.
    async fn next_candidate<S: Store>(
        &mut self,
        view: &LiveView<S>,
        context: &Context,
        wanted: usize,
    ) -> Result<Option<Candidate>, Halt> {
        loop {
            if let Some(candidate) = self.ahead.pop_front() {
                return Ok(Some(candidate));
            }
            if let Access::Ids(ids) = &self.chosen.access {
                let id = ids.get(self.at).cloned();
                self.at += 1;
                return Ok(id.map(Candidate::Id));
            }
            // Cloned, and put back once the page is there: a read that fails or stops has not moved
            // the walk.
            let mut pages = match &self.progress {
                Progress::Walking(pages) => pages.clone(),
                Progress::NotBegun => match self.range_at(self.at) {
                    Some(whole) => self.pages_over(whole.clone()),
                    None => return Ok(None),
                },
            };
            if pages.is_done() {
                // What was read ahead of this range is used up: the next one.
                self.at += 1;
                self.progress = Progress::NotBegun;
                self.last = None;
                continue;
            }
            pages = pages.at_most(wanted.clamp(FIRST_PAGE_ROWS, PAGE_ROWS));
            let examined = self.read_ahead(view, &mut pages).await?;
            self.progress = Progress::Walking(pages);
            charge_keys(context, examined).await?;
        }
    }

    /// A walk over what is left of a range.
    fn pages_over(&self, range: KeyRange) -> Pages {
        Pages::of(range).in_direction(self.chosen.direction)
    }

    /// Reads the next page of the range being walked. Returns how many candidates were looked at,
    /// expired ones included.
    async fn read_ahead<S: Store>(
        &mut self,
        view: &LiveView<S>,
        pages: &mut Pages,
    ) -> Result<usize, Halt> {
        Ok(match &self.chosen.access {
            Access::Index { index, .. } => {
                let page = view.next_entries(index, pages).await?.unwrap_or_default();
                self.ahead.extend(page.items.into_iter().map(Candidate::Entry));
                page.examined
            }
            _ => {
                let page = view.next_rows(pages).await?.unwrap_or_default();
                self.ahead.extend(page.items.into_iter().map(Candidate::Row));
                page.examined
            }
        })
    }
}
