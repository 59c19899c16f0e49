//! What the reaper knows of each collection, and the drop predicate that compactions ask. It takes
//! no decision: `expire::reap` says which floors are in force here.
//!
//! The predicate runs inside a compaction, for every row and entry, without a view: it compares a
//! header with reap floors and nothing else. Once it has said "drop" for a row it always will,
//! since floors only rise.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use parking_lot::{Mutex, MutexGuard};
use store::{DropFilter, DropPredicate, Space};

use crate::{
    amount::{Amount, Unreaped},
    catalog::ReapFloors,
};

/// The state of one collection, since the start of the server.
#[derive(Debug, Default)]
pub(crate) struct CollectionReaping {
    /// Samples by the time they were taken, oldest first.
    pub(crate) samples: VecDeque<(Duration, ReapFloors)>,
    /// In force for compactions; `None` until the first sample is old enough.
    pub(crate) allowed: Option<Arc<ReapFloors>>,
    /// What had expired by the floors of the last compaction.
    pub(crate) reaped: Amount,
    /// The floors of the last compaction.
    pub(crate) reaped_floors: Option<Arc<ReapFloors>>,
    /// A compaction that makes something superfluous, and the `seq` that it filtered through.
    pub(crate) compacted: Option<(u64, Arc<ReapFloors>)>,
    /// What had expired and was still stored when that was last estimated.
    pub(crate) backlog: Unreaped,
    /// Where the counters do not know what expired, the collection is not walked before this.
    pub(crate) walk_after: Duration,
}

/// By the collection's id.
pub(crate) type Collections = BTreeMap<u32, CollectionReaping>;

/// Shared with the store, whose compactions ask it on threads of their own.
#[derive(Debug, Default)]
struct FloorPredicate {
    collections: Mutex<Collections>,
    /// Nothing is dropped while this is set, in compactions under way neither.
    paused: Arc<AtomicBool>,
}

impl FloorPredicate {
    fn lock(&self) -> MutexGuard<'_, Collections> {
        self.collections.lock()
    }
}

impl DropPredicate for FloorPredicate {
    fn filter_for(&self, space: Space) -> DropFilter {
        // Nothing in the catalog or among the counters expires.
        let id = match space {
            Space::Rows(id) | Space::Index(id) => id,
            Space::Catalog | Space::Counts => return Box::new(|_, _| false),
        };
        let allowed = self.lock().get(&id).and_then(|of| of.allowed.clone());
        let Some(allowed) = allowed else { return Box::new(|_, _| false) };
        let paused = Arc::clone(&self.paused);
        Box::new(move |key, value| {
            !paused.load(Ordering::SeqCst) && allowed.drops(space, key, value)
        })
    }
}

/// The reaper's state.
#[derive(Debug)]
pub(crate) struct Reaper {
    /// How long ago a document has to have expired before its bytes may go.
    pub(crate) delay: Duration,
    floored: Arc<FloorPredicate>,
    /// Counted for metrics.
    pub(crate) passes: AtomicU64,
    /// Documents that compactions dropped, as far as it is known.
    pub(crate) reaped_documents: AtomicU64,
    /// How often it was paused: a compaction in which that changes has not filtered everything.
    pauses: AtomicU64,
}

impl Reaper {
    pub(crate) fn new(delay: Duration) -> Self {
        Self {
            delay,
            floored: Arc::default(),
            passes: AtomicU64::new(0),
            reaped_documents: AtomicU64::new(0),
            pauses: AtomicU64::new(0),
        }
    }

    /// Whether nothing is dropped now.
    pub(crate) fn is_paused(&self) -> bool {
        self.floored.paused.load(Ordering::SeqCst)
    }

    /// How often it has been paused so far; `None`: it is now. A compaction that reads the same number
    /// before and after dropped all that it was allowed to.
    pub(crate) fn pauses(&self) -> Option<u64> {
        let pauses = self.pauses.load(Ordering::SeqCst);
        (!self.is_paused()).then_some(pauses)
    }

    /// Drops nothing from now on, in compactions under way neither; or drops again what the floors of
    /// a next sample allow.
    pub(crate) fn set_paused(&self, paused: bool) {
        if paused {
            self.floored.paused.store(true, Ordering::SeqCst);
            self.pauses.fetch_add(1, Ordering::SeqCst);
            // What is in force after the pause comes of a sample that was taken after it.
            for of in self.lock().values_mut() {
                of.allowed = None;
            }
        } else {
            self.floored.paused.store(false, Ordering::SeqCst);
        }
    }

    /// What is known of each collection.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Collections> {
        self.floored.lock()
    }

    /// What compactions ask.
    pub(crate) fn predicate(&self) -> Arc<dyn DropPredicate> {
        Arc::clone(&self.floored) as Arc<dyn DropPredicate>
    }
}
