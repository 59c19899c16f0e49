//! Runs a query over rows that come in the order of its results: each row becomes results at once,
//! only the page is held in memory, and the driver may stop at any row.
//!
//! ```text
//! page of 2, resumed after row 1        SELECT VALUE t FROM c JOIN t IN c.tags
//!
//! row 1                    on an earlier page: skipped
//! row 2  tags [a, b]       a, b       the page is full, and ends at row 2, ordinal 1
//! row 3  tags []           nothing    the look-ahead continues
//! row 4  tags [c]          found: there is a next page, which starts after row 2, ordinal 1
//! ```

use evaluation::Error;

use super::{Flow, Output, Page, Resume, Run, ahead::LookAhead, source::expand_rows};
use crate::{
    eval::Env,
    plan::{Clauses, Input, Select},
};

/// Number of rows that are read after a full page to determine whether a next page exists. If none
/// of them decides it, a continuation token is returned for a page that may turn out to be empty,
/// because reading further could take as long as the query itself.
const LOOK_AHEAD: usize = 100;

impl Run {
    /// Makes results of a document, in the order of results. A row before the resume position is
    /// skipped; a row after the page only decides whether there is a next page.
    ///
    /// `resume_filter` returns the ordinal (index among the rows of this document) from which on
    /// its rows come after the resume position; the rows before it were in the previous page.
    pub(super) fn take_row_in_order<'a>(
        &mut self,
        plan: &'a Select,
        env: &mut Env<'a>,
        position: &[u8],
    ) -> Result<Flow, Error> {
        let clauses = plan.clauses();
        // The sort position is the row key, or the sort key followed by the row key.
        let from = if clauses.order.is_empty() {
            self.resume_filter.first_ordinal_after(position)
        } else {
            let mut sort_position = Vec::new();
            clauses.order_key(env, &mut sort_position)?;
            clauses.push_position(position, &mut sort_position);
            self.resume_filter.first_ordinal_after(&sort_position)
        };
        // A document that makes at most one row needs no ordinals. If the previous page was made
        // from unsorted rows, its resume position has an ordinal, which is ignored.
        let one = clauses.makes_one_row();
        let from = from.filter(|from| !one || *from == 0);
        self.passed = from.is_some();
        let Some(from) = from else { return Ok(Flow::More) };
        if self.ahead.is_none() {
            self.ordinal = u64::MAX;
        }
        let mut next = 0;
        let expanded = expand_rows(&clauses.from, env, &mut |env| {
            if !clauses.where_keeps(env)? {
                return Ok(Flow::More);
            }
            let ordinal = next;
            next += 1;
            if !one && ordinal < from {
                return Ok(Flow::More);
            }
            env.complete_document();
            let Some(value) = Output::from_evaluated(clauses.projection.project_row(env)?) else {
                return Ok(Flow::More);
            };
            if let Some(ahead) = &mut self.ahead {
                return Ok(ahead.found_result());
            }
            if self.deliver_result(value)? == Flow::More {
                return Ok(Flow::More);
            }
            if !one {
                self.ordinal = ordinal;
            }
            if self.is_over() {
                return Ok(Flow::Enough);
            }
            let resume_position = self.resume_filter.resume_of_last(self.ordinal, self.done);
            self.ahead = Some(LookAhead::new(resume_position, clauses.look_ahead()));
            Ok(if one { Flow::Enough } else { Flow::More })
        });
        match (&mut self.ahead, expanded) {
            // An error in a row after the page is reported by the next page.
            (Some(ahead), Err(_)) if self.full => Ok(ahead.found_result()),
            (Some(ahead), Ok(_)) => Ok(ahead.count_row()),
            (_, expanded) => expanded,
        }
    }

    /// Returns the page; `all` is true if no row is left. Its continuation is the last result or,
    /// without results, the last row that was passed. So even a page without results makes
    /// progress.
    pub(super) fn sorted_page(self, all: bool) -> Page {
        let resume = if self.is_over() {
            None
        } else if let Some(ahead) = self.ahead {
            ahead.resume(all)
        } else if all {
            None
        } else if self.passed {
            self.resume_filter.resume_of_last(self.ordinal, self.done)
        } else {
            // The driver stopped before any row after the previous page: the next page starts where
            // this one started.
            Some(self.resume.unwrap_or_else(|| Resume::at_position(b"", u64::MAX, 1, 0)))
        };
        Page { values: self.page, resume, held: self.held, rest: None }
    }
}

impl Clauses {
    /// Returns the maximum number of rows to read after a full page, to find out whether there is a
    /// next page. It is unlimited with ORDER BY: a page made from unsorted rows always knows
    /// whether another follows, and the response must not depend on the access path.
    fn look_ahead(&self) -> usize {
        if self.order.is_empty() { LOOK_AHEAD } else { usize::MAX }
    }

    /// Returns whether a document makes at most one row: nothing in FROM iterates over elements or
    /// results.
    fn makes_one_row(&self) -> bool {
        self.from.iter().all(|source| {
            matches!(source.input, Input::Root | Input::Value(_) | Input::Collected(_))
        })
    }
}
