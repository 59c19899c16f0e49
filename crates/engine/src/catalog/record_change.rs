//! The fence of a change of a collection's record: it blocks views between the stamp of the commit
//! and its publication, which puts the new state into effect.

use std::sync::{Arc, atomic::Ordering as Atomic};

use clock::Instant;
use store::{Fence, Stamp};

use super::{Collection, CollectionState};

/// The effect that a published change has on the collection in memory.
pub(crate) enum Publication {
    State(Box<CollectionState>),
    Dropped,
}

/// The effect of a change in memory: set when its commit is ordered, taken when it is published.
type Prepared = parking_lot::Mutex<Option<Publication>>;

/// The fence of one change: blocks views of the collection, and puts the new state into effect when
/// the change becomes visible.
pub(crate) struct RecordChange {
    collection: Arc<Collection>,
    /// A collection that the same change drops because its name is reused.
    replaced: Option<Arc<Collection>>,
    /// The new state, made by the commit's closure once the stamp was known.
    prepared: Prepared,
    /// Called before the fence is lowered, with whether the change was published.
    after: Box<dyn Fn(bool) + Send + Sync>,
}

impl RecordChange {
    pub(crate) fn new(
        collection: Arc<Collection>,
        after: impl Fn(bool) + Send + Sync + 'static,
    ) -> Arc<Self> {
        Self::replacing(collection, None, after)
    }

    /// Creates a change that also drops another collection in the same commit.
    pub(crate) fn replacing(
        collection: Arc<Collection>,
        replaced: Option<Arc<Collection>>,
        after: impl Fn(bool) + Send + Sync + 'static,
    ) -> Arc<Self> {
        let prepared = Prepared::new(None);
        Arc::new(Self { collection, replaced, prepared, after: Box::new(after) })
    }

    /// Sets the effect of the change in memory, once the commit's stamp is known.
    pub(crate) fn prepare_publication(&self, publish: Publication) {
        *self.prepared.lock() = Some(publish);
    }
}

impl Fence for RecordChange {
    fn raise(&self) {
        self.collection.raise_fence();
        self.replaced.iter().for_each(|replaced| replaced.raise_fence());
    }

    fn lower(&self, published: Option<Stamp>) {
        let mut prepared = self.prepared.lock();
        if let Some(stamp) = published {
            if let Some(replaced) = &self.replaced {
                replaced.dropped.store(true, Atomic::SeqCst);
            }
            match prepared.take() {
                Some(Publication::State(state)) => {
                    self.collection.put_state(Arc::from(state), Instant::from_ms(stamp.at_ms));
                }
                Some(Publication::Dropped) => self.collection.dropped.store(true, Atomic::SeqCst),
                None => {}
            }
        }
        // The callback changes names and counters before the first view opens under the new state.
        (self.after)(published.is_some());
        self.collection.lower_fence();
        self.replaced.iter().for_each(|replaced| replaced.lower_fence());
        // Readers that wait for documents check whether their collection was dropped.
        self.collection.wake_readers();
        self.replaced.iter().for_each(|replaced| replaced.wake_readers());
    }
}
