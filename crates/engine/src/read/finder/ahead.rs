//! Reads candidates ahead of a scan, page by page and range by range.

use evaluation::Context;
use store::KeyRange;

use super::{Candidate, Finder, Progress};
use crate::{
    access::AccessPath,
    error::Halt,
    limits::{FIRST_PAGE_ROWS, PAGE_ROWS},
    view::{LiveView, Pages, charge_keys},
};

impl Finder {
    /// Reads candidates ahead in scan order; false at the end. Pages are small if little is wanted.
    pub(super) async fn read_more(
        &mut self,
        view: &LiveView,
        context: &Context,
        wanted: usize,
    ) -> Result<bool, Halt> {
        self.record_access(view, context);
        if let AccessPath::Ids(ids) = &self.chosen.access {
            let Some(id) = ids.get(self.at).cloned() else { return Ok(false) };
            self.at += 1;
            self.ahead.push_back(Candidate::Id(id));
            return Ok(true);
        }
        let Some(mut pages) = self.begin_page(wanted) else { return Ok(false) };
        let examined = self.read_ahead(view, &mut pages).await?;
        self.progress = Progress::Walking(pages);
        charge_keys(context, examined).await?;
        Ok(true)
    }

    /// Records the access path in the operation's statistics, and counts one use of the scan's
    /// index.
    pub(crate) fn record_access(&mut self, view: &LiveView, context: &Context) {
        context.budget.record_access(|| self.chosen.access.label());
        if let Some((used, index)) = self.uncounted.take() {
            used.note(&view.collection, index, view.instant.ms.div_euclid(1000));
        }
    }

    /// Returns the iterator for the next page, in the next range if the current one has ended;
    /// `None` after all ranges. The caller stores it once the page was read, so that a failed read
    /// does not move the scan.
    pub(super) fn begin_page(&mut self, wanted: usize) -> Option<Pages> {
        loop {
            let pages = match &self.progress {
                Progress::Walking(pages) => pages.clone(),
                Progress::NotBegun => self.pages_over(self.range_at(self.at)?.clone()),
            };
            if !pages.is_done() {
                return Some(pages.with_max_rows(wanted.clamp(FIRST_PAGE_ROWS, PAGE_ROWS)));
            }
            if self.follows {
                return None;
            }
            // Everything read ahead of this range is used up: go to the next range.
            self.at += 1;
            self.progress = Progress::NotBegun;
            self.last = None;
        }
    }

    /// Returns a page iterator over a range.
    pub(super) fn pages_over(&self, range: KeyRange) -> Pages {
        Pages::of(range).in_direction(self.chosen.direction)
    }

    /// Reads the next page of the current range. Returns the number of candidates examined,
    /// including expired ones.
    async fn read_ahead(&mut self, view: &LiveView, pages: &mut Pages) -> Result<usize, Halt> {
        Ok(match &self.chosen.access {
            AccessPath::Index { index, .. } => {
                let page = view.next_entries(index, pages).await?.unwrap_or_default();
                self.ahead.extend(page.items.into_iter().map(Candidate::Entry));
                page.examined
            }
            _ => {
                let page = view.next_rows(pages).await?.unwrap_or_default();
                // The previous rows are used up, or no page would be read.
                self.rows_ahead = page.items.into();
                page.examined
            }
        })
    }
}
