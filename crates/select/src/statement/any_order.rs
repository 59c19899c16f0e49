//! Runs a query over rows that come in any order: results and groups are kept until the last row,
//! limited to as many as the page may need.
//!
//! ```text
//! row -> keep_result  -> kept     (by sort position, cut to what the page needs)
//!     -> firsts           (DISTINCT with an ORDER BY of its own)
//!     -> join_group   -> groups   (by key, cut likewise) -> keep_result
//! ```
//!
//! A row's sort position is known before its result is made, except for DISTINCT, where the sort
//! position is the value. So most rows of a long query cost no more than their sort key: a row
//! after all results that the page needs is dropped at once.

use evaluation::{Context, Error, Evaluated, Kind, Size, numbers::LIMIT_EXCEEDED};

use super::{Flow, Output, Run};
use crate::{
    eval::Env,
    plan::{Clauses, DOCUMENT, Group, Projection, Select},
};

/// Maximum size of rows, groups and keys that a run of a query holds in memory, in bytes.
const MAX_RUN_BYTES: usize = 256 * 1024 * 1024;

impl Run {
    /// Returns how many results the page may need, and whether OFFSET skips none of them. The
    /// number includes one result more than the page, to know whether there is a next page. The
    /// resume position is that of the last result of the preceding page.
    ///
    /// ```text
    /// OFFSET 5 LIMIT 100, pages of 10, 3 results skipped already
    /// 2 to skip + 10 for the page + 1 after it = 13; at most the 102 that remain
    /// ```
    ///
    /// Results before the resume position are not kept, so that the last page of a long query holds
    /// no more than the first.
    pub(super) fn needed_results(&self) -> (usize, bool) {
        let window = self.clauses().window;
        let skip = window.skip.saturating_sub(self.done);
        // Of a truncated resume position only a prefix is known. Results with that prefix may come
        // before or after it, which is decided when all of them are known.
        if self.resume.as_ref().is_some_and(|resume| !resume.is_whole) {
            return (usize::MAX, false);
        }
        let items = u64::try_from(self.keep.items).unwrap_or(u64::MAX);
        let most = skip.saturating_add(items).saturating_add(1);
        let most = most.min(window.end_of_results().saturating_sub(self.done));
        (usize::try_from(most).unwrap_or(usize::MAX), skip == 0)
    }

    /// Returns the maximum number of results to keep and the maximum of their total size in bytes.
    /// Besides the results of the page this includes results that [`Run::keep_ahead`] keeps for
    /// later pages.
    pub(super) fn most_kept(&self) -> (usize, usize) {
        let (most, none_passed_over) = self.needed_results();
        (most, if none_passed_over { self.keep.bytes } else { usize::MAX })
    }

    /// Computes the result of the environment's row, and keeps it if it may be on the page. A row
    /// whose sort position is outside the page is skipped without computing its result, unless the
    /// position depends on the result.
    pub(super) fn keep_result<'a>(
        &mut self,
        clauses: &'a Clauses,
        env: &mut Env<'a>,
        position: &[u8],
        ordinal: u64,
    ) -> Result<(), Error> {
        let mut sort_position = Vec::new();
        env.spend_keeping()?;
        clauses.order_key(env, &mut sort_position)?;
        let by_value = clauses.distinct;
        let (most, bytes) = self.most_kept();
        if !by_value {
            clauses.push_position(position, &mut sort_position);
            if self.is_outside(&sort_position, ordinal, most) {
                return Ok(());
            }
        }
        env.complete_document();
        let value = clauses.projection.project_row(env)?;
        if value.value().is_none() {
            return Ok(());
        }
        // The same value may occur again at an earlier sort position, so all values are kept, by
        // value.
        if by_value && !clauses.order.is_empty() && !clauses.order_in_output {
            let mut key = Vec::new();
            env.append_identity(&value, &mut key)?;
            clauses.push_position(position, &mut sort_position);
            let Some(value) = Output::from_evaluated(value) else { return Ok(()) };
            self.firsts.add_value(key, sort_position, ordinal, value);
            return self.count_held();
        }
        // The sort position of a DISTINCT value is the value itself, without the row's position and
        // ordinal.
        let mut ordinal = ordinal;
        if by_value {
            ordinal = 0;
            env.append_identity(&value, &mut sort_position)?;
            if self.is_outside(&sort_position, 0, most)
                || self.buffered.keep_preferred_form(&sort_position, &value)
            {
                return Ok(());
            }
        }
        let Some(value) = Output::from_evaluated(value) else { return Ok(()) };
        env.spend_bytes(self.buffered.add_result(sort_position, ordinal, value))?;
        self.buffered.shrink_to(most, bytes);
        self.count_held()
    }

    /// Reserves the memory of the groups and results so far. If that fails, first drops the results
    /// that are kept for later pages ([`Run::keep_ahead`]).
    fn count_held(&mut self) -> Result<(), Error> {
        let counted = self.count_all_held();
        if counted.is_ok() || self.keep == self.limit {
            return counted;
        }
        self.keep = self.limit;
        let (most, bytes) = self.most_kept();
        self.buffered.shrink_to(most, bytes);
        let most = self.most_groups();
        if self.groups.shrink_to(most) {
            self.buffered.record_dropped();
        }
        self.count_all_held()
    }

    /// Reserves the memory of the groups and results so far. Fails if it exceeds the limit of one
    /// page or the available memory.
    fn count_all_held(&mut self) -> Result<(), Error> {
        let buffered = self.buffered.memory_bytes().saturating_add(self.firsts.memory_bytes());
        let held = buffered.saturating_add(self.groups.held_bytes()).saturating_add(self.finishing);
        if MAX_RUN_BYTES < held {
            let text = format!(
                "the query needs more memory than allowed: more than {MAX_RUN_BYTES} bytes"
            );
            return Err(Error::new(Kind::TooLarge, LIMIT_EXCEEDED, text));
        }
        Ok(self.held.set(held)?)
    }

    /// Returns whether a result at this sort position is not needed: it belongs to a previous page,
    /// or comes after all results that this page may need. In the latter case, records that a
    /// result after the kept ones was dropped.
    fn is_outside(&mut self, sort_position: &[u8], ordinal: u64, most: usize) -> bool {
        if self.resume.as_ref().is_some_and(|resume| !resume.may_be_behind(sort_position, ordinal))
        {
            return true;
        }
        let is_behind = self.buffered.is_behind(sort_position, most);
        if is_behind {
            self.buffered.record_dropped();
        }
        is_behind
    }

    /// Adds the row in the environment to its group, unless the group cannot be in the page. With a
    /// plain GROUP BY results come in the order of keys, so only the first groups after the resume
    /// position are needed.
    pub(super) fn join_group<'a>(
        &mut self,
        clauses: &'a Clauses,
        group: &'a Group,
        env: &mut Env<'a>,
        position: &[u8],
    ) -> Result<(), Error> {
        let plain = clauses.order.is_empty() && !clauses.distinct;
        let most = self.most_groups();
        // With ORDER BY or DISTINCT the key of a group is not its sort position, so no group can be
        // left out.
        let resume = self.resume.as_ref().filter(|_| plain);
        let groups = &mut self.groups;
        let mut behind = false;
        let before = |key: &[u8]| resume.is_some_and(|resume| !resume.may_be_behind(key, 0));
        if most != usize::MAX {
            env.spend_keeping()?;
            let mut key = Vec::new();
            for (expr, _) in &group.keys {
                let value = expr.eval(env)?;
                env.append_identity(&value, &mut key)?;
            }
            behind = groups.is_behind(&key, most);
        }
        if !behind {
            groups.add_row(group, env, position, |key| !before(key))?;
            behind = groups.shrink_to(most);
        }
        if behind {
            // The dropped group would have become a result, so there is a next page.
            self.buffered.record_dropped();
        }
        self.count_held()
    }

    /// Returns the maximum number of groups to keep.
    fn most_groups(&self) -> usize {
        let clauses = self.clauses();
        let plain = clauses.order.is_empty() && !clauses.distinct;
        // A group may have an undefined result, so more groups may be needed than results.
        let certain = plain && matches!(clauses.projection, Projection::Fields(_));
        if certain { self.needed_results().0 } else { usize::MAX }
    }

    /// Makes results of the groups after the last row, in the order of their keys. Each is kept
    /// like any other result, because ORDER BY and DISTINCT apply after GROUP BY.
    pub(super) fn finish_groups(
        &mut self,
        plan: &Select,
        group: &Group,
        context: &Context,
    ) -> Result<(), Error> {
        let clauses = plan.clauses();
        if group.keys.is_empty() && self.full {
            return Ok(());
        }
        let groups = std::mem::take(&mut self.groups);
        // The groups stay in memory until all of them have become results.
        self.finishing = groups.held_bytes();
        let mut env = Env::new(clauses.slots, context);
        groups.visit_groups(group, &mut env, |key, env| {
            self.keep_result(clauses, env, key, 0)?;
            Ok(Flow::More)
        })?;
        self.finishing = 0;
        Ok(())
    }

    /// Runs the query over the results of the subquery in FROM, which were collected before; each
    /// result becomes a row, with positions from 0 on. Without FROM there is a single row.
    pub(super) fn run_collected(&mut self, plan: &Select, context: &Context) -> Result<(), Error> {
        let clauses = plan.clauses();
        let Some(inner) = self.inner.take() else {
            if !plan.scans_documents() && !self.full {
                self.take_row(plan, &mut Env::new(clauses.slots, context), b"")?;
            }
            return Ok(());
        };
        let slot = clauses.from.first().map_or(DOCUMENT, |source| source.slot);
        let collected = inner.finish_page(true)?;
        // The memory of the results stays reserved until all of them have become rows.
        let _held = collected.held;
        for (at, value) in (0_u64..).zip(collected.values) {
            let mut env = Env::new(clauses.slots, context);
            let value = value.into_value();
            env.spend_bytes(Size::of_value(value.as_ref()).bytes)?;
            env.fill_slot(slot, Evaluated::Owned(value))?;
            if self.take_row(plan, &mut env, &at.to_be_bytes())? == Flow::Enough {
                break;
            }
        }
        Ok(())
    }
}
