//! Running a query over rows that come in the order of its results: each row becomes results at
//! once, nothing is held but the page, and the driver may stop at any row.
//!
//! ```text
//! page of 2, mark after row 1        SELECT VALUE t FROM c JOIN t IN c.tags
//!
//! row 1                    before the mark: passed over
//! row 2  tags [a, b]       a, b       the page is full, and ends at row 2, ordinal 1
//! row 3  tags []           nothing    the look ahead goes on
//! row 4  tags [c]          found: there is a next page; it begins behind row 2, ordinal 1
//! ```

use evaluation::Error;

use super::{Flow, Output, Page, Resume, Run, ahead::Ahead, source::expand_rows};
use crate::{
    eval::Env,
    limits::LOOK_AHEAD,
    plan::{Clauses, Input, Select},
};

impl Run {
    /// Makes results of a row that comes in the order of results. A row before the mark is passed
    /// over; a row after the page only says whether there is a next one.
    ///
    /// The gate says from which ordinal on the rows of this place come after the mark: those before
    /// it were in the page before.
    pub(super) fn take_row_in_order<'a>(
        &mut self,
        plan: &'a Select,
        env: &mut Env<'a>,
        position: &[u8],
    ) -> Result<Flow, Error> {
        let clauses = plan.clauses();
        // The place of a row is its key, or its sort key with the key after it.
        let from = if clauses.order.is_empty() {
            self.gate.first_ordinal_after(position)
        } else {
            let mut place = Vec::new();
            clauses.order_key(env, &mut place)?;
            clauses.push_position(position, &mut place);
            self.gate.first_ordinal_after(&place)
        };
        // A document that makes one row at most needs no ordinals: its place says it all. The page
        // before may have been made of rows in any order, and have given the row an ordinal.
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
            let mark = self.gate.mark_of_last(self.ordinal, self.done);
            self.ahead = Some(Ahead::new(mark, clauses.look_ahead()));
            Ok(if one { Flow::Enough } else { Flow::More })
        });
        match (&mut self.ahead, expanded) {
            // What is wrong with a row behind the page is for the next page to say.
            (Some(ahead), Err(_)) if self.full => Ok(ahead.found_result()),
            (Some(ahead), Ok(_)) => Ok(ahead.count_row()),
            (_, expanded) => expanded,
        }
    }

    /// The page of rows that came in the order of results, with the place where the next one
    /// begins: after the last result, or, where no result came, after the last row that was passed.
    /// So a page that finds nothing still gets on.
    pub(super) fn sorted_page(self, all: bool) -> Page {
        let resume = if self.is_over() {
            None
        } else if let Some(ahead) = self.ahead {
            ahead.resume(all)
        } else if all {
            None
        } else if self.passed {
            self.gate.mark_of_last(self.ordinal, self.done)
        } else {
            // The driver stopped before any row passed: the next page begins where this one did.
            Some(self.resume.unwrap_or_else(|| Resume::at_place(b"", u64::MAX, 1, 0)))
        };
        Page { values: self.page, resume, held: self.held, rest: None }
    }
}

impl Clauses {
    /// How many rows are looked at behind a full page. With ORDER BY it is as many as it takes: the
    /// same page made of rows in any order knows whether there is another one, and which way rows
    /// come must not show.
    fn look_ahead(&self) -> usize {
        if self.order.is_empty() { LOOK_AHEAD } else { usize::MAX }
    }

    /// Whether a document makes one row at most: nothing in FROM goes over elements or results.
    fn makes_one_row(&self) -> bool {
        self.from.iter().all(|source| {
            matches!(source.input, Input::Root | Input::Value(_) | Input::Collected(_))
        })
    }
}
