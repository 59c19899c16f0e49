//! One opening of the tree, with its threads. After a failure of the disk nobody knows what the tree
//! has in memory and on disk: it is closed and opened again, as at a start.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc,
    },
    thread::JoinHandle,
    time::Duration,
};

use arc_swap::ArcSwap;
use fjall::{AbstractTree as _, Database, Keyspace, PersistMode};
use store::{Error, Flight, Kind, Space};

use crate::{
    LsmOptions,
    committer::{Committer, Message},
    compactor::{self, Compactor},
    errors::{from_fjall, from_io},
    filter::{Filters, Predicate},
    journal,
    judged::{Judged, journals},
    manifest,
    mark::Mark,
    measured::Measured,
    memory::{self, Memory},
    meta::{self, Around, Position},
    open::Shared,
    pins::Pins,
    room::Room,
    snapshot::Open,
    spaces::{Slots, Spaces, keyspace},
    syncer::{self, Journal},
    writeback::{self, Writeback},
};

const META: &str = "meta";
/// Folder of the tree.
pub(crate) const TREE: &str = "tree";
/// How often somebody who waits for the tree looks again.
const LOOK_EVERY: Duration = Duration::from_millis(5);

pub(crate) struct Inner {
    pub(crate) database: Database,
    pub(crate) meta: Keyspace,
    pub(crate) spaces: Spaces,
    pub(crate) flight: Arc<Flight>,
    pub(crate) published: Arc<AtomicU64>,
    /// Number of the last batch that is durable.
    pub(crate) batch: AtomicU64,
    /// Number of the last batch that the tree has.
    pub(crate) written: AtomicU64,
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
    pub(crate) measured: Arc<Measured>,
    pub(crate) room: Arc<Room>,
    /// It is about to be closed: reads end.
    pub(crate) closing: AtomicBool,
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

    /// Finds out whether the tree has given up, which its workers do without a word: then it
    /// answers the reason from now on.
    pub(crate) fn check_tree(&self) -> Result<(), Error> {
        if let Some(why) = self.stopped() {
            return Err(why);
        }
        let asked = self.database.persist(PersistMode::Buffer);
        asked.map_err(|error| {
            let error = from_fjall("write tables", &error);
            self.stop(&error);
            error
        })
    }

    /// Bytes that are in memory and not yet in tables.
    pub(crate) fn in_memory(&self) -> u64 {
        self.database.write_buffer_size()
    }

    /// Writes the memory of a keyspace to tables and waits for it, unless the tree gives up.
    pub(crate) fn flush(&self, keyspace: &Keyspace) -> Result<(), Error> {
        let rotated = keyspace.rotate_memtable();
        rotated.map_err(|error| from_fjall("write tables", &error))?;
        while 0 < keyspace.tree.sealed_memtable_count() {
            self.check_tree()?;
            std::thread::park_timeout(LOOK_EVERY);
        }
        Ok(())
    }

    /// Writes all that is only in memory into tables.
    pub(crate) fn flush_all(&self) -> Result<(), Error> {
        self.check_tree()?;
        for (_, keyspace) in self.spaces.all() {
            self.flush(&keyspace)?;
        }
        self.flush(&self.meta)
    }

    /// Moves the mark to what is durable now.
    pub(crate) fn move_mark(&self) -> Result<(), Error> {
        let batch = self.batch.load(std::sync::atomic::Ordering::SeqCst);
        let mut mark = self.mark.lock().unwrap_or_else(PoisonError::into_inner);
        mark.set(batch).map_err(|error| from_io("write the mark", &error))
    }
}

/// An open tree and its threads.
pub(crate) struct Generation {
    pub(crate) inner: Arc<Inner>,
    pub(crate) sender: mpsc::Sender<Message>,
    /// In the order in which they end.
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Generation {
    /// Opens or makes the tree.
    pub(crate) fn open(shared: &Shared) -> Result<Self, Error> {
        let options = &shared.options;
        let path = &options.path;
        // Before the tree is opened: it would make a new one over what is left of the old.
        let mut mark =
            Mark::open(&path.join("mark")).map_err(|error| from_io("open the mark", &error))?;
        check_tree(&path.join(TREE), &mark)?;
        if path.join(TREE).exists() {
            journal::check(&path.join(TREE), options.accept_loss)?;
            manifest::check(&path.join(TREE))?;
        }
        let slots = Slots::default();
        let database = open_tree(options, &slots, &shared.predicate)?;
        let meta = keyspace(&database, META)?;
        let spaces = Spaces::open(&database, &meta, &slots, options.accept_loss)?;
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
        // Nobody has been told of anything later, whatever the tree still knows of it.
        shared.published.fetch_max(position.stamp.seq, Ordering::SeqCst);
        let pins = Arc::default();
        let inner = Arc::new(Inner {
            meta,
            spaces,
            flight: Arc::clone(&shared.flight),
            published: Arc::clone(&shared.published),
            batch: AtomicU64::new(position.batch),
            written: AtomicU64::new(position.batch),
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
            measured: Arc::clone(&shared.measured),
            room: Arc::clone(&shared.room),
            closing: AtomicBool::new(false),
        });
        Self::start(inner, position, shared)
    }

    /// Starts the threads.
    fn start(inner: Arc<Inner>, position: Position, shared: &Shared) -> Result<Self, Error> {
        let (sender, messages) = mpsc::channel();
        let (written, batches) = mpsc::channel();
        let journal = Journal::new(inner.tree.clone(), Arc::clone(&shared.time));
        let committer =
            Committer::new(Arc::clone(&inner), Arc::clone(&shared.time), position, written);
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

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<JoinHandle<()>>> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether this is one of its own threads, which cannot wait for itself.
    pub(crate) fn is_on_own_thread(&self) -> bool {
        let this = std::thread::current().id();
        self.lock().iter().any(|thread| thread.thread().id() == this)
    }

    /// Ends the threads, which hold the tree's lock until then.
    pub(crate) fn close(&self) {
        self.inner.compactor.close();
        self.inner.writeback.close();
        self.inner.memory.close();
        let _ = self.sender.send(Message::Close);
        if self.is_on_own_thread() {
            return;
        }
        let threads = std::mem::take(&mut *self.lock());
        for thread in threads {
            let _ = thread.join();
        }
    }
}

/// Starts a thread.
pub(crate) fn thread(
    name: &str,
    run: impl FnOnce() + Send + 'static,
) -> Result<JoinHandle<()>, Error> {
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
    meta::note(&mut batch, meta, position, Around::default());
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
