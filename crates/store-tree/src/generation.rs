//! One opening of the store with its threads, and the state that persists across openings. After a
//! disk failure the state of memory and disk is unknown, so the store is closed and reopened like
//! at startup.
//!
//! A start proceeds in this order:
//!
//! 1. The durable watermark: the number of a certainly durable entry, and the number of the first
//!    entry to replay (the *tail* of the journal).
//! 2. The journal, which verifies its contents and must not end before the watermark.
//! 3. The tree, which verifies its list of files, and the directory of spaces in it.
//! 4. Entries are replayed from the tail on; then spaces that do not exist any more are dropped.

use std::{
    path::Path,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
        mpsc,
    },
    thread::JoinHandle,
};

use journal::{Entry, Journal, OpenJournal};
use parking_lot::{Mutex, RwLock};
use store::{CommitClock, Error, InFlight, Kind, Space};
use tree::Tree;

use crate::{
    appender::Appender,
    applier,
    archive::{self, Archive},
    archiver, base,
    budget::Budget,
    committer::Committer,
    compactor,
    compactor_mailbox::CompactorMailbox,
    directory::{self, DirectoryContents},
    disk_space::DiskSpace,
    durable_watermark::{DurableWatermark, Watermark},
    errors::{from_io, from_tree},
    filter_progress::FilterProgress,
    flusher,
    hooks::{PredicateInForce, StoreHooks},
    inner::{Applied, OpenStore},
    messages::CommitterMessage,
    metrics::TreeMetrics,
    old_views::OldViewTracker,
    options::{Archiving, TREES, TreeOptions},
    published::Published,
    replay::Replayed,
    reserved::Reserved,
    rest::Rest,
    tree_folder, wipe,
};

/// The state of a store that persists when it is reopened.
pub(crate) struct RetainedState {
    pub(crate) options: TreeOptions,
    /// The journal that the tree follows.
    pub(crate) journal: Arc<dyn OpenJournal>,
    /// Whether commits are accepted; otherwise the store follows the journal.
    pub(crate) leads: Arc<AtomicBool>,
    pub(crate) time: Arc<dyn CommitClock>,
    /// Shared by all openings, because a view may wait for batches of an opening that has stopped.
    pub(crate) in_flight: Arc<InFlight>,
    /// The newest `seq` that a reader has seen, over all openings.
    pub(crate) published: Arc<AtomicU64>,
    /// Metrics, counted since the start of the process.
    pub(crate) metrics: Arc<TreeMetrics>,
    /// The predicate for compactions, which the engine sets once.
    pub(crate) predicate: PredicateInForce,
    /// Free space of the device.
    pub(crate) disk_space: Arc<DiskSpace>,
}

/// Spaces that every store has, with their numbers.
const FIRST_SPACES: [(u64, Space); 2] = [(1, Space::Catalog), (2, Space::Counts)];

/// An open store and its threads.
pub(crate) struct Generation {
    /// State shared by the threads.
    pub(crate) inner: Arc<OpenStore>,
    pub(crate) sender: mpsc::Sender<CommitterMessage>,
    /// The threads, in the order in which they stop.
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Generation {
    /// Opens the store, creating it if missing.
    pub(crate) fn open(retained: &RetainedState) -> Result<Self, Error> {
        let options = &retained.options;
        wipe::execute(&options.path, &*retained.journal)?;
        base::load(options, &*retained.journal, &retained.predicate)?;
        let watermark = DurableWatermark::open(&options.path.join(wipe::MARK))
            .map_err(|error| from_io("open the mark", &error))?;
        let mark = watermark.written;
        let journal = open_journal(retained, mark)?;
        let hooks = Arc::new(StoreHooks::new(&retained.predicate, Some(Arc::clone(&journal))));
        let folder = options.path.join(TREES);
        let tree = open_tree(retained, &folder, mark.last_edit, &hooks)?;
        if journal.end() == 0 {
            begin(&*journal, &tree, options.accept_loss)?;
        }
        let budget = Budget::new(options.journal_bytes, options.buffer_bytes);
        // After an accepted loss the journal may end before the tail; then no entry is replayed.
        let first = mark.tail.min(journal.end() + 1).max(journal.extent().first);
        let offset = (tree.greatest_number() + 1).saturating_sub(first);
        let mut replayed = Replayed::new(&tree, &hooks, offset, &listed_spaces(&tree, first)?)?;
        let applied = replayed.apply_journal(&*journal, first - 1, &budget)?;
        let applied = applied.map_or_else(|| last_applied(&*journal), Ok)?;
        let applied = Applied { stamp: applied.stamp.max(mark.stamp), ..applied };
        let numbers = replayed.spaces.iter().map(|(number, space)| (*space, *number)).collect();
        let next_space_number = AtomicU64::new(replayed.next);
        tree.publish(applied.n + offset)
            .map_err(|error| from_tree("publish the journal", &error))?;
        // Everything found at startup is durable, so readers may see all of it.
        retained.published.fetch_max(applied.stamp.seq, Ordering::SeqCst);
        retained.in_flight.record_published(applied.stamp);
        let archive = open_archive(retained, &*journal, applied)?;
        let inner = Arc::new(OpenStore {
            archive,
            published: Published::new(&tree, numbers),
            journal: Mutex::new(Some(journal)),
            working: RwLock::new(()),
            tree,
            hooks,
            folder,
            offset,
            next_space_number,
            in_flight: Arc::clone(&retained.in_flight),
            published_seq: Arc::clone(&retained.published),
            applied: Mutex::new(applied),
            leads: Arc::clone(&retained.leads),
            refused_epoch: AtomicU64::new(0),
            budget,
            watermark: Mutex::new(watermark),
            tick: AtomicU64::new(0),
            compactor: CompactorMailbox::default(),
            dropped: Mutex::default(),
            reserved: Reserved::default(),
            rest: Rest::default(),
            view_tracker: OldViewTracker::default(),
            time: Arc::clone(&retained.time),
            stopped: OnceLock::new(),
            filtered: FilterProgress::default(),
            metrics: Arc::clone(&retained.metrics),
            disk_space: Arc::clone(&retained.disk_space),
            old_views_bound: retained.options.old_views,
            retired: AtomicBool::new(false),
            closing: AtomicBool::new(false),
            ending: AtomicBool::new(false),
            flusher: OnceLock::new(),
        });
        let tail = inner.tail().min(first);
        inner
            .watermark
            .lock()
            .move_to(Watermark {
                durable: applied.n,
                tail,
                stamp: applied.stamp,
                last_edit: inner.tree.last_edit(),
            })
            .map_err(|error| from_io("write the mark", &error))?;
        Self::start_threads(inner, retained)
    }

    fn start_threads(inner: Arc<OpenStore>, retained: &RetainedState) -> Result<Self, Error> {
        let (sender, messages) = mpsc::channel();
        let (ordered, batches) = mpsc::channel();
        let (durable, groups) = mpsc::channel();
        let applying = Arc::new(AtomicUsize::new(0));
        let time = || Arc::clone(&retained.time);
        let committer = Committer::new(Arc::clone(&inner), time(), ordered);
        let appender = Appender::new(
            Arc::clone(&inner),
            time(),
            durable,
            Arc::clone(&applying),
            sender.clone(),
        );
        let [flushed, compacted, applied] = [(); 3].map(|()| Arc::clone(&inner));
        let threads = Mutex::new(vec![
            spawn_named("compactor", move || compactor::compact_until_closed(&compacted))?,
            spawn_named("flusher", move || flusher::flush_until_closed(&flushed))?,
            spawn_named("committer", move || committer.run(&messages))?,
            spawn_named("appender", move || appender.run(&batches))?,
            spawn_named("applier", move || {
                applier::apply_until_closed(&applied, &groups, &applying);
            })?,
        ]);
        if inner.archive.is_some() {
            let archived = Arc::clone(&inner);
            let archiver =
                spawn_named("archiver", move || archiver::archive_until_closed(&archived))?;
            threads.lock().push(archiver);
        }
        Ok(Self { inner, sender, threads })
    }

    /// Returns whether the current thread is one of the store's own; such a thread must not wait
    /// for the threads to end.
    pub(crate) fn is_on_own_thread(&self) -> bool {
        let this = std::thread::current().id();
        self.threads.lock().iter().any(|thread| thread.thread().id() == this)
    }

    /// Stops the threads. They hold references to the journal and so its lock.
    pub(crate) fn end_threads(&self) {
        self.inner.ending.store(true, Ordering::SeqCst);
        self.inner.compactor.close();
        self.inner.tree.stop_jobs();
        // The appender and the applier stop when the preceding thread drops its channel.
        let _ = self.sender.send(CommitterMessage::Close);
        if self.is_on_own_thread() {
            return;
        }
        let threads = std::mem::take(&mut *self.threads.lock());
        for thread in threads {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

/// Opens the journal; an error that refuses it names the store's path.
fn open_journal(retained: &RetainedState, mark: Watermark) -> Result<Arc<dyn Journal>, Error> {
    let options = &retained.options;
    let opened = retained.journal.open(mark.durable, options.accept_loss);
    opened.map_err(|error| match error.kind {
        Kind::Refused => Error::new(Kind::Refused, format!("{}: {error}", options.path.display())),
        _ => error,
    })
}

/// Opens the tree. An opening writes a list of files, also on a full disk, where deletes must work:
/// they then take the reserve.
fn open_tree(
    retained: &RetainedState,
    folder: &Path,
    last_edit: u64,
    hooks: &Arc<StoreHooks>,
) -> Result<Tree, Error> {
    let cache_bytes = retained.options.cache_bytes;
    let open = || tree_folder::open(folder, cache_bytes, last_edit, Arc::clone(hooks) as _);
    match open() {
        Err(error) if error.kind == Kind::Full && retained.disk_space.release_reserve() => open(),
        opened => opened,
    }
}

/// Opens the archive of the journal as the options require.
fn open_archive(
    retained: &RetainedState,
    journal: &dyn Journal,
    applied: Applied,
) -> Result<Option<Archive>, Error> {
    let path = &retained.options.path;
    match retained.options.archive {
        Archiving::Untouched => Ok(None),
        Archiving::Off => archive::remove(path).map(|()| None),
        Archiving::Within(bytes) => {
            Archive::open(path, bytes, journal, (applied.n, applied.stamp)).map(Some)
        }
    }
}

/// Appends the first entry, which creates the initial spaces. Its existence distinguishes a new
/// store from one that has lost everything.
fn begin(journal: &dyn Journal, tree: &Tree, accept_loss: bool) -> Result<(), Error> {
    if !tree.spaces().is_empty() && !accept_loss {
        return Err(Error::new(Kind::Corrupt, "the journal is missing"));
    }
    let records = |(number, space)| directory::record_made(number, space);
    let entry = Entry {
        n: 1,
        last: Watermark::START.stamp,
        under: 1,
        dropped: Vec::new(),
        mutations: FIRST_SPACES.into_iter().flat_map(records).collect(),
    };
    let appended = journal.append(&[entry.encode()?]);
    appended.map(|_| ()).map_err(|failure| failure.error().clone())
}

/// Reads the directory of spaces in a tree that was just opened. The journal will be replayed from
/// the entry `first` on.
fn listed_spaces(tree: &Tree, first: u64) -> Result<DirectoryContents, Error> {
    // Publishes the tables; nothing else is in the tree.
    tree.publish(tree.greatest_number())
        .map_err(|error| from_tree("read the directory of spaces", &error))?;
    let listed = directory::read_all(&tree.snapshot())?;
    // If the directory is missing, the journal must start with the entry that creates it.
    if 1 < first && listed.spaces.is_empty() {
        return Err(Error::new(Kind::Corrupt, "the tree with the data of the store is missing"));
    }
    Ok(listed)
}

/// Returns the last entry of the journal, which has none only after a complete loss.
fn last_applied(journal: &dyn Journal) -> Result<Applied, Error> {
    let end = journal.end();
    let nothing = Applied { n: end, under: 0, stamp: Watermark::START.stamp };
    if end == 0 || end < journal.extent().first {
        return Ok(nothing);
    }
    let last = journal.read(end - 1, 1)?;
    let applied = |entry: &Entry| Applied { n: entry.n, under: entry.under, stamp: entry.last };
    Ok(last.last().map_or(nothing, applied))
}

pub(crate) fn spawn_named(
    name: &str,
    run: impl FnOnce() + Send + 'static,
) -> Result<JoinHandle<()>, Error> {
    std::thread::Builder::new()
        .name(name.to_owned())
        .spawn(run)
        .map_err(|error| from_io("start a thread", &error))
}
