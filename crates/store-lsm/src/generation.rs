//! One opening of the tree, with its threads. After a failure of the disk nobody knows what the tree
//! has in memory and on disk: it is closed and opened again, as at a start.

use std::{
    path::Path,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc,
    },
    thread::JoinHandle,
};

use arc_swap::ArcSwap;
use fjall::{Database, Keyspace, PersistMode};
use store::{Error, Kind, Space};

use crate::{
    committer::Committer,
    compactor,
    compactor_mailbox::CompactorMailbox,
    errors::{from_fjall, from_io},
    filter::{Filters, Predicate},
    inner::Inner,
    journal,
    judged::{Judged, journals},
    lasting::Lasting,
    manifest,
    mark::Mark,
    memory::{self, Memory},
    messages::Message,
    meta::{self, Around, Position},
    open_view::OpenView,
    options::{LsmOptions, TREE},
    spaces::{Slots, Spaces, keyspace},
    syncer::{self, Journal},
    thread::thread,
    writeback::{self, Writeback},
};

const META: &str = "meta";
/// An open tree and its threads.
pub(crate) struct Generation {
    pub(crate) inner: Arc<Inner>,
    pub(crate) sender: mpsc::Sender<Message>,
    /// In the order in which they end.
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Generation {
    /// Opens or makes the tree.
    pub(crate) fn open(lasting: &Lasting) -> Result<Self, Error> {
        let options = &lasting.options;
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
        let database = open_tree(options, &slots, &lasting.predicate)?;
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
        lasting.published.fetch_max(position.stamp.seq, Ordering::SeqCst);
        let pins = Arc::default();
        let inner = Arc::new(Inner {
            meta,
            spaces,
            flight: Arc::clone(&lasting.flight),
            published: Arc::clone(&lasting.published),
            batch: AtomicU64::new(position.batch),
            written: AtomicU64::new(position.batch),
            mark: Mutex::new(mark),
            current: ArcSwap::new(OpenView::new(&database, &pins)),
            database,
            pins,
            compactor: CompactorMailbox::default(),
            writeback: Writeback::default(),
            memory: Memory::default(),
            stopped: OnceLock::new(),
            tree: path.join(TREE),
            judged: Judged::default(),
            measured: Arc::clone(&lasting.measured),
            room: Arc::clone(&lasting.room),
            closing: AtomicBool::new(false),
        });
        Self::start(inner, position, lasting)
    }

    /// Starts the threads.
    fn start(inner: Arc<Inner>, position: Position, lasting: &Lasting) -> Result<Self, Error> {
        let (sender, messages) = mpsc::channel();
        let (written, batches) = mpsc::channel();
        let journal = Journal::new(inner.tree.clone(), Arc::clone(&lasting.time));
        let committer =
            Committer::new(Arc::clone(&inner), Arc::clone(&lasting.time), position, written);
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
