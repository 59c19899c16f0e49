//! Groups under construction: keys and what the aggregates have come to.

use std::collections::BTreeMap;

use document::Value;
use evaluation::{Error, Evaluated, memory, owned};

use crate::{aggregate::State, eval::Env, form::precedes, plan::Group};

/// About what a group holds beside its values.
const GROUP_BYTES: usize = 256;

#[derive(Debug)]
struct Rows {
    keys: Vec<Option<Value>>,
    states: Vec<State>,
    bytes: usize,
}

/// Groups in the order of their keys.
#[derive(Debug, Default)]
pub(super) struct Groups {
    groups: BTreeMap<Vec<u8>, Rows>,
    bytes: usize,
}

impl Groups {
    /// The row that the environment holds, which has this position, joins its group, if `wanted`
    /// wants that key.
    pub(super) fn add<'a>(
        &mut self,
        group: &'a Group,
        env: &mut Env<'a>,
        position: &[u8],
        wanted: impl FnOnce(&[u8]) -> bool,
    ) -> Result<(), Error> {
        let mut key = Vec::new();
        let mut values = Vec::with_capacity(group.keys.len());
        let mut held = 0;
        for (expr, _) in &group.keys {
            let value = expr.eval(env)?;
            env.identity(&value, &mut key)?;
            let more = owned(&value);
            env.hold(more)?;
            held += more;
            values.push(value);
        }
        env.release(held);
        env.keep()?;
        env.spend(key.len())?;
        if !wanted(&key) {
            return Ok(());
        }
        let more = match self.groups.get_mut(&key) {
            Some(rows) => {
                rows.take_forms(&values);
                rows.add(group, env, position)?
            }
            None => {
                let held: usize = values.iter().filter_map(Evaluated::value).map(memory).sum();
                let mut rows = Rows::new(group, values, key.len() + held + GROUP_BYTES);
                rows.add(group, env, position)?;
                let bytes = rows.bytes;
                self.groups.insert(key, rows);
                bytes
            }
        };
        self.bytes = self.bytes.saturating_add(more);
        Ok(())
    }

    /// Whether a key would be behind all of so many groups.
    pub(super) fn is_behind(&self, key: &[u8], most: usize) -> bool {
        most <= self.groups.len()
            && self.groups.last_key_value().is_some_and(|(last, _)| last.as_slice() < key)
    }

    /// Forgets the last groups above this number.
    pub(super) fn shrink(&mut self, most: usize) {
        while most < self.groups.len() {
            let last = self.groups.pop_last();
            self.bytes -= last.map_or(0, |(_, rows)| rows.bytes).min(self.bytes);
        }
    }

    /// About the bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Calls `visit` for each group in order: its keys and results stand in their slots.
    pub(super) fn finish<'a>(
        mut self,
        group: &'a Group,
        env: &mut Env<'a>,
        mut visit: impl FnMut(&[u8], &mut Env<'a>) -> Result<super::Flow, Error>,
    ) -> Result<(), Error> {
        if group.keys.is_empty() && self.groups.is_empty() {
            self.groups.insert(Vec::new(), Rows::new(group, Vec::new(), GROUP_BYTES));
        }
        for (key, rows) in self.groups {
            env.step()?;
            for ((_, slot), value) in group.keys.iter().zip(rows.keys) {
                env.set(*slot, value.into());
            }
            for (aggregate, state) in group.aggregates.iter().zip(rows.states) {
                env.set(aggregate.slot, state.result());
            }
            if visit(&key, env)? == super::Flow::Enough {
                break;
            }
        }
        Ok(())
    }
}

impl Rows {
    fn new(group: &Group, keys: Vec<Evaluated<'_>>, bytes: usize) -> Self {
        let states = group.aggregates.iter().map(|aggregate| State::new(aggregate.kind)).collect();
        Self { keys: keys.into_iter().map(Evaluated::into_value).collect(), states, bytes }
    }

    /// The same keys may come in forms that are taken in place of the ones before.
    fn take_forms(&mut self, keys: &[Evaluated<'_>]) {
        for (known, key) in self.keys.iter_mut().zip(keys) {
            if let (Some(known), Some(key)) = (known, key.value())
                && precedes(key, known.as_ref())
            {
                *known = key.to_value();
            }
        }
    }

    fn add<'a>(
        &mut self,
        group: &'a Group,
        env: &mut Env<'a>,
        position: &[u8],
    ) -> Result<usize, Error> {
        let mut more = 0;
        for (aggregate, state) in group.aggregates.iter().zip(&mut self.states) {
            let value = aggregate.of.eval(env)?;
            if state.reads() {
                env.key(&value)?;
            }
            more += state.add(&value, position);
        }
        self.bytes = self.bytes.saturating_add(more);
        Ok(more)
    }
}
