//! What the reaper knows of each collection, and the drop predicate that compactions ask. It takes
//! no decision: `expire::reap` says which floors are in force here.
//!
//! The predicate runs inside a compaction, for every row and entry, without a view: it compares a
//! header with reap floors and nothing else. Once it has said "drop" for a row it always will,
//! since floors only rise.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, atomic::AtomicU64},
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
struct FloorPredicate(Mutex<Collections>);

impl FloorPredicate {
    fn lock(&self) -> MutexGuard<'_, Collections> {
        self.0.lock()
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
        Box::new(move |key, value| allowed.drops(space, key, value))
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
}

impl Reaper {
    pub(crate) fn new(delay: Duration) -> Self {
        Self {
            delay,
            floored: Arc::default(),
            passes: AtomicU64::new(0),
            reaped_documents: AtomicU64::new(0),
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
