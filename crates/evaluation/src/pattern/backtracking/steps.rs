//! Counts the steps of a search.

use super::MAX_STEPS;
use crate::{
    error::{Error, Kind, numbers::LIMIT_EXCEEDED},
    pattern::lookahead::Count,
};

/// Number of steps after which the work is reported.
const COUNTED: usize = 1 << 14;
/// Units of work charged for one step.
const STEP_WORK: usize = 8;
/// Maximum characters of a pattern in an error.
const SHOWN: usize = 100;

/// Reports steps as work, in batches, and ends a search that takes too many.
pub(super) struct Steps<'a> {
    count: Count<'a>,
    source: &'a str,
    /// Steps that have not been reported yet.
    open: usize,
    total: u64,
}

impl<'a> Steps<'a> {
    /// Starts a count for a search of the pattern `source`.
    pub(super) fn new(count: Count<'a>, source: &'a str) -> Self {
        Self { count, source, open: 0, total: 0 }
    }

    /// Adds steps. Fails if there are more than allowed, or if the operation must end.
    pub(super) fn add(&mut self, steps: usize) -> Result<(), Error> {
        self.open = self.open.saturating_add(steps);
        if self.open < COUNTED { Ok(()) } else { self.report() }
    }

    /// Reports the steps since the last report.
    pub(super) fn report(&mut self) -> Result<(), Error> {
        let steps = std::mem::take(&mut self.open);
        self.total = self.total.saturating_add(steps as u64);
        if MAX_STEPS < self.total {
            return Err(self.exceeded("steps"));
        }
        (self.count)(steps.saturating_mul(STEP_WORK))
    }

    /// Returns the error for a search that takes more of something than allowed.
    pub(super) fn exceeded(&self, what: &str) -> Error {
        let shown: String = self.source.chars().take(SHOWN).collect();
        let cut = if shown.len() < self.source.len() { "..." } else { "" };
        let text = format!(
            "the regular expression /{shown}{cut}/ takes more {what} than allowed on a text; \
             rewrite it with fewer alternatives to try, or without look-behind and backreferences"
        );
        Error::new(Kind::TooLarge, LIMIT_EXCEEDED, text)
    }
}
