//! Subqueries: all their results at once, in memory, without pages and resume positions. Without
//! ORDER BY results keep the order of rows or of group keys; with it they are sorted.
//!
//! The environment of the outer query counts the memory of the results, and the user of the results
//! releases it.

use std::collections::HashSet;

use document::key::{TypeOrder, encode};
use evaluation::{Error, Evaluated, memory_of};

use super::{Flow, groups::Groups, source::expand_rows};
use crate::{
    eval::{Env, building},
    plan::{Clauses, Projection, Select},
};

/// The results found so far.
struct FoundResults<'a> {
    /// Results with their sort keys, which are empty without ORDER BY.
    values: Vec<(Vec<u8>, Evaluated<'a>)>,
    /// Identity keys of the results so far, for DISTINCT.
    seen: HashSet<Vec<u8>, foldhash::fast::RandomState>,
    /// Bytes that the environment counts for the results.
    held: usize,
    /// Number of results so far, including results skipped by OFFSET; not counted with ORDER BY.
    passed: u64,
    /// Number of results at which the subquery stops.
    limit: usize,
}

impl Select {
    /// Returns all results, or the first `limit` results, and the bytes that the environment counts
    /// for them.
    pub(crate) fn all_results<'a>(
        &'a self,
        env: &mut Env<'a>,
        limit: usize,
    ) -> Result<(Vec<Evaluated<'a>>, usize), Error> {
        let clauses = self.clauses();
        let ordered = !clauses.order.is_empty();
        let mut found = FoundResults {
            values: Vec::new(),
            seen: HashSet::default(),
            held: 0,
            passed: 0,
            limit: if ordered { usize::MAX } else { limit },
        };
        if clauses.window.take == Some(0) {
            return Ok((Vec::new(), 0));
        }
        match &clauses.group {
            None => {
                expand_rows(&clauses.from, env, &mut |env| match clauses.where_keeps(env)? {
                    true => found.offer_row(clauses, env),
                    false => Ok(Flow::More),
                })?;
            }
            Some(group) => {
                let mut groups = Groups::default();
                let mut held = 0;
                expand_rows(&clauses.from, env, &mut |env| {
                    if clauses.where_keeps(env)? {
                        groups.add_row(group, env, b"", |_| true)?;
                        env.hold_bytes(groups.held_bytes() - held)?;
                        held = groups.held_bytes();
                    }
                    Ok(Flow::More)
                })?;
                groups.visit_groups(group, env, |_, env| found.offer_row(clauses, env))?;
                env.release_bytes(held);
            }
        }
        if ordered {
            found.values.sort_by(|a, b| a.0.cmp(&b.0));
            let skip = usize::try_from(clauses.window.skip).unwrap_or(usize::MAX);
            let take = clauses.window.take.and_then(|take| usize::try_from(take).ok());
            let take = take.unwrap_or(usize::MAX).min(limit);
            let values = found.values.into_iter().skip(skip).take(take);
            return Ok((values.map(|(_, value)| value).collect(), found.held));
        }
        Ok((found.values.into_iter().map(|(_, value)| value).collect(), found.held))
    }
}

impl<'a> FoundResults<'a> {
    /// Adds the result of the row in the environment, unless it is undefined, a duplicate
    /// (DISTINCT) or skipped (OFFSET). Returns `Enough` if no more results are needed.
    fn offer_row(&mut self, clauses: &'a Clauses, env: &mut Env<'a>) -> Result<Flow, Error> {
        let value = clauses.projection.project_row(env)?;
        if value.value().is_none() {
            return Ok(Flow::More);
        }
        let mut bytes = size_of::<Evaluated<'_>>();
        if let Evaluated::Owned(value) = &value {
            bytes += memory_of(value.as_ref());
        }
        if clauses.distinct {
            let mut key = Vec::new();
            env.append_identity(&value, &mut key)?;
            let held = key.len() + size_of::<Vec<u8>>();
            if !self.seen.insert(key) {
                return Ok(Flow::More);
            }
            env.hold_bytes(held)?;
            self.held += held;
        }
        let mut key = Vec::new();
        if !clauses.order.is_empty() {
            env.spend_keeping()?;
            clauses.order_key(env, &mut key)?;
            bytes += key.len();
        } else if self.passed < clauses.window.skip {
            self.passed += 1;
            return Ok(Flow::More);
        }
        env.hold_bytes(bytes)?;
        self.held += bytes;
        self.values.push((key, value));
        self.passed += 1;
        let full = self.values.len() >= self.limit
            || (clauses.order.is_empty() && clauses.window.end_of_results() <= self.passed);
        Ok(if full { Flow::Enough } else { Flow::More })
    }
}

impl Clauses {
    /// Returns whether WHERE is true for the row in the environment.
    pub(super) fn where_keeps<'a>(&'a self, env: &mut Env<'a>) -> Result<bool, Error> {
        self.filter.as_ref().map_or(Ok(true), |filter| filter.is_true(env))
    }

    /// Appends the sort key of the row in the environment to `out`: bytes that compare as ORDER BY
    /// does.
    pub(super) fn order_key<'a>(
        &'a self,
        env: &mut Env<'a>,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        for order in &self.order {
            let value = order.by.eval(env)?;
            env.spend_keying(&value)?;
            encode(value.operand(), TypeOrder::Json, order.descending, out);
            env.check_room(out.len())?;
        }
        env.spend_bytes(out.len())
    }
}

impl Projection {
    /// Projects the row in the environment to a result.
    pub(super) fn project_row<'a>(&'a self, env: &mut Env<'a>) -> Result<Evaluated<'a>, Error> {
        match self {
            Self::Star(slot) => env.slot_value(*slot),
            Self::Value(expr) => expr.eval(env),
            Self::Fields(fields) => building::build_object(fields, env),
        }
    }
}
