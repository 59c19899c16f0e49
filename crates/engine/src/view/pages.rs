//! A walk over a range of keys, page by page: what is left of the range and how large the next page
//! is. It knows no view; views read its pages and leave out what expired.
//!
//! ```text
//!  range:  [──────────────────────────────)
//!  pages:  [16)[── 64 ──)[──── 256 ────)[── …         growing, where little may be wanted
//! ```
//!
//! A walk is plain data and can be cloned: a caller that may have to begin a page again in a new
//! view keeps a copy from before it.

use evaluation::Context;
use store::{Direction, KeyRange, Limit, Page, Snapshot, Space};

use crate::{
    limits::{CANDIDATE_WORK, FIRST_PAGE_ROWS, PAGE_BYTES, PAGE_GROWTH, PAGE_ROWS},
    yielding::yield_if_due,
};

/// How far a walk has got. Keys come in the direction's order, each once.
#[derive(Clone, Debug)]
pub(crate) struct Pages {
    /// `None` once the end was reached.
    remaining: Option<KeyRange>,
    /// The order of keys, which is also the end that the range shrinks from.
    direction: Direction,
    /// Of the next page; a page holds at least one key where there is one.
    limit: Limit,
}

impl Pages {
    /// A walk over all of a range in ascending order, in whole pages.
    pub(crate) fn of(range: KeyRange) -> Self {
        let limit = Limit { rows: PAGE_ROWS, bytes: PAGE_BYTES };
        let remaining = Some(range).filter(|range| !range.is_empty());
        Self { remaining, direction: Direction::Forward, limit }
    }

    /// The same in this order.
    pub(crate) fn in_direction(self, direction: Direction) -> Self {
        Self { direction, ..self }
    }

    /// The same with a small page first, and larger ones later: for a walk of which only the
    /// beginning may be wanted.
    pub(crate) fn growing_slowly(self) -> Self {
        self.at_most(FIRST_PAGE_ROWS)
    }

    /// The same with at most this many keys on the next page.
    pub(crate) fn at_most(mut self, rows: usize) -> Self {
        self.limit.rows = rows;
        self
    }

    /// Whether everything was read.
    pub(crate) fn is_done(&self) -> bool {
        self.remaining.is_none()
    }

    /// Reads the next page as it is stored; `None` at the end.
    pub(crate) async fn next_page<N: Snapshot>(
        &mut self,
        snapshot: &N,
        space: Space,
    ) -> Result<Option<Page>, store::Error> {
        let Some(range) = &self.remaining else { return Ok(None) };
        let page = snapshot.scan(space, range, self.direction, self.limit).await?;
        // The store may say that there is more where there is nothing: one empty page more is no
        // harm.
        let last = page.rows.last().filter(|_| page.more);
        self.remaining = last.map(|(key, _)| range.remaining_after(key, self.direction));
        self.limit.rows = self.limit.rows.saturating_mul(PAGE_GROWTH).min(PAGE_ROWS);
        Ok(Some(page))
    }
}

/// Counts looking at this many keys as work of an operation, and lets others run when it is due.
pub(crate) async fn charge_keys(
    context: &Context,
    examined: usize,
) -> Result<(), evaluation::Error> {
    context.budget.note_examined(examined);
    yield_if_due(context, examined * CANDIDATE_WORK).await
}
