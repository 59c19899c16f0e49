//! Opens the store. A generation is one opening of its files, with the threads that work on them;
//! the keeper is the thread that opens the next generation when one has failed.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
};

use arc_swap::ArcSwapOption;
use journal::{JournalFolder, OpenJournal};
use parking_lot::Mutex;
use store::{Error, Timepiece};
use tokio::sync::Notify;

use crate::{
    errors::from_io,
    filter::PredicateInForce,
    generation::Generation,
    keeper,
    lasting::AcrossOpenings,
    metrics::{OldViews, StoredBytes, TreeMetrics},
    options::TreeOptions,
    room::Room,
    shared::StoreShared,
    thread::spawn_named,
};

/// The clock of a store that accepts no commits and so stamps nothing.
#[derive(Debug)]
struct NoTime;

impl Timepiece for NoTime {
    fn now_ms(&self) -> i64 {
        0
    }

    fn monotonic_ns(&self) -> u64 {
        0
    }
}

/// The embedded store.
pub struct TreeStore {
    /// State that persists across openings.
    pub(crate) shared: Arc<StoreShared>,
    /// The thread that supervises the store and finally closes it.
    keeper: Mutex<Option<JoinHandle<()>>>,
}

impl std::fmt::Debug for TreeStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TreeStore").finish_non_exhaustive()
    }
}

impl TreeStore {
    /// Opens a store, creating it if missing, with commits stamped by this clock and the journal in
    /// its own directory.
    pub fn open(options: &TreeOptions, time: Arc<dyn Timepiece>) -> Result<Self, Error> {
        Self::open_on(options, Arc::new(options.journal_folder()), time, true)
    }

    /// Opens a store on another journal. The directory contains a copy of the journal's data and
    /// may be empty, in which case everything is replayed. Unless it `leads`, the store accepts no
    /// commits and follows the entries that other owners append; see [`follow`](Self::follow).
    pub fn open_on(
        options: &TreeOptions,
        journal: Arc<dyn OpenJournal>,
        time: Arc<dyn Timepiece>,
        leads: bool,
    ) -> Result<Self, Error> {
        std::fs::create_dir_all(&options.path)
            .map_err(|error| from_io("create the directory", &error))?;
        let lasting = AcrossOpenings {
            options: options.clone(),
            journal,
            leads: Arc::new(AtomicBool::new(leads)),
            time,
            in_flight: Arc::default(),
            published: Arc::default(),
            metrics: Arc::default(),
            predicate: PredicateInForce::default(),
            room: Arc::new(Room::new(options.path.clone())),
        };
        let shared = Arc::new(StoreShared {
            lasting,
            generation: ArcSwapOption::empty(),
            opened: Notify::new(),
            anew: AtomicBool::new(false),
            failure: Mutex::default(),
            closed: AtomicBool::new(false),
        });
        // A failure of the first opening is returned; later ones are retried by the keeper.
        let first = Generation::open(&shared.lasting)?;
        shared.lasting.room.look_at_device(first.inner.budget.in_memory());
        shared.generation.store(Some(Arc::new(first)));
        let kept = Arc::clone(&shared);
        let keeper =
            Mutex::new(Some(spawn_named("keeper", move || keeper::keep_until_closed(&kept))?));
        Ok(Self { shared, keeper })
    }

    /// Opens a store for reading, without commits; entries may be applied to it. With an empty
    /// directory it may follow a journal.
    pub fn open_still(options: &TreeOptions, journal: JournalFolder) -> Result<Self, Error> {
        Self::open_on(options, Arc::new(journal), Arc::new(NoTime), false)
    }

    /// Returns the measurements since the store was opened.
    pub fn metrics(&self) -> Arc<TreeMetrics> {
        Arc::clone(&self.shared.lasting.metrics)
    }

    /// Measures the bytes on disk by category, from the size of every file.
    pub fn stored_bytes(&self) -> StoredBytes {
        let Ok(live) = self.shared.open_generation() else { return StoredBytes::default() };
        live.inner.stored_bytes()
    }

    /// Returns how much disk space open views retain.
    pub fn old_views(&self) -> OldViews {
        let Ok(live) = self.shared.open_generation() else { return OldViews::default() };
        live.inner.old_views()
    }
}

impl Drop for TreeStore {
    fn drop(&mut self) {
        // A fence's data is dropped on a thread of the store and may hold the last reference to it;
        // the keeper joins that thread. Determined before the keeper takes the threads.
        let live = self.shared.generation.load_full();
        let own = live.is_some_and(|live| live.is_on_own_thread());
        self.shared.closed.store(true, Ordering::SeqCst);
        let keeper = self.keeper.get_mut().take();
        let Some(keeper) = keeper else { return };
        keeper.thread().unpark();
        if !own {
            let _ = keeper.join();
        }
    }
}
