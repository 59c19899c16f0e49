//! Opens the store: the tree, the position of commits, the mark, the committer.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, OnceLock, PoisonError, atomic::AtomicU64, mpsc},
    thread::JoinHandle,
};

use arc_swap::ArcSwap;
use fjall::{Database, Keyspace, PersistMode};
use store::{Error, Flight, Kind, Space, Timepiece};

use crate::{
    committer::{Committer, Message},
    compactor::{self, Compactor},
    errors::{from_fjall, from_io},
    filter::{Filters, Predicate},
    judged::{Judged, journals},
    mark::Mark,
    measured::Measured,
    memory::{self, Memory},
    meta::{self, Position},
    pins::Pins,
    snapshot::Open,
    spaces::{Slots, Spaces, keyspace},
    syncer::{self, Journal},
    writeback::{self, Writeback},
};

const META: &str = "meta";
const TREE: &str = "tree";

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

pub(crate) struct Inner {
    pub(crate) database: Database,
    pub(crate) meta: Keyspace,
    pub(crate) spaces: Spaces,
    pub(crate) flight: Flight,
    pub(crate) published: AtomicU64,
    /// Number of the last batch that is durable.
    pub(crate) batch: AtomicU64,
    pub(crate) predicate: Predicate,
    pub(crate) mark: Mutex<Mark>,
    pub(crate) pins: Arc<Pins>,
    pub(crate) compactor: Compactor,
    pub(crate) writeback: Writeback,
    pub(crate) memory: Memory,
    /// What readers see: all that is durable.
    pub(crate) current: ArcSwap<Open>,
    /// Why no commit is accepted any more.
    stopped: OnceLock<Error>,
    /// Where the tree is.
    pub(crate) tree: PathBuf,
    pub(crate) judged: Judged,
    pub(crate) measured: Measured,
}

impl Inner {
    /// A snapshot of all that the tree has.
    pub(crate) fn open(&self) -> Arc<Open> {
        Open::new(&self.database, &self.pins)
    }

    /// Accepts no commit any more: what is on disk is not known.
    pub(crate) fn stop(&self, error: &Error) {
        let _ = self.stopped.set(error.clone());
    }

    /// Why no commit is accepted any more.
    pub(crate) fn stopped(&self) -> Option<Error> {
        self.stopped.get().cloned()
    }

    /// Moves the mark to what is durable now.
    pub(crate) fn move_mark(&self) -> Result<(), Error> {
        let batch = self.batch.load(std::sync::atomic::Ordering::SeqCst);
        let mut mark = self.mark.lock().unwrap_or_else(PoisonError::into_inner);
        mark.set(batch).map_err(|error| from_io("write the mark", &error))
    }
}

/// The embedded store.
pub struct LsmStore {
    pub(crate) inner: Arc<Inner>,
    pub(crate) sender: mpsc::Sender<Message>,
    /// In the order in which they end.
    pub(crate) threads: Mutex<Vec<JoinHandle<()>>>,
}

impl std::fmt::Debug for LsmStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LsmStore").finish_non_exhaustive()
    }
}

impl LsmStore {
    /// Opens or makes a store whose commits are stamped by this clock.
    pub fn open(options: &LsmOptions, time: Arc<dyn Timepiece>) -> Result<Self, Error> {
        let path = &options.path;
        std::fs::create_dir_all(path).map_err(|error| from_io("make the directory", &error))?;
        // Before the tree is opened: it would make a new one over what is left of the old.
        let mut mark =
            Mark::open(&path.join("mark")).map_err(|error| from_io("open the mark", &error))?;
        check_tree(&path.join(TREE), &mark)?;
        let predicate = Predicate::default();
        let slots = Slots::default();
        let database = open_tree(options, &slots, &predicate)?;
        let meta = keyspace(&database, META)?;
        let spaces = Spaces::open(&database, &meta, &slots)?;
        spaces.create(Space::Catalog)?;
        spaces.create(Space::Counts)?;
        let position = meta::read(&meta, options.accept_loss)?;
        if position.batch < mark.batch && !options.accept_loss {
            return Err(Error::new(
                Kind::Refused,
                format!(
                    "commits are missing: the journal ends at batch {}, but batch {} was durable",
                    position.batch, mark.batch
                ),
            ));
        }
        let position = if position.batch == 0 { begin(&database, &meta)? } else { position };
        if mark.batch == 0 {
            mark.set(position.batch).map_err(|error| from_io("write the mark", &error))?;
        }
        let pins = Arc::default();
        let inner = Arc::new(Inner {
            meta,
            spaces,
            flight: Flight::default(),
            published: AtomicU64::new(position.stamp.seq),
            batch: AtomicU64::new(position.batch),
            predicate,
            mark: Mutex::new(mark),
            current: ArcSwap::new(Open::new(&database, &pins)),
            database,
            pins,
            compactor: Compactor::default(),
            writeback: Writeback::default(),
            memory: Memory::default(),
            stopped: OnceLock::new(),
            tree: path.join(TREE),
            judged: Judged::default(),
            measured: Measured::default(),
        });
        let (sender, messages) = mpsc::channel();
        let (written, batches) = mpsc::channel();
        let journal = Journal::new(path.join(TREE), Arc::clone(&time));
        let committer = Committer::new(Arc::clone(&inner), time, position, written);
        let (compacted, synced) = (Arc::clone(&inner), Arc::clone(&inner));
        let (started, freed) = (Arc::clone(&inner), Arc::clone(&inner));
        let (asks, tells) = (sender.clone(), sender.clone());
        let threads = Mutex::new(vec![
            thread("compactor", move || compactor::run(&compacted, &asks))?,
            thread("committer", move || committer.run(&messages))?,
            thread("syncer", move || syncer::run(&synced, journal, &batches, &tells))?,
            thread("writeback", move || writeback::run(&started.writeback))?,
            thread("memory", move || memory::run(&freed.memory))?,
        ]);
        Ok(Self { inner, sender, threads })
    }

    /// What was measured since it was opened.
    pub fn measured(&self) -> &Measured {
        &self.inner.measured
    }
}

fn thread(name: &str, run: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, Error> {
    std::thread::Builder::new()
        .name(name.to_owned())
        .spawn(run)
        .map_err(|error| from_io("start a thread", &error))
}

/// Writes the first batch, with nothing in it: a store that has lost everything differs from one
/// that never had anything.
fn begin(database: &Database, meta: &Keyspace) -> Result<Position, Error> {
    let position = Position { batch: 1, ..Position::START };
    let mut batch = database.batch().durability(Some(PersistMode::SyncAll));
    meta::note(&mut batch, meta, position);
    batch.commit().map_err(|error| from_fjall("write a commit", &error))?;
    Ok(position)
}

/// Refuses what is left of a tree without its journal. The mark stands at a batch as soon as a
/// first start has ended.
fn check_tree(tree: &Path, mark: &Mark) -> Result<(), Error> {
    if journals(tree).is_some() || mark.batch == 0 {
        return Ok(());
    }
    Err(Error::new(Kind::Corrupt, "the journal of the tree is missing"))
}

fn open_tree(
    options: &LsmOptions,
    slots: &Slots,
    predicate: &Predicate,
) -> Result<Database, Error> {
    let (slots, predicate) = (slots.clone(), predicate.clone());
    Database::builder(options.path.join(TREE))
        .cache_size(options.cache_bytes)
        .max_journaling_size(options.journal_bytes)
        .manual_journal_persist(true)
        .worker_threads(3)
        .with_compaction_filter_factories(Arc::new(move |name| {
            Filters::of(name, &slots, &predicate)
        }))
        .open()
        .map_err(|error| match &error {
            fjall::Error::Locked => Error::new(
                Kind::Refused,
                format!("{} is in use by another process", options.path.display()),
            ),
            _ => from_fjall("open the tree", &error),
        })
}
