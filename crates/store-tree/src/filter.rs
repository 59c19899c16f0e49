//! The drop predicate as a compaction filter. For a row that may be dropped the verdict is
//! `Remove`, which leaves a tombstone, so that no older version can reappear. Every tree has a
//! filter, because the creation of a filter signals that a compaction has chosen its tables, and
//! because the filter counts the memory that the compaction holds.

use std::{panic::AssertUnwindSafe, sync::Arc};

use lsm_tree::compaction::filter::{CompactionFilter, Context, Factory, ItemAccessor, Verdict};
use parking_lot::Mutex;
use store::{DropFilter, DropPredicate, Space};

use crate::{
    inputs::CompactionInputs,
    outputs::{OutputWatch, Outputs},
};

/// The drop predicate in effect, shared by the filters of all trees.
#[derive(Clone, Default)]
pub(crate) struct PredicateInForce(Arc<Mutex<Option<Arc<dyn DropPredicate>>>>);

impl PredicateInForce {
    /// Sets the drop predicate for compactions that start from now on.
    pub(crate) fn set_predicate(&self, predicate: Arc<dyn DropPredicate>) {
        *self.0.lock() = Some(predicate);
    }

    /// Returns the filter for one compaction of a space; `None` before a predicate was set.
    pub(crate) fn filter_for(&self, space: Space) -> Option<DropFilter> {
        let held = self.0.lock().clone();
        held.map(|predicate| predicate.filter_for(space))
    }
}

/// Creates the filter of each compaction of one tree.
pub(crate) struct FilterFactory {
    /// Space to which the predicate applies; `None` for trees in which nothing is dropped.
    space: Option<Space>,
    predicate: AssertUnwindSafe<PredicateInForce>,
    inputs: AssertUnwindSafe<Arc<CompactionInputs>>,
    outputs: AssertUnwindSafe<Arc<Outputs>>,
}

impl FilterFactory {
    /// Creates the factory for the tree of a space.
    pub(crate) fn new(
        space: Option<Space>,
        predicate: &PredicateInForce,
        inputs: &Arc<CompactionInputs>,
        outputs: &Arc<Outputs>,
    ) -> Self {
        let has_documents = |space: &Space| matches!(space, Space::Rows(_) | Space::Index(_));
        Self {
            space: space.filter(has_documents),
            predicate: AssertUnwindSafe(predicate.clone()),
            inputs: AssertUnwindSafe(Arc::clone(inputs)),
            outputs: AssertUnwindSafe(Arc::clone(outputs)),
        }
    }
}

impl Factory for FilterFactory {
    fn name(&self) -> &str {
        "expiry"
    }

    fn make_filter(&self, _: &Context) -> Box<dyn CompactionFilter> {
        self.inputs.record_chosen();
        // Determined once, so that a compaction uses one filter from start to end.
        let drops = self.space.and_then(|space| self.predicate.filter_for(space));
        Box::new(SpaceFilter { drops, watch: OutputWatch::new(&self.outputs) })
    }
}

/// The filter by which one compaction drops rows.
struct SpaceFilter {
    drops: Option<DropFilter>,
    watch: OutputWatch,
}

impl CompactionFilter for SpaceFilter {
    fn filter_item(&mut self, item: ItemAccessor<'_>, _: &Context) -> lsm_tree::Result<Verdict> {
        let value = item.value()?;
        self.watch.record_row(item.key().len(), value.len())?;
        let Some(drops) = &self.drops else { return Ok(Verdict::Keep) };
        Ok(if drops(item.key(), &value) { Verdict::Remove } else { Verdict::Keep })
    }

    fn finish(self: Box<Self>) {
        self.watch.finish();
    }
}
