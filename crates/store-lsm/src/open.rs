//! Opens the store: one generation of the tree after the other, and the keeper that looks after
//! them.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::JoinHandle,
};

use arc_swap::ArcSwapOption;
use store::{Error, Flight, Health, Kind, Timepiece};
use tokio::sync::Notify;

use crate::{
    errors::from_io,
    filter::Predicate,
    generation::{Generation, thread},
    keeper,
    measured::Measured,
    room::Room,
};

/// Where and how a store is opened.
#[derive(Clone, Debug)]
pub struct LsmOptions {
    /// Its directory.
    pub path: PathBuf,
    /// Memory for blocks of the tree, bytes.
    pub cache_bytes: u64,
    /// Largest journal before old memory is flushed, bytes: what is only in memory is in it, and a
    /// start reads it.
    pub journal_bytes: u64,
    /// Open although commits are missing: an operator has looked at it.
    pub accept_loss: bool,
}

impl LsmOptions {
    /// A store in this directory.
    pub fn new(path: impl AsRef<Path>) -> Self {
        Self {
            path: path.as_ref().to_owned(),
            cache_bytes: 256 * 1024 * 1024,
            journal_bytes: 128 * 1024 * 1024,
            accept_loss: false,
        }
    }
}

/// What lasts when the tree is opened again.
pub(crate) struct Shared {
    pub(crate) options: LsmOptions,
    pub(crate) time: Arc<dyn Timepiece>,
    pub(crate) flight: Arc<Flight>,
    pub(crate) published: Arc<AtomicU64>,
    pub(crate) measured: Arc<Measured>,
    pub(crate) predicate: Predicate,
    pub(crate) room: Arc<Room>,
    /// The open tree; none for the moment in which it is opened again.
    pub(crate) generation: ArcSwapOption<Generation>,
    /// Told when there is one, and when there could not be.
    pub(crate) opened: Notify,
    /// Its user has not yet read again what it keeps in memory.
    pub(crate) anew: AtomicBool,
    /// Why it could not be opened again.
    failure: Mutex<Option<Error>>,
    pub(crate) closed: AtomicBool,
}

impl Shared {
    /// The open tree.
    pub(crate) fn live(&self) -> Result<Arc<Generation>, Error> {
        self.generation.load_full().ok_or_else(|| self.why())
    }

    /// Why there is no open tree.
    fn why(&self) -> Error {
        self.failure().unwrap_or_else(opening)
    }

    /// Why the last attempt to open the tree again failed.
    pub(crate) fn failure(&self) -> Option<Error> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Tells who waits for the tree that it is open, or why it could not be opened.
    pub(crate) fn tell(&self, failure: Option<Error>) {
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = failure;
        self.opened.notify_waiters();
    }

    pub(crate) fn health(&self) -> Health {
        let Ok(live) = self.live() else { return Health::Refusing(self.why()) };
        if let Some(error) = live.inner.stopped() {
            return Health::Refusing(error);
        }
        if self.anew.load(Ordering::SeqCst) {
            return Health::Anew;
        }
        self.room.check(false).map_or_else(Health::Refusing, |()| Health::Good)
    }

    /// The open tree, if it takes a commit now.
    pub(crate) fn taking(&self, frees: bool) -> Result<Arc<Generation>, Error> {
        let live = self.live()?;
        if let Some(why) = live.inner.stopped() {
            let text = format!("no writes are taken until the store was opened again: {why}");
            return Err(Error::new(why.kind, text));
        }
        if self.anew.load(Ordering::SeqCst) {
            return Err(opening());
        }
        self.room.check(frees)?;
        Ok(live)
    }
}

fn opening() -> Error {
    Error::new(Kind::Unavailable, "the store is being opened again")
}

/// The embedded store.
pub struct LsmStore {
    pub(crate) shared: Arc<Shared>,
    keeper: Mutex<Option<JoinHandle<()>>>,
}

impl std::fmt::Debug for LsmStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LsmStore").finish_non_exhaustive()
    }
}

impl LsmStore {
    /// Opens or makes a store whose commits are stamped by this clock.
    pub fn open(options: &LsmOptions, time: Arc<dyn Timepiece>) -> Result<Self, Error> {
        std::fs::create_dir_all(&options.path)
            .map_err(|error| from_io("make the directory", &error))?;
        let shared = Arc::new(Shared {
            options: options.clone(),
            time,
            flight: Arc::default(),
            published: Arc::default(),
            measured: Arc::default(),
            predicate: Predicate::default(),
            room: Arc::new(Room::new(options.path.clone())),
            generation: ArcSwapOption::empty(),
            opened: Notify::new(),
            anew: AtomicBool::new(false),
            failure: Mutex::default(),
            closed: AtomicBool::new(false),
        });
        let first = Generation::open(&shared)?;
        shared.room.look(first.inner.in_memory());
        shared.generation.store(Some(Arc::new(first)));
        let kept = Arc::clone(&shared);
        let keeper = Mutex::new(Some(thread("keeper", move || keeper::run(&kept))?));
        Ok(Self { shared, keeper })
    }

    /// What was measured since it was opened.
    pub fn measured(&self) -> Arc<Measured> {
        Arc::clone(&self.shared.measured)
    }
}

impl Drop for LsmStore {
    fn drop(&mut self) {
        // What a fence owns is let go on a thread of the tree, and may be the last to hold the
        // store; the keeper waits for that very thread. Asked before the keeper takes the threads.
        let live = self.shared.generation.load_full();
        let own = live.is_some_and(|live| live.is_on_own_thread());
        self.shared.closed.store(true, Ordering::SeqCst);
        let keeper = self.keeper.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        let Some(keeper) = keeper else { return };
        keeper.thread().unpark();
        if !own {
            let _ = keeper.join();
        }
    }
}
