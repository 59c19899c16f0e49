//! Groups under construction, in the order of their keys: the values of the keys and the states of
//! the aggregates.
//!
//! ```text
//! SELECT c.k, SUM(c.n) FROM c GROUP BY c.k
//!
//! rows (b, 2) (a, 1) (b, 5)   ->   groups  a: keys [a], states [1]
//!                                          b: keys [b], states [7]
//! ```

use std::collections::BTreeMap;

use document::Value;
use evaluation::{Error, Evaluated, memory_of, owned_bytes};

use crate::{aggregate::AggregateState, eval::Env, form::takes_precedence, plan::Group};

/// Memory charged for a group in addition to its values.
const GROUP_BYTES: usize = 256;

#[derive(Debug)]
struct GroupRow {
    /// The values of the keys, in the order of GROUP BY; undefined (`None`) is a key value of its
    /// own.
    keys: Vec<Option<Value>>,
    /// The states of the aggregates, in the order of the query's list of aggregates.
    states: Vec<AggregateState>,
    /// Approximate memory of the group, in bytes.
    bytes: usize,
}

/// Groups in the order of their keys, which is the order of results for a plain GROUP BY.
#[derive(Debug, Default)]
pub(super) struct Groups {
    /// The groups, by the concatenated identity keys.
    groups: BTreeMap<Vec<u8>, GroupRow>,
    /// Approximate memory of all groups, in bytes.
    bytes: usize,
}

impl Groups {
    /// Adds the row in the environment to its group if `wanted` accepts the group's key. `position`
    /// is the row's position in the order of results, which is the same for every access path.
    pub(super) fn add_row<'a>(
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
            env.append_identity(&value, &mut key)?;
            // Key values are counted as held memory while the following ones are evaluated.
            let more = owned_bytes(&value);
            env.hold_bytes(more)?;
            held += more;
            values.push(value);
        }
        env.release_bytes(held);
        env.spend_keeping()?;
        env.spend_bytes(key.len())?;
        if !wanted(&key) {
            return Ok(());
        }
        let more = match self.groups.get_mut(&key) {
            // The group is the same for key values that are equal in another representation, such
            // as `1` and `1.0`.
            Some(rows) => {
                rows.keep_preferred_forms(&values);
                rows.add_row_values(group, env, position)?
            }
            None => {
                let held: usize = values.iter().filter_map(Evaluated::value).map(memory_of).sum();
                let mut rows = GroupRow::new(group, values, key.len() + held + GROUP_BYTES);
                rows.add_row_values(group, env, position)?;
                let bytes = rows.bytes;
                self.groups.insert(key, rows);
                bytes
            }
        };
        self.bytes = self.bytes.saturating_add(more);
        Ok(())
    }

    /// Returns whether there are at least `most` groups and the key comes after all of them.
    pub(super) fn is_behind(&self, key: &[u8], most: usize) -> bool {
        most <= self.groups.len()
            && self.groups.last_key_value().is_some_and(|(last, _)| last.as_slice() < key)
    }

    /// Drops the last groups beyond this number and returns whether any was dropped. Correct only
    /// if the key of a group is its sort position: a later row could otherwise move a dropped group
    /// before the kept ones.
    pub(super) fn shrink_to(&mut self, most: usize) -> bool {
        let forgets = most < self.groups.len();
        while most < self.groups.len() {
            let last = self.groups.pop_last();
            self.bytes -= last.map_or(0, |(_, rows)| rows.bytes).min(self.bytes);
        }
        forgets
    }

    /// Returns the approximate memory held, in bytes.
    pub(super) fn held_bytes(&self) -> usize {
        self.bytes
    }

    /// Calls `visit` for each group in order, with its keys and results in their slots. Without
    /// keys there is one group even if there was no row: `COUNT` of nothing is 0.
    pub(super) fn visit_groups<'a>(
        mut self,
        group: &'a Group,
        env: &mut Env<'a>,
        mut visit: impl FnMut(&[u8], &mut Env<'a>) -> Result<super::Flow, Error>,
    ) -> Result<(), Error> {
        if group.keys.is_empty() && self.groups.is_empty() {
            self.groups.insert(Vec::new(), GroupRow::new(group, Vec::new(), GROUP_BYTES));
        }
        for (key, rows) in self.groups {
            env.spend_step()?;
            for ((_, slot), value) in group.keys.iter().zip(rows.keys) {
                env.set_slot(*slot, value.into());
            }
            // SELECT and ORDER BY read keys and results from slots, like names.
            for (aggregate, state) in group.aggregates.iter().zip(rows.states) {
                env.set_slot(aggregate.slot, state.into_value());
            }
            if visit(&key, env)? == super::Flow::Enough {
                break;
            }
        }
        Ok(())
    }
}

impl GroupRow {
    fn new(group: &Group, keys: Vec<Evaluated<'_>>, bytes: usize) -> Self {
        let states =
            group.aggregates.iter().map(|aggregate| AggregateState::new(aggregate.kind)).collect();
        Self { keys: keys.into_iter().map(Evaluated::into_value).collect(), states, bytes }
    }

    /// Replaces key values by equal ones whose representation takes precedence (`1` over `1.0`), so
    /// that results do not depend on the order of rows.
    fn keep_preferred_forms(&mut self, keys: &[Evaluated<'_>]) {
        for (known, key) in self.keys.iter_mut().zip(keys) {
            if let (Some(known), Some(key)) = (known, key.value())
                && takes_precedence(key, known.as_ref())
            {
                *known = key.to_value();
            }
        }
    }

    /// Adds the row in the environment to every aggregate, and returns the additional memory,
    /// approximately.
    fn add_row_values<'a>(
        &mut self,
        group: &'a Group,
        env: &mut Env<'a>,
        position: &[u8],
    ) -> Result<usize, Error> {
        let mut more = 0;
        for (aggregate, state) in group.aggregates.iter().zip(&mut self.states) {
            let value = aggregate.of.eval(env)?;
            if state.reads_whole_values() {
                env.spend_keying(&value)?;
            }
            more += state.add_row(&value, position);
        }
        self.bytes = self.bytes.saturating_add(more);
        Ok(more)
    }
}
