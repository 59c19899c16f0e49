//! The results that were kept after a page, in order. As long as no data that the query reads has
//! changed, they are the start of the next page: a page taken from them equals the page of a run
//! over all rows.

use evaluation::Error;
use memory::Share;

use super::{Page, PageLimit, Resume, buffered::BufferedResults, resume_position::ResumeFilter};
use crate::plan::Window;

/// The results that come after a page.
#[derive(Debug)]
pub struct RemainingResults {
    results: BufferedResults,
    /// Decides which results come after the end of the previous page.
    resume_filter: ResumeFilter,
    window: Window,
    /// Results returned or skipped since the first page.
    done: u64,
}

impl RemainingResults {
    /// Creates the remaining results from all kept results, the filter (`resume_filter`) of the
    /// page before them and the number of results up to that page's end.
    pub(super) fn new(
        results: BufferedResults,
        resume_filter: ResumeFilter,
        window: Window,
        done: u64,
    ) -> Self {
        Self { results, resume_filter, window, done }
    }

    /// Returns the approximate memory in use, in bytes.
    pub fn memory_bytes(&self) -> usize {
        self.results.memory_bytes()
    }

    /// Returns whether the next page can be cut from these results. If further results were
    /// dropped, there must be more results than the page takes.
    pub fn has_page(&self, limit: PageLimit) -> bool {
        !self.results.has_dropped() || limit.items < self.results.len()
    }

    /// Returns the next page from the kept results and sets `held` to their memory.
    pub fn next_page(self, limit: PageLimit, mut held: Share) -> Result<Page, Error> {
        held.set(self.memory_bytes())?;
        Ok(self.cut_page(limit, held))
    }

    /// Takes the results of the next page, whose memory `held` covers already.
    pub(super) fn cut_page(mut self, limit: PageLimit, held: Share) -> Page {
        let (mut values, mut bytes) = (Vec::new(), 0_usize);
        let mut full = self.is_over();
        let mut resume: Option<Resume> = None;
        while !full && let Some(((sort_position, ordinal), value)) = self.results.pop_first() {
            if self
                .resume_filter
                .first_ordinal_after(&sort_position)
                .is_none_or(|from| ordinal < from)
            {
                continue;
            }
            self.done += 1;
            // The result is within the OFFSET and is skipped.
            if self.done <= self.window.skip {
                continue;
            }
            bytes = bytes.saturating_add(value.size_of_result().bytes);
            values.push(value);
            full = limit.items <= values.len() || limit.bytes <= bytes || self.is_over();
            let goes_on = self.results.has_dropped() || 0 < self.results.len();
            if full && goes_on && !self.is_over() {
                resume = self.resume_filter.resume_of_last(ordinal, self.done);
            }
        }
        let rest = resume.is_some().then_some(self).filter(|rest| 0 < rest.results.len());
        Page { values, resume, held, rest }
    }

    /// Returns whether TOP or LIMIT is exhausted.
    fn is_over(&self) -> bool {
        self.window.is_over(self.done)
    }
}
