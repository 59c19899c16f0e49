//! Reads candidates ahead of a walk, page by page and range by range.

use evaluation::Context;
use store::{KeyRange, Store};

use super::{Candidate, Finder, Progress};
use crate::{
    access::Access,
    error::Halt,
    limits::{FIRST_PAGE_ROWS, PAGE_ROWS},
    view::{LiveView, Pages, charge_keys},
};

impl Finder {
    /// Reads candidates ahead in the order of the walk; false at the end. A page is small where
    /// little is wanted.
    pub(super) async fn read_more<S: Store>(
        &mut self,
        view: &LiveView<S>,
        context: &Context,
        wanted: usize,
    ) -> Result<bool, Halt> {
        self.note_access(view, context);
        if let Access::Ids(ids) = &self.chosen.access {
            context.budget.note_examined(1);
            let id = ids.get(self.at).cloned();
            self.at += 1;
            self.ahead.extend(id.map(Candidate::Id));
            return Ok(!self.ahead.is_empty());
        }
        let Some(mut pages) = self.begin_page(wanted) else { return Ok(false) };
        let examined = self.read_ahead(view, &mut pages).await?;
        self.progress = Progress::Walking(pages);
        charge_keys(context, examined).await?;
        Ok(true)
    }

    /// The walk is opened in a view: the first time, its index counts as used.
    pub(super) fn note_access<S: Store>(&mut self, view: &LiveView<S>, context: &Context) {
        context.budget.note_access(|| self.chosen.access.way());
        if let Some((used, index)) = self.uncounted.take() {
            used.note(&view.collection, index, view.instant.ms.div_euclid(1000));
        }
    }

    /// The walk in front of its next page; `None` at the end of all ranges. It is a copy, and put
    /// back once the page is there: a read that fails or stops has not moved the walk.
    pub(super) fn begin_page(&mut self, wanted: usize) -> Option<Pages> {
        loop {
            let pages = match &self.progress {
                Progress::Walking(pages) => pages.clone(),
                Progress::NotBegun => self.pages_over(self.range_at(self.at)?.clone()),
            };
            if !pages.is_done() {
                return Some(pages.at_most(wanted.clamp(FIRST_PAGE_ROWS, PAGE_ROWS)));
            }
            // What was read ahead of this range is used up: the next one.
            self.at += 1;
            self.progress = Progress::NotBegun;
            self.last = None;
        }
    }

    /// A walk over what is left of a range.
    pub(super) fn pages_over(&self, range: KeyRange) -> Pages {
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
                // All before were used: a page is read when there are no more.
                self.rows_ahead = page.items.into();
                page.examined
            }
        })
    }
}
