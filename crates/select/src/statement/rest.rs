//! The results of a query in their order, from which pages are cut. What is left behind a page is the
//! beginning of the next one, as long as nothing has changed that the query reads: a page that is cut
//! from it is the one that a run over all rows would make.

use evaluation::Error;
use memory::Share;

use super::{Page, PageLimit, Resume, kept::Kept, mark::Gate};
use crate::plan::Window;

/// The results that come after a page.
#[derive(Debug)]
pub struct Rest {
    /// In their order.
    results: Kept,
    /// Which of them come after the page before; it has let all of the pages before pass.
    gate: Gate,
    /// OFFSET, LIMIT and TOP.
    window: Window,
    /// Results passed, since the first page.
    done: u64,
}

impl Rest {
    /// The results that a gate lets pass, of which `done` were passed before.
    pub(super) fn new(results: Kept, gate: Gate, window: Window, done: u64) -> Self {
        Self { results, gate, window, done }
    }

    /// About the bytes that it takes in memory.
    pub fn memory_bytes(&self) -> usize {
        self.results.memory_bytes()
    }

    /// Whether the next page can be cut from it. Where further results were forgotten, it has to hold
    /// more than the page.
    pub fn has_page(&self, limit: PageLimit) -> bool {
        !self.results.has_forgotten() || limit.items < self.results.len()
    }

    /// Cuts the next page; `held` counts the memory of its values.
    pub fn next_page(self, limit: PageLimit, mut held: Share) -> Result<Page, Error> {
        held.set(self.memory_bytes())?;
        Ok(self.cut_page(limit, held))
    }

    /// The same where the memory is counted already.
    pub(super) fn cut_page(mut self, limit: PageLimit, held: Share) -> Page {
        let (mut values, mut bytes) = (Vec::new(), 0_usize);
        let mut full = self.is_over();
        let mut resume: Option<Resume> = None;
        while !full && let Some(((place, ordinal), value)) = self.results.pop_first() {
            if self.gate.first_ordinal_after(&place).is_none_or(|from| ordinal < from) {
                continue;
            }
            self.done += 1;
            // OFFSET passes over it.
            if self.done <= self.window.skip {
                continue;
            }
            bytes = bytes.saturating_add(value.size_of_result().bytes);
            values.push(value);
            full = limit.items <= values.len() || limit.bytes <= bytes || self.is_over();
            let goes_on = self.results.has_forgotten() || 0 < self.results.len();
            if full && goes_on && !self.is_over() {
                resume = self.gate.mark_of_last(ordinal, self.done);
            }
        }
        let rest = resume.is_some().then_some(self).filter(|rest| 0 < rest.results.len());
        Page { values, resume, held, rest }
    }

    /// Whether TOP or LIMIT is used up.
    fn is_over(&self) -> bool {
        self.window.is_over(self.done)
    }
}
