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

/// Makes the filters of one keyspace.
pub(crate) struct Filters {
    space: Space,
    predicate: AssertUnwindSafe<Predicate>,
}

impl Filters {
    pub(crate) fn of(name: &str, predicate: &Predicate) -> Option<Arc<dyn Factory>> {
        let space = Space::parse(name)?;
        Some(Arc::new(Self { space, predicate: AssertUnwindSafe(predicate.clone()) }))
    }
}

impl Factory for Filters {
    fn name(&self) -> &str {
        "expiry"
    }

    fn make_filter(&self, _: &Context) -> Box<dyn CompactionFilter> {
        Box::new(Filter(self.predicate.judge(self.space)))
    }
}

struct Filter(Option<Judge>);

impl CompactionFilter for Filter {
    fn filter_item(&mut self, item: ItemAccessor<'_>, _: &Context) -> CompactionFilterResult {
        let Some(judge) = &self.0 else { return Ok(Verdict::Keep) };
        let value = item.value()?;
        Ok(if judge(item.key(), &value) { Verdict::Remove } else { Verdict::Keep })
    }
}
