//! Opens the store: one generation after the other, and the keeper that looks after
//! them.

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

/// The clock of a store that takes no commits: nothing is stamped.
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
    /// What outlives each opening.
    pub(crate) shared: Arc<StoreShared>,
    /// The thread that closes it in the end.
    keeper: Mutex<Option<JoinHandle<()>>>,
}

impl std::fmt::Debug for TreeStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TreeStore").finish_non_exhaustive()
    }
}

impl TreeStore {
    /// Opens or makes a store whose commits are stamped by this clock, and whose journal lies in its
    /// directory.
    pub fn open(options: &TreeOptions, time: Arc<dyn Timepiece>) -> Result<Self, Error> {
        Self::open_on(options, Arc::new(options.journal_folder()), time, true)
    }

    /// The same on another journal. The directory has a copy of what the journal says, and may be
    /// empty: then all is applied again. Unless it `leads`, it takes no commits and follows what others
    /// append; see [`follow`](Self::follow).
    pub fn open_on(
        options: &TreeOptions,
        journal: Arc<dyn OpenJournal>,
        time: Arc<dyn Timepiece>,
        leads: bool,
    ) -> Result<Self, Error> {
        std::fs::create_dir_all(&options.path)
            .map_err(|error| from_io("make the directory", &error))?;
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
        // A first opening that fails is the caller's error; later ones are tried again by the
        // keeper.
        let first = Generation::open(&shared.lasting)?;
        shared.lasting.room.look_at_device(first.inner.budget.in_memory());
        shared.generation.store(Some(Arc::new(first)));
        let kept = Arc::clone(&shared);
        let keeper =
            Mutex::new(Some(spawn_named("keeper", move || keeper::keep_until_closed(&kept))?));
        Ok(Self { shared, keeper })
    }

    /// Opens a store that takes no commits, to be read; entries may be applied to it. On an empty directory it
    /// may follow a journal.
    pub fn open_still(options: &TreeOptions, journal: JournalFolder) -> Result<Self, Error> {
        Self::open_on(options, Arc::new(journal), Arc::new(NoTime), false)
    }

    /// What was measured since it was opened.
    pub fn metrics(&self) -> Arc<TreeMetrics> {
        Arc::clone(&self.shared.lasting.metrics)
    }

    /// Bytes on the disk by what they are. It looks at every file.
    pub fn stored_bytes(&self) -> StoredBytes {
        let Ok(live) = self.shared.open_generation() else { return StoredBytes::default() };
        live.inner.stored_bytes()
    }

    /// What open views hold back.
    pub fn old_views(&self) -> OldViews {
        let Ok(live) = self.shared.open_generation() else { return OldViews::default() };
        live.inner.old_views()
    }
}

impl Drop for TreeStore {
    fn drop(&mut self) {
        // What a fence owns is let go on a thread of the store, and may be the last to hold the
        // store; the keeper waits for that very thread. Asked before the keeper takes the threads.
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
