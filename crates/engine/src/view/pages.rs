//! Iterates over a key range page by page: the remaining range and the size of the next page. Views
//! read the pages and leave out expired rows.
//!
//! ```text
//!  range:  [──────────────────────────────)
//!  pages:  [16)[-- 64 --)[---- 256 ----)[-- ...         growing, if little may be needed
//! ```
//!
//! The state is plain data: a caller that may have to repeat a page in a new view clones the state
//! before it reads the page.

use evaluation::Context;
use store::{Direction, KeyRange, Limit, Page, Snapshot, Space};

use crate::{
    limits::{CANDIDATE_WORK, FIRST_PAGE_ROWS, PAGE_BYTES, PAGE_GROWTH, PAGE_ROWS},
    yielding::yield_if_due,
};

/// The state of a scan over a range; each key is returned once, in the given direction.
#[derive(Clone, Debug)]
pub(crate) struct Pages {
    /// `None` once the end was reached.
    remaining: Option<KeyRange>,
    /// Direction of the scan; the remaining range starts after the last key read.
    direction: Direction,
    /// Size of the next page, which holds at least one key if any exists.
    limit: Limit,
}

impl Pages {
    /// Creates an ascending scan of a range whose first page already has the maximum size.
    pub(crate) fn of(range: KeyRange) -> Self {
        let limit = Limit { rows: PAGE_ROWS, bytes: PAGE_BYTES };
        let remaining = Some(range).filter(|range| !range.is_empty());
        Self { remaining, direction: Direction::Forward, limit }
    }

    pub(crate) fn in_direction(self, direction: Direction) -> Self {
        Self { direction, ..self }
    }

    /// Starts with a small page that grows later, for scans that may need only a few keys.
    pub(crate) fn growing_slowly(self) -> Self {
        self.with_max_rows(FIRST_PAGE_ROWS)
    }

    /// Limits the number of keys of the next page.
    pub(crate) fn with_max_rows(mut self, rows: usize) -> Self {
        self.limit.rows = rows;
        self
    }

    /// Returns whether the whole range was read.
    pub(crate) fn is_done(&self) -> bool {
        self.remaining.is_none()
    }

    /// Reads the next page as stored; `None` at the end.
    pub(crate) async fn next_page(
        &mut self,
        snapshot: &dyn Snapshot,
        space: Space,
    ) -> Result<Option<Page>, store::Error> {
        let Some(range) = &self.remaining else { return Ok(None) };
        let page = snapshot.scan(space, range, self.direction, self.limit).await?;
        // The store may report that more rows follow where none do; an extra empty page is
        // harmless.
        let last = page.rows.last().filter(|_| page.more);
        self.remaining = last.map(|(key, _)| range.remaining_after(key, self.direction));
        self.limit.rows = self.limit.rows.saturating_mul(PAGE_GROWTH).min(PAGE_ROWS);
        Ok(Some(page))
    }
}

/// Charges examining this many keys to an operation, and yields if due.
pub(crate) async fn charge_keys(
    context: &Context,
    examined: usize,
) -> Result<(), evaluation::Error> {
    context.budget.record_examined(examined);
    yield_if_due(context, examined * CANDIDATE_WORK).await
}
