//! Queries inside a query: all their results at once, in memory. Rows keep the order they come in;
//! groups come in the order of their keys.

use std::collections::HashSet;

use document::key::{TypeOrder, encode};
use evaluation::{Error, Evaluated, memory};

use super::{Flow, groups::Groups, source::expand};
use crate::{
    eval::{Env, building},
    plan::{Clauses, Projection, Select},
};

/// What has been found so far.
struct Found<'a> {
    values: Vec<(Vec<u8>, Evaluated<'a>)>,
    seen: HashSet<Vec<u8>, foldhash::fast::RandomState>,
    held: usize,
    passed: u64,
    most: usize,
}

impl Select {
    /// All results, or the first `most`; and the memory that the environment holds for them.
    pub(crate) fn results<'a>(
        &'a self,
        env: &mut Env<'a>,
        most: usize,
    ) -> Result<(Vec<Evaluated<'a>>, usize), Error> {
        let clauses = self.clauses();
        let ordered = !clauses.order.is_empty();
        let mut found = Found {
            values: Vec::new(),
            seen: HashSet::default(),
            held: 0,
            passed: 0,
            most: if ordered { usize::MAX } else { most },
        };
        if clauses.window.take == Some(0) {
            return Ok((Vec::new(), 0));
        }
        match &clauses.group {
            None => {
                expand(&clauses.from, env, &mut |env| match clauses.keeps(env)? {
                    true => found.offer(clauses, env),
                    false => Ok(Flow::More),
                })?;
            }
            Some(group) => {
                let mut groups = Groups::default();
                let mut held = 0;
                expand(&clauses.from, env, &mut |env| {
                    if clauses.keeps(env)? {
                        groups.add(group, env, b"", |_| true)?;
                        env.hold(groups.bytes() - held)?;
                        held = groups.bytes();
                    }
                    Ok(Flow::More)
                })?;
                groups.finish(group, env, |_, env| found.offer(clauses, env))?;
                env.release(held);
            }
        }
        if ordered {
            found.values.sort_by(|a, b| a.0.cmp(&b.0));
            let skip = usize::try_from(clauses.window.skip).unwrap_or(usize::MAX);
            let take = clauses.window.take.and_then(|take| usize::try_from(take).ok());
            let take = take.unwrap_or(usize::MAX).min(most);
            let values = found.values.into_iter().skip(skip).take(take);
            return Ok((values.map(|(_, value)| value).collect(), found.held));
        }
        Ok((found.values.into_iter().map(|(_, value)| value).collect(), found.held))
    }
}

impl<'a> Found<'a> {
    fn offer(&mut self, clauses: &'a Clauses, env: &mut Env<'a>) -> Result<Flow, Error> {
        let value = clauses.projection.of(env)?;
        if value.value().is_none() {
            return Ok(Flow::More);
        }
        let mut bytes = size_of::<Evaluated<'_>>();
        if let Evaluated::Own(value) = &value {
            bytes += memory(value.as_ref());
        }
        if clauses.distinct {
            let mut key = Vec::new();
            env.identity(&value, &mut key)?;
            let held = key.len() + size_of::<Vec<u8>>();
            if !self.seen.insert(key) {
                return Ok(Flow::More);
            }
            env.hold(held)?;
            self.held += held;
        }
        let mut key = Vec::new();
        if !clauses.order.is_empty() {
            env.keep()?;
            clauses.order_key(env, &mut key)?;
            bytes += key.len();
        } else if self.passed < clauses.window.skip {
            self.passed += 1;
            return Ok(Flow::More);
        }
        env.hold(bytes)?;
        self.held += bytes;
        self.values.push((key, value));
        self.passed += 1;
        let full = self.values.len() >= self.most
            || (clauses.order.is_empty() && clauses.window.end() <= self.passed);
        Ok(if full { Flow::Enough } else { Flow::More })
    }
}

impl Clauses {
    /// Whether WHERE keeps the row that the environment holds.
    pub(super) fn keeps<'a>(&'a self, env: &mut Env<'a>) -> Result<bool, Error> {
        self.filter.as_ref().map_or(Ok(true), |filter| filter.holds(env))
    }

    /// Appends the sort key of the row that the environment holds.
    pub(super) fn order_key<'a>(
        &'a self,
        env: &mut Env<'a>,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        for order in &self.order {
            let value = order.by.eval(env)?;
            env.key(&value)?;
            encode(value.operand(), TypeOrder::Json, order.descending, out);
            env.room(out.len())?;
        }
        env.spend(out.len())
    }
}

impl Projection {
    /// What becomes of the row that the environment holds.
    pub(super) fn of<'a>(&'a self, env: &mut Env<'a>) -> Result<Evaluated<'a>, Error> {
        match self {
            Self::Star(slot) => env.slot(*slot),
            Self::Value(expr) => expr.eval(env),
            Self::Fields(fields) => building::object(fields, env),
        }
    }
}
