//! The drop predicate as a compaction filter. The verdict is always `Remove`, which leaves a
//! tombstone, so that no older version can surface.

use std::{
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex, PoisonError},
};

use fjall::compaction::filter::{
    CompactionFilter, CompactionFilterResult, Context, Factory, ItemAccessor, Verdict,
};
use store::{DropPredicate, Judge, Space};

use crate::spaces::{Slots, slot_of};

/// The predicate in force, shared by the filters of all keyspaces.
#[derive(Clone, Default)]
pub(crate) struct Predicate(Arc<Mutex<Option<Arc<dyn DropPredicate>>>>);

impl Predicate {
    pub(crate) fn set(&self, predicate: Arc<dyn DropPredicate>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(predicate);
    }

    fn judge(&self, space: Space) -> Option<Judge> {
        let held = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        held.map(|predicate| predicate.open(space))
    }
}

/// A key of no use of a slot, whose numbers begin with 1: nobody reads it. It is written before a
/// compaction, so that a table keeps its number when everything as new as it was dropped.
pub(crate) const MARK: [u8; 4] = [0; 4];

/// Makes the filters of the keyspace of one slot.
pub(crate) struct Filters {
    slot: u32,
    slots: AssertUnwindSafe<Slots>,
    predicate: AssertUnwindSafe<Predicate>,
}

impl Filters {
    pub(crate) fn of(name: &str, slots: &Slots, predicate: &Predicate) -> Option<Arc<dyn Factory>> {
        let slot = slot_of(name)?;
        let slots = AssertUnwindSafe(slots.clone());
        Some(Arc::new(Self { slot, slots, predicate: AssertUnwindSafe(predicate.clone()) }))
    }
}

impl Factory for Filters {
    fn name(&self) -> &str {
        "expiry"
    }

    fn make_filter(&self, _: &Context) -> Box<dyn CompactionFilter> {
        let user = self.slots.user(self.slot);
        Box::new(Filter {
            number: user.map(|(_, number)| number.to_be_bytes()),
            judge: user.and_then(|(space, _)| self.predicate.judge(space)),
        })
    }
}

/// The filter of one compaction. What it keeps was chosen before it was made, so that a later use
/// of the slot is not among it.
struct Filter {
    /// The number of the slot's use; keys of earlier ones are left over.
    number: Option<[u8; 4]>,
    judge: Option<Judge>,
}

impl CompactionFilter for Filter {
    fn filter_item(&mut self, item: ItemAccessor<'_>, _: &Context) -> CompactionFilterResult {
        if **item.key() == MARK {
            return Ok(Verdict::Keep);
        }
        let key = match (item.key().split_first_chunk(), self.number) {
            (Some((used, key)), Some(number)) if *used == number => key,
            _ => return Ok(Verdict::Remove),
        };
        let Some(judge) = &self.judge else { return Ok(Verdict::Keep) };
        let value = item.value()?;
        Ok(if judge(key, &value) { Verdict::Remove } else { Verdict::Keep })
    }
}
