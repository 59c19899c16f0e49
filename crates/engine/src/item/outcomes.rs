//! The results of a batch's actions once its commit is stamped: stamp, creation stamps of created
//! items, and whether items existed before.

use std::collections::BTreeMap;

use bytes::Bytes;
use store::Stamp;

use super::ItemDone;
use crate::row::Item;

/// The outcome of an action before its commit is stamped.
pub(super) struct ActionOutcome {
    /// Key of the item after the action.
    pub(super) key: Bytes,
    /// Whether the action created the item.
    pub(super) created: bool,
    /// The item's body after the action; `None` if it was deleted.
    pub(super) body: Option<Bytes>,
    /// The item as stored, if the action wrote nothing.
    pub(super) read: Option<Item>,
    /// Creation stamp of an item that this commit did not create.
    pub(super) creation_stamp: Option<u64>,
    /// Position of the write in the commit, which is part of the item's stamp.
    pub(super) position: usize,
    /// Number of index entries written.
    pub(super) entries: usize,
}

/// The outcomes of all actions of a commit.
pub(super) struct ActionOutcomes(pub(super) Vec<ActionOutcome>);

impl ActionOutcomes {
    /// Sets the position of each item in the commit, by the order of its key among `pending`.
    pub(super) fn with_positions<T>(mut self, pending: &BTreeMap<Bytes, T>) -> Self {
        for outcome in &mut self.0 {
            let before = pending.range::<Bytes, _>(..&outcome.key);
            outcome.position = before.count();
        }
        self
    }

    /// Returns the result of each action once the commit has this stamp.
    pub(super) fn into_results(self, stamp: Option<Stamp>) -> Vec<ItemDone> {
        let done = |outcome: ActionOutcome| {
            let item = match (outcome.read, outcome.body, stamp) {
                // An item read after the same commit has written it gets the stamp of the commit.
                (Some(item), _, Some(stamp)) if item.stamp == 0 => Some(stamped_item(
                    item.key,
                    item.body,
                    outcome.creation_stamp,
                    outcome.position,
                    stamp,
                )),
                (Some(item), ..) => Some(item),
                (None, Some(body), Some(stamp)) => Some(stamped_item(
                    outcome.key,
                    body,
                    outcome.creation_stamp,
                    outcome.position,
                    stamp,
                )),
                (None, ..) => None,
            };
            ItemDone { created: outcome.created, item, entries: outcome.entries }
        };
        self.0.into_iter().map(done).collect()
    }
}

/// Returns an item as the commit wrote it.
fn stamped_item(
    key: Bytes,
    body: Bytes,
    creation_stamp: Option<u64>,
    position: usize,
    stamp: Stamp,
) -> Item {
    let creation_stamp =
        creation_stamp.unwrap_or_else(|| crate::write::item_stamp(stamp.seq, position));
    Item { key, body, stamp: stamp.seq, creation_stamp, ts: stamp.at_ms.div_euclid(1000) }
}
