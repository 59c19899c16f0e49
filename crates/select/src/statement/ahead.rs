//! A look beyond a full page: whether anything is left for a next one.

use super::{Flow, Resume};
use crate::limits::LOOK_AHEAD;

/// What is known of what comes behind a full page.
#[derive(Debug)]
pub(super) struct Ahead {
    /// Where the page ended.
    resume: Option<Resume>,
    rows: usize,
    found: bool,
}

impl Ahead {
    pub(super) fn new(resume: Option<Resume>) -> Self {
        Self { resume, rows: 0, found: false }
    }

    /// There is a result behind the page.
    pub(super) fn find(&mut self) -> Flow {
        self.found = true;
        Flow::Enough
    }

    /// A row was looked at.
    pub(super) fn row(&mut self) -> Flow {
        self.rows += 1;
        // The row that filled the page is the first one.
        if self.found || LOOK_AHEAD < self.rows { Flow::Enough } else { Flow::More }
    }

    /// Whether there is nothing more to look at.
    pub(super) fn is_over(&self) -> bool {
        self.found || LOOK_AHEAD < self.rows
    }

    /// Where the next page begins; `all` says that no row is left, and so none may have a result.
    pub(super) fn resume(self, all: bool) -> Option<Resume> {
        self.resume.filter(|_| self.found || !all)
    }
}
