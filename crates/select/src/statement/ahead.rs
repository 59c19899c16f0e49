//! Look-ahead after a full page, to know whether a next page exists. If rows come in the order of
//! results, a query stops at the end of the page and has not seen the results that follow. It then
//! reads a limited number of further rows, so that the last page of a query is rarely followed by
//! an empty one.

use super::{Flow, Resume};

/// Determines whether results follow the end of a page, from rows read ahead.
#[derive(Debug)]
pub(super) struct LookAhead {
    /// The position in the results at which the page ends.
    resume: Option<Resume>,
    /// Maximum number of rows to read ahead.
    limit: usize,
    rows: usize,
    /// Whether a row read ahead had a result.
    found: bool,
}

impl LookAhead {
    /// Creates a look-ahead after a page that ended at `resume`; no row has been read yet.
    pub(super) fn new(resume: Option<Resume>, limit: usize) -> Self {
        Self { resume, limit, rows: 0, found: false }
    }

    /// Records that a row read ahead has a result.
    pub(super) fn found_result(&mut self) -> Flow {
        self.found = true;
        Flow::Enough
    }

    /// Counts a row read after the page. Returns `Enough` once it is known whether a next page
    /// exists, or the maximum number of rows was read.
    pub(super) fn count_row(&mut self) -> Flow {
        self.rows += 1;
        // The row that filled the page is counted as the first one.
        if self.found || self.limit < self.rows { Flow::Enough } else { Flow::More }
    }

    /// Returns whether no further row has to be read ahead.
    pub(super) fn is_over(&self) -> bool {
        self.found || self.limit < self.rows
    }

    /// Returns the continuation. `all` is true if no row is left; then there is a next page only if
    /// a result was found. Otherwise a next page is possible, and a continuation is returned.
    pub(super) fn resume(self, all: bool) -> Option<Resume> {
        self.resume.filter(|_| self.found || !all)
    }
}
