//! Opens the store. A generation is one opening of its files, with the threads that work on them;
//! the supervisor is the thread that opens the next generation when one has failed.

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
use store::{CommitClock, Error};
use tokio::sync::Notify;

use crate::{
    disk_space::DiskSpace,
    errors::from_io,
    generation::{Generation, RetainedState, spawn_named},
    hooks::PredicateInForce,
    metrics::{OldViews, StoredBytes, TreeMetrics},
    options::TreeOptions,
    shared::StoreShared,
    supervisor,
};

/// The clock of a store that accepts no commits and so stamps nothing.
#[derive(Debug)]
struct UnusedClock;

impl CommitClock for UnusedClock {
    fn now_ms(&self) -> i64 {
        0
    }

    fn monotonic_ns(&self) -> u64 {
        0
    }
}

/// The embedded storage engine, an LSM tree with a journal.
pub struct TreeStore {
    /// State that persists across openings.
    pub(crate) shared: Arc<StoreShared>,
    /// The thread that supervises the store and finally closes it.
    supervisor: Mutex<Option<JoinHandle<()>>>,
}

impl std::fmt::Debug for TreeStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TreeStore").finish_non_exhaustive()
    }
}

impl TreeStore {
    /// Opens a store, creating it if missing, with commits stamped by this clock and the journal in
    /// its own directory.
    pub fn open(options: &TreeOptions, time: Arc<dyn CommitClock>) -> Result<Self, Error> {
        Self::open_on(options, Arc::new(options.journal_folder()), time, true)
    }

    /// Opens a store on another journal. The directory contains a copy of the journal's data and
    /// may be empty, in which case everything is replayed. Unless it `leads`, the store accepts no
    /// commits and follows the entries that other owners append; see [`follow`](Self::follow).
    pub fn open_on(
        options: &TreeOptions,
        journal: Arc<dyn OpenJournal>,
        time: Arc<dyn CommitClock>,
        leads: bool,
    ) -> Result<Self, Error> {
        std::fs::create_dir_all(&options.path)
            .map_err(|error| from_io("create the directory", &error))?;
        let retained = RetainedState {
            options: options.clone(),
            journal,
            leads: Arc::new(AtomicBool::new(leads)),
            time,
            in_flight: Arc::default(),
            published: Arc::default(),
            metrics: Arc::default(),
            predicate: PredicateInForce::default(),
            disk_space: Arc::new(DiskSpace::new(options.path.clone())),
        };
        let shared = Arc::new(StoreShared {
            retained,
            generation: ArcSwapOption::empty(),
            opened: Notify::new(),
            anew: AtomicBool::new(false),
            failure: Mutex::default(),
            closed: AtomicBool::new(false),
        });
        // A failure of the first opening is returned; later openings are retried by the supervisor.
        let first = Generation::open(&shared.retained)?;
        shared.retained.disk_space.check_device(first.inner.budget.in_memory());
        shared.generation.store(Some(Arc::new(first)));
        let kept = Arc::clone(&shared);
        let supervisor = Mutex::new(Some(spawn_named("supervisor", move || {
            supervisor::supervise_until_closed(&kept)
        })?));
        Ok(Self { shared, supervisor })
    }

    /// Opens a store for reading, without commits; entries may be applied to it. With an empty
    /// directory it may follow a journal.
    pub fn open_without_commits(
        options: &TreeOptions,
        journal: JournalFolder,
    ) -> Result<Self, Error> {
        Self::open_on(options, Arc::new(journal), Arc::new(UnusedClock), false)
    }

    /// Returns the measurements since the store was opened.
    pub fn metrics(&self) -> Arc<TreeMetrics> {
        Arc::clone(&self.shared.retained.metrics)
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
        // The last reference to the store may be in a fence, which a thread of the store drops.
        // Waiting for the supervisor would then never end, as it waits for that thread. This is
        // checked before the supervisor takes the threads.
        let live = self.shared.generation.load_full();
        let own = live.is_some_and(|live| live.is_on_own_thread());
        self.shared.closed.store(true, Ordering::SeqCst);
        let supervisor = self.supervisor.get_mut().take();
        let Some(supervisor) = supervisor else { return };
        supervisor.thread().unpark();
        if !own {
            let _ = supervisor.join();
        }
    }
}
