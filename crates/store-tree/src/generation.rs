//! One opening of the store with its threads, and the state that persists across openings. After a
//! disk failure the state of memory and disk is unknown, so the store is closed and reopened like
//! at startup.
//!
//! A start proceeds in this order:
//!
//! 1. The durable watermark: the number of a certainly durable entry, and the number of the first
//!    entry to replay (the *tail* of the journal).
//! 2. The journal, which verifies its contents and must not end before the watermark.
//! 3. The directory and all trees in it, each verified before use.
//! 4. Entries are replayed from the tail on; then unreferenced directories are removed.

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
        mpsc,
    },
    thread::JoinHandle,
};

use journal::{Entry, Journal, OpenJournal};
use lsm_tree::{AbstractTree as _, SequenceNumberCounter};
use parking_lot::{Mutex, RwLock};
use store::{CommitClock, Error, InFlight, Kind, Space};

use crate::{
    appender::Appender,
    applier,
    archive::{self, Archive},
    archiver, base,
    budget::Budget,
    committer::Committer,
    compactor,
    compactor_mailbox::CompactorMailbox,
    directory::{self, DIRECTORY, DirectoryContents},
    disk_space::DiskSpace,
    durable_watermark::{DurableWatermark, Watermark},
    errors::from_io,
    filter::PredicateInForce,
    filter_progress::FilterProgress,
    flusher,
    inner::{Applied, OpenStore},
    messages::CommitterMessage,
    metrics::TreeMetrics,
    options::{Archiving, TREES, TreeOptions},
    published::{Published, SpaceTrees, number_after},
    replay::Replayed,
    trees::Trees,
    wipe,
    writeback::{self, Writeback},
};

/// The state of a store that persists when it is reopened.
pub(crate) struct RetainedState {
    pub(crate) options: TreeOptions,
    /// The journal that the trees follow.
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

/// Spaces that every store has, with their tree numbers.
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
        let trees = Trees::new(options.path.join(TREES), options.cache_bytes, &retained.predicate)?;
        if journal.end() == 0 {
            begin(&*journal, &trees, options.accept_loss)?;
        }
        let budget = Budget::new(options.journal_bytes, options.buffer_bytes);
        // After an accepted loss the journal may end before the tail; then no entry is replayed.
        let first = mark.tail.min(journal.end() + 1).max(journal.extent().first);
        let (replayed, applied) = apply_all(&*journal, &trees, &budget, first)?;
        let applied = Applied { stamp: applied.stamp.max(mark.stamp), ..applied };
        trees.remove_others(
            &replayed.space_trees.keys().copied().chain([DIRECTORY]).collect::<Vec<_>>(),
        )?;
        // Everything found at startup is durable, so readers may see all of it.
        retained.published.fetch_max(applied.stamp.seq, Ordering::SeqCst);
        retained.in_flight.record_published(applied.stamp);
        let by_space = |space_tree: &Arc<_>| {
            let space_tree: &Arc<crate::space_tree::SpaceTree> = space_tree;
            Some((space_tree.space?, Arc::clone(space_tree)))
        };
        let space_trees: SpaceTrees = replayed.space_trees.values().filter_map(by_space).collect();
        let archive = open_archive(retained, &*journal, applied)?;
        let inner = Arc::new(OpenStore {
            archive,
            published: Published::new(space_trees, &trees.counter, Arc::clone(&retained.time)),
            journal: Mutex::new(Some(journal)),
            working: RwLock::new(()),
            trees,
            directory: replayed.directory,
            next_tree_number: AtomicU64::new(replayed.next),
            in_flight: Arc::clone(&retained.in_flight),
            published_seq: Arc::clone(&retained.published),
            applied: Mutex::new(applied),
            leads: Arc::clone(&retained.leads),
            refused_epoch: AtomicU64::new(0),
            budget,
            watermark: Mutex::new(watermark),
            tick: AtomicU64::new(0),
            compactor: CompactorMailbox::default(),
            writeback: Writeback::default(),
            stopped: OnceLock::new(),
            filtered: FilterProgress::default(),
            metrics: Arc::clone(&retained.metrics),
            disk_space: Arc::clone(&retained.disk_space),
            old_views_bound: retained.options.old_views,
            closing: AtomicBool::new(false),
            ending: AtomicBool::new(false),
            flusher: OnceLock::new(),
        });
        let tail = inner.tail().min(first);
        inner
            .watermark
            .lock()
            .move_to(Watermark { durable: applied.n, tail, stamp: applied.stamp })
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
        let [flushed, compacted, applied, started] = [(); 4].map(|()| Arc::clone(&inner));
        let threads = Mutex::new(vec![
            spawn_named("compactor", move || compactor::compact_until_closed(&compacted))?,
            spawn_named("flusher", move || flusher::flush_until_closed(&flushed))?,
            spawn_named("committer", move || committer.run(&messages))?,
            spawn_named("appender", move || appender.run(&batches))?,
            spawn_named("applier", move || {
                applier::apply_until_closed(&applied, &groups, &applying);
            })?,
            spawn_named("writeback", move || writeback::write_until_closed(&started.writeback))?,
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
        self.inner.writeback.close();
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
fn begin(journal: &dyn Journal, trees: &Trees, accept_loss: bool) -> Result<(), Error> {
    if !trees.numbers()?.is_empty() && !accept_loss {
        return Err(Error::new(Kind::Corrupt, "the journal is missing"));
    }
    let records = |(number, space)| directory::record_made(number, space);
    let entry = Entry {
        n: 1,
        last: Watermark::START.stamp,
        under: number_after(0, &trees.counter),
        dropped: Vec::new(),
        mutations: FIRST_SPACES.into_iter().flat_map(records).collect(),
    };
    let appended = journal.append(&[entry.encode()?]);
    appended.map(|_| ()).map_err(|failure| failure.error().clone())
}

/// Opens all trees, replays the journal from this entry on, and sets the sequence number counter
/// beyond all applied entries.
fn apply_all(
    journal: &dyn Journal,
    trees: &Trees,
    budget: &Budget,
    first: u64,
) -> Result<(Replayed, Applied), Error> {
    // If the directory is missing, the journal must start with the entry that creates it.
    let (directory, listed) = if trees.is_made(DIRECTORY) || 1 < first {
        let directory = trees.open(DIRECTORY, None)?;
        let listed = directory::read_all(&directory)?;
        (directory, listed)
    } else {
        (
            trees.open_or_make(DIRECTORY, None)?,
            DirectoryContents { next: 1, ..DirectoryContents::default() },
        )
    };
    let mut replayed = Replayed::open(trees, directory, &listed)?;
    let applied = replayed.apply_journal(journal, first - 1, trees, budget)?;
    let applied = match applied {
        Some(applied) => applied,
        None => last_applied(journal)?,
    };
    // The counter must exceed those of the tables, which may be ahead after an accepted loss.
    let all = replayed.space_trees.values().chain([&replayed.directory]);
    let newest =
        all.filter_map(|space_tree| space_tree.tree.get_highest_seqno()).max().unwrap_or(0);
    // Views must read above the numbers of the trees' own versions, even in an empty store.
    let first = number_after(0, &SequenceNumberCounter::default());
    trees.counter.fetch_max(applied.under.max(newest).max(first) + 1);
    Ok((replayed, applied))
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
