//! The reaper's state for each collection, and the drop predicate that compactions use. Reap floors
//! are the bounds up to which expired data may be dropped; `expire::reap` decides which of them
//! take effect.
//!
//! The predicate runs within a compaction for every row and entry, without a view: it compares a
//! header with reap floors only. Its answer "drop" for a row is final, since floors only rise.

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

use crate::{amount::Unreaped, catalog::ReapFloors};

/// The reaping state of one collection since the start of the server.
#[derive(Debug, Default)]
pub(crate) struct CollectionReaping {
    /// Reap floors sampled from views, with the time of each sample, oldest first.
    pub(crate) samples: VecDeque<(Duration, ReapFloors)>,
    /// Floors in effect for compactions; `None` until the first sample is old enough.
    pub(crate) allowed: Option<Arc<ReapFloors>>,
    /// The reap floors of the last compaction.
    pub(crate) reaped_floors: Option<Arc<ReapFloors>>,
    /// The last compaction, if it makes a dropped index removable: the sequence number of the
    /// commit up to which it has filtered, and the floors by which it has dropped data.
    pub(crate) compacted: Option<(u64, Arc<ReapFloors>)>,
    /// Last estimate of the amount that has expired and is still stored.
    pub(crate) backlog: Unreaped,
    /// Time before which a collection without usable counters is not scanned again.
    pub(crate) walk_after: Duration,
}

/// State of the reaper for each collection, by id.
pub(crate) type Collections = BTreeMap<u32, CollectionReaping>;

/// The drop predicate, shared with the store's compaction threads.
#[derive(Debug, Default)]
struct FloorPredicate {
    collections: Mutex<Collections>,
    /// While set, nothing is removed, not even by compactions that are running.
    paused: Arc<AtomicBool>,
}

impl FloorPredicate {
    fn lock(&self) -> MutexGuard<'_, Collections> {
        self.collections.lock()
    }
}

impl DropPredicate for FloorPredicate {
    fn filter_for(&self, space: Space) -> DropFilter {
        // Records of the catalog and counters never expire.
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

#[derive(Debug)]
pub(crate) struct Reaper {
    /// Time for which a document must have expired before its bytes may be removed.
    pub(crate) delay: Duration,
    floored: Arc<FloorPredicate>,
    /// Number of passes of the reaper, for metrics.
    pub(crate) passes: AtomicU64,
    /// Number of documents that compactions have removed, as far as known.
    pub(crate) reaped_documents: AtomicU64,
    /// Number of pauses. A compaction during which this changes has not filtered everything.
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

    /// Returns whether reaping is paused.
    pub(crate) fn is_paused(&self) -> bool {
        self.floored.paused.load(Ordering::SeqCst)
    }

    /// Returns the number of pauses so far, or `None` during one. A compaction that reads the same
    /// number before and after has removed everything that the floors allow.
    pub(crate) fn pauses(&self) -> Option<u64> {
        let pauses = self.pauses.load(Ordering::SeqCst);
        (!self.is_paused()).then_some(pauses)
    }

    /// Pauses the removal of expired data immediately, also in running compactions, or resumes it
    /// with the floors of the next sample.
    pub(crate) fn set_paused(&self, paused: bool) {
        if paused {
            self.floored.paused.store(true, Ordering::SeqCst);
            self.pauses.fetch_add(1, Ordering::SeqCst);
            // After the pause only floors sampled later take effect.
            for of in self.lock().values_mut() {
                of.allowed = None;
            }
        } else {
            self.floored.paused.store(false, Ordering::SeqCst);
        }
    }

    /// Locks the state of all collections.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Collections> {
        self.floored.lock()
    }

    /// Returns the predicate for compactions.
    pub(crate) fn predicate(&self) -> Arc<dyn DropPredicate> {
        Arc::clone(&self.floored) as Arc<dyn DropPredicate>
    }
}
