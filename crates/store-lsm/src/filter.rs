//! The drop predicate as a compaction filter. The verdict is always `Remove`, which leaves a
//! tombstone, so that no older version can surface.
//!
//! ```text
//!  key in the tree:   use of the slot u32 | key of the space
//!  another use        → Remove (left over from a space that was dropped)
//!  this use           → the predicate decides by key and value
//! ```

use std::{panic::AssertUnwindSafe, sync::Arc};

use fjall::compaction::filter::{
    CompactionFilter, CompactionFilterResult, Context, Factory, ItemAccessor, Verdict,
};
use parking_lot::Mutex;
use store::{DropFilter, DropPredicate, Space};

use crate::{keyspace::slot_of, placeholder::PLACEHOLDER_KEY, spaces::Slots};

/// The predicate in force, shared by the filters of all keyspaces.
#[derive(Clone, Default)]
pub(crate) struct PredicateInForce(Arc<Mutex<Option<Arc<dyn DropPredicate>>>>);

impl PredicateInForce {
    /// In force for compactions that begin from now on.
    pub(crate) fn set_predicate(&self, predicate: Arc<dyn DropPredicate>) {
        *self.0.lock() = Some(predicate);
    }

    /// The filter for one compaction of a space; `None` before a predicate was set.
    fn filter_for(&self, space: Space) -> Option<DropFilter> {
        let held = self.0.lock().clone();
        held.map(|predicate| predicate.filter_for(space))
    }
}

/// Makes the filters of the keyspace of one slot.
pub(crate) struct FilterFactory {
    slot: u32,
    slots: AssertUnwindSafe<Slots>,
    predicate: AssertUnwindSafe<PredicateInForce>,
}

impl FilterFactory {
    /// The filters of a keyspace, by its name; none for those that are not slots.
    pub(crate) fn for_keyspace(
        name: &str,
        slots: &Slots,
        predicate: &PredicateInForce,
    ) -> Option<Arc<dyn Factory>> {
        let (_, slot) = slot_of(name)?;
        let slots = AssertUnwindSafe(slots.clone());
        Some(Arc::new(Self { slot, slots, predicate: AssertUnwindSafe(predicate.clone()) }))
    }
}

impl Factory for FilterFactory {
    fn name(&self) -> &str {
        "expiry"
    }

    fn make_filter(&self, _: &Context) -> Box<dyn CompactionFilter> {
        // Asked when the compaction begins, and kept: see `SlotFilter`.
        let user = self.slots.user_of(self.slot);
        Box::new(SlotFilter {
            number: user.map(|(_, number)| number.to_be_bytes()),
            drop_filter: user.and_then(|(space, _)| self.predicate.filter_for(space)),
        })
    }
}

/// The filter of one compaction. What it keeps was chosen before it was made, so that a later use
/// of the slot is not among it.
struct SlotFilter {
    /// The number of the slot's use; keys of earlier ones are left over.
    number: Option<[u8; 4]>,
    drop_filter: Option<DropFilter>,
}

impl CompactionFilter for SlotFilter {
    fn filter_item(&mut self, item: ItemAccessor<'_>, _: &Context) -> CompactionFilterResult {
        // Kept, although it belongs to no use.
        if **item.key() == PLACEHOLDER_KEY {
            return Ok(Verdict::Keep);
        }
        let key = match (item.key().split_first_chunk(), self.number) {
            (Some((used, key)), Some(number)) if *used == number => key,
            _ => return Ok(Verdict::Remove),
        };
        let Some(drops) = &self.drop_filter else { return Ok(Verdict::Keep) };
        // Read last: most leftovers are told by their keys alone.
        let value = item.value()?;
        Ok(if drops(key, &value) { Verdict::Remove } else { Verdict::Keep })
    }
}
