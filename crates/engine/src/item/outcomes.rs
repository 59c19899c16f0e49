//! What the actions of a batch return once their commit is stamped: the stamp, the births of items
//! that the commit made, and whether there was something before.

use std::collections::BTreeMap;

use bytes::Bytes;
use store::Stamp;

use super::ItemDone;
use crate::row::Item;

/// What became of an action, its stamp apart.
pub(super) struct ActionOutcome {
    /// The item's, after the action.
    pub(super) key: Bytes,
    /// There was nothing before.
    pub(super) created: bool,
    /// The item after it; none when it was removed.
    pub(super) body: Option<Bytes>,
    /// The stored row where nothing was written.
    pub(super) read: Option<Item>,
    /// Of an item that this commit did not make.
    pub(super) birth: Option<u64>,
    /// Its place among the items of the commit.
    pub(super) position: usize,
    /// Index entries that it wrote.
    pub(super) entries: usize,
}

/// What the actions answer once they are committed.
pub(super) struct ActionOutcomes(pub(super) Vec<ActionOutcome>);

impl ActionOutcomes {
    /// With the places that items have in the commit.
    pub(super) fn with_positions<T>(mut self, pending: &BTreeMap<Bytes, T>) -> Self {
        for outcome in &mut self.0 {
            let before = pending.range::<Bytes, _>(..&outcome.key);
            outcome.position = before.count();
        }
        self
    }

    /// What each action answers after a commit with this stamp.
    pub(super) fn into_results(self, stamp: Option<Stamp>) -> Vec<ItemDone> {
        let done = |outcome: ActionOutcome| {
            let item = match (outcome.read, outcome.body, stamp) {
                // One that was read after a write of the same commit has its stamp.
                (Some(item), _, Some(stamp)) if item.stamp == 0 => {
                    Some(stamped_item(item.key, item.body, outcome.birth, outcome.position, stamp))
                }
                (Some(item), ..) => Some(item),
                (None, Some(body), Some(stamp)) => {
                    Some(stamped_item(outcome.key, body, outcome.birth, outcome.position, stamp))
                }
                (None, ..) => None,
            };
            ItemDone { created: outcome.created, item, entries: outcome.entries }
        };
        self.0.into_iter().map(done).collect()
    }
}

/// An item as the commit wrote it.
fn stamped_item(
    key: Bytes,
    body: Bytes,
    birth: Option<u64>,
    position: usize,
    stamp: Stamp,
) -> Item {
    let birth = birth.unwrap_or_else(|| crate::write::birth_number(stamp.seq, position));
    Item { key, body, stamp: stamp.seq, birth, ts: stamp.at_ms.div_euclid(1000) }
}
