//! Groups under construction, in the order of their keys: what their keys were and what their
//! aggregates have come to.
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

/// About what a group holds beside its values.
const GROUP_BYTES: usize = 256;

/// One group: the values of its keys and the states of its aggregates.
#[derive(Debug)]
struct Rows {
    /// In the order of GROUP BY; missing values are values of their own.
    keys: Vec<Option<Value>>,
    /// In the order in which the binder found the aggregates.
    states: Vec<AggregateState>,
    /// About the bytes that this group holds.
    bytes: usize,
}

/// Groups in the order of their keys, which is the order of results for a plain GROUP BY.
#[derive(Debug, Default)]
pub(super) struct Groups {
    /// By the identities of their keys.
    groups: BTreeMap<Vec<u8>, Rows>,
    /// About the bytes of all groups.
    bytes: usize,
}

impl Groups {
    /// Lets the row in the environment join its group, if `wanted` takes the key. `position` is the
    /// row's place in the canonical order.
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
            // The keys before it are held while the next one is evaluated.
            let more = owned_bytes(&value);
            env.hold_bytes(more)?;
            held += more;
            values.push(value);
        }
        env.release_bytes(held);
        env.spend_keeping()?;
        env.spend_bytes(key.len())?;
        // A key that no page can need any more makes no group.
        if !wanted(&key) {
            return Ok(());
        }
        let more = match self.groups.get_mut(&key) {
            // The same group, whatever the forms of its keys.
            Some(rows) => {
                rows.take_forms(&values);
                rows.add_row_values(group, env, position)?
            }
            None => {
                let held: usize = values.iter().filter_map(Evaluated::value).map(memory_of).sum();
                let mut rows = Rows::new(group, values, key.len() + held + GROUP_BYTES);
                rows.add_row_values(group, env, position)?;
                let bytes = rows.bytes;
                self.groups.insert(key, rows);
                bytes
            }
        };
        self.bytes = self.bytes.saturating_add(more);
        Ok(())
    }

    /// Whether a key comes after `most` groups that are there already.
    pub(super) fn is_behind(&self, key: &[u8], most: usize) -> bool {
        most <= self.groups.len()
            && self.groups.last_key_value().is_some_and(|(last, _)| last.as_slice() < key)
    }

    /// Forgets the last groups beyond this number. It is right only where the key of a group is its
    /// place: a later row could not bring a forgotten group back before those that are kept.
    ///
    /// Returns whether it has forgotten any.
    pub(super) fn shrink_to(&mut self, most: usize) -> bool {
        let forgets = most < self.groups.len();
        while most < self.groups.len() {
            let last = self.groups.pop_last();
            self.bytes -= last.map_or(0, |(_, rows)| rows.bytes).min(self.bytes);
        }
        forgets
    }

    /// About the bytes held.
    pub(super) fn held_bytes(&self) -> usize {
        self.bytes
    }

    /// Calls `visit` for each group in order, with its keys and results in their slots. Without
    /// keys there is one group even when no row came: `COUNT` of nothing is 0.
    pub(super) fn visit_groups<'a>(
        mut self,
        group: &'a Group,
        env: &mut Env<'a>,
        mut visit: impl FnMut(&[u8], &mut Env<'a>) -> Result<super::Flow, Error>,
    ) -> Result<(), Error> {
        if group.keys.is_empty() && self.groups.is_empty() {
            self.groups.insert(Vec::new(), Rows::new(group, Vec::new(), GROUP_BYTES));
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

impl Rows {
    /// A group without rows: its keys, and the states of its aggregates.
    fn new(group: &Group, keys: Vec<Evaluated<'_>>, bytes: usize) -> Self {
        let states =
            group.aggregates.iter().map(|aggregate| AggregateState::new(aggregate.kind)).collect();
        Self { keys: keys.into_iter().map(Evaluated::into_value).collect(), states, bytes }
    }

    /// Takes over forms of the same keys that precede the ones known so far (`1` for `1.0`), so
    /// that results do not depend on the order of rows.
    fn take_forms(&mut self, keys: &[Evaluated<'_>]) {
        for (known, key) in self.keys.iter_mut().zip(keys) {
            if let (Some(known), Some(key)) = (known, key.value())
                && takes_precedence(key, known.as_ref())
            {
                *known = key.to_value();
            }
        }
    }

    /// Adds the row in the environment to every aggregate, and returns about how many bytes more
    /// are held.
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
