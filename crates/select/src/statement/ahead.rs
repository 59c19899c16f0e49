//! A look beyond a full page: whether anything is left for a next one. Rows that come in the order
//! of results need no memory, so a run does not know what follows; it reads on for some rows, so
//! that the last page of a query is rarely followed by an empty one.

use super::{Flow, Resume};

/// What is known of what comes behind a full page.
#[derive(Debug)]
pub(super) struct Ahead {
    /// Where the page ended.
    resume: Option<Resume>,
    /// Rows that are looked at, at most.
    most: usize,
    /// Rows that were looked at.
    rows: usize,
    /// Whether one of them gave a result.
    found: bool,
}

impl Ahead {
    /// A page is full and ended at `resume`.
    pub(super) fn new(resume: Option<Resume>, most: usize) -> Self {
        Self { resume, most, rows: 0, found: false }
    }

    /// Notes that there is a result after the page.
    pub(super) fn found_result(&mut self) -> Flow {
        self.found = true;
        Flow::Enough
    }

    /// Counts a row that was looked at; enough when the question is decided or too many rows were
    /// looked at.
    pub(super) fn count_row(&mut self) -> Flow {
        self.rows += 1;
        // The row that filled the page is the first one.
        if self.found || self.most < self.rows { Flow::Enough } else { Flow::More }
    }

    /// Whether looking at more rows changes nothing.
    pub(super) fn is_over(&self) -> bool {
        self.found || self.most < self.rows
    }

    /// Where the next page begins. `all` says that no row is left; then there is a next page only
    /// when a result was found. Otherwise one is promised, since there may be.
    pub(super) fn resume(self, all: bool) -> Option<Resume> {
        self.resume.filter(|_| self.found || !all)
    }
}
