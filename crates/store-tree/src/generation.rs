//! One opening of the store, with its threads. After a failure of the disk nobody knows what is in
//! memory and on disk: it is closed and opened again, as at a start.
//!
//! A start goes from the outside in:
//!
//! 1. The durable watermark: what was durable, and from where entries have to be applied.
//! 2. The journal, which checks all that it has, and ends no earlier than the watermark.
//! 3. The trees' directory, and all trees in it, each checked before it is believed.
//! 4. Entries from the tail on are applied; then the folders of nobody are removed.

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
        mpsc,
    },
    thread::JoinHandle,
};

use journal::{Entry, Journal};
use lsm_tree::{AbstractTree as _, SequenceNumberCounter};
use parking_lot::{Mutex, RwLock};
use store::{Error, Kind, Space};

use crate::{
    appender::Appender,
    applier,
    archive::{self, Archive},
    archiver, base,
    budget::Budget,
    committer::Committer,
    compactor,
    compactor_mailbox::CompactorMailbox,
    directory::{self, DIRECTORY, Listed},
    durable_watermark::{DurableWatermark, Mark},
    errors::from_io,
    filter_progress::FilterProgress,
    flusher,
    inner::{Applied, OpenStore},
    lasting::AcrossOpenings,
    messages::CommitterMessage,
    options::{Archiving, TREES},
    published::{PlaceMap, Published, number_after},
    replay::Replayed,
    thread::spawn_named,
    trees::Trees,
    wiping,
    writeback::{self, Writeback},
};

/// Spaces that are there from the beginning, with their places.
const FIRST_SPACES: [(u64, Space); 2] = [(1, Space::Catalog), (2, Space::Counts)];

/// An open store and its threads.
pub(crate) struct Generation {
    /// What its threads share.
    pub(crate) inner: Arc<OpenStore>,
    /// The committer's mailbox.
    pub(crate) sender: mpsc::Sender<CommitterMessage>,
    /// In the order in which they end.
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Generation {
    /// Opens or makes the store.
    pub(crate) fn open(lasting: &AcrossOpenings) -> Result<Self, Error> {
        let options = &lasting.options;
        wiping::carry_out(&options.path, &*lasting.journal)?;
        base::load(options, &*lasting.journal, &lasting.predicate)?;
        let watermark = DurableWatermark::open(&options.path.join(wiping::MARK))
            .map_err(|error| from_io("open the mark", &error))?;
        let mark = watermark.mark;
        let journal = open_journal(lasting, mark)?;
        let trees = Trees::new(options.path.join(TREES), options.cache_bytes, &lasting.predicate)?;
        if journal.end() == 0 {
            begin(&*journal, &trees, options.accept_loss)?;
        }
        let budget = Budget::new(options.journal_bytes, options.buffer_bytes);
        // Where a loss was accepted the journal may end before the tail.
        let first = mark.tail.min(journal.end() + 1).max(journal.held().first);
        let (replayed, applied) = apply_all(&*journal, &trees, &budget, first)?;
        let applied = Applied { stamp: applied.stamp.max(mark.stamp), ..applied };
        trees.remove_others(
            &replayed.places.keys().copied().chain([DIRECTORY]).collect::<Vec<_>>(),
        )?;
        // All that a start finds is durable, so readers may see all of it.
        lasting.published.fetch_max(applied.stamp.seq, Ordering::SeqCst);
        let by_space = |place: &Arc<_>| {
            let place: &Arc<crate::place::Place> = place;
            Some((place.space?, Arc::clone(place)))
        };
        let places: PlaceMap = replayed.places.values().filter_map(by_space).collect();
        let archive = open_archive(lasting, &*journal, applied)?;
        let inner = Arc::new(OpenStore {
            archive,
            published: Published::new(places, &trees.counter, Arc::clone(&lasting.time)),
            journal: Mutex::new(Some(journal)),
            working: RwLock::new(()),
            trees,
            directory: replayed.directory,
            next_place: AtomicU64::new(replayed.next),
            in_flight: Arc::clone(&lasting.in_flight),
            published_seq: Arc::clone(&lasting.published),
            applied: Mutex::new(applied),
            leads: Arc::clone(&lasting.leads),
            refused_epoch: AtomicU64::new(0),
            budget,
            watermark: Mutex::new(watermark),
            tick: AtomicU64::new(0),
            compactor: CompactorMailbox::default(),
            writeback: Writeback::default(),
            stopped: OnceLock::new(),
            filtered: FilterProgress::default(),
            metrics: Arc::clone(&lasting.metrics),
            room: Arc::clone(&lasting.room),
            old_views_bound: lasting.options.old_views,
            closing: AtomicBool::new(false),
            ending: AtomicBool::new(false),
            flusher: OnceLock::new(),
        });
        let tail = inner.tail().min(first);
        inner
            .watermark
            .lock()
            .move_to(Mark { durable: applied.n, tail, stamp: applied.stamp })
            .map_err(|error| from_io("write the mark", &error))?;
        Self::start_threads(inner, lasting)
    }

    /// Starts the threads.
    fn start_threads(inner: Arc<OpenStore>, lasting: &AcrossOpenings) -> Result<Self, Error> {
        let (sender, messages) = mpsc::channel();
        let (ordered, batches) = mpsc::channel();
        let (durable, groups) = mpsc::channel();
        let applying = Arc::new(AtomicUsize::new(0));
        let time = || Arc::clone(&lasting.time);
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

    /// Whether this is one of its own threads, which cannot wait for itself.
    pub(crate) fn is_on_own_thread(&self) -> bool {
        let this = std::thread::current().id();
        self.threads.lock().iter().any(|thread| thread.thread().id() == this)
    }

    /// Ends the threads, which hold the journal's lock until then.
    pub(crate) fn end_threads(&self) {
        self.inner.ending.store(true, Ordering::SeqCst);
        self.inner.compactor.close();
        self.inner.writeback.close();
        // The appender and the applier end when the thread before them has dropped its channel.
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

/// Opens the journal. Whoever refuses it is named with the store's folder.
fn open_journal(lasting: &AcrossOpenings, mark: Mark) -> Result<Arc<dyn Journal>, Error> {
    let options = &lasting.options;
    let opened = lasting.journal.open(mark.durable, options.accept_loss);
    opened.map_err(|error| match error.kind {
        Kind::Refused => Error::new(Kind::Refused, format!("{}: {error}", options.path.display())),
        _ => error,
    })
}

/// Opens the archive of the journal as far as there is to be one.
fn open_archive(
    lasting: &AcrossOpenings,
    journal: &dyn Journal,
    applied: Applied,
) -> Result<Option<Archive>, Error> {
    let path = &lasting.options.path;
    match lasting.options.archive {
        Archiving::Untouched => Ok(None),
        Archiving::Off => archive::remove(path).map(|()| None),
        Archiving::Within(bytes) => {
            Archive::open(path, bytes, journal, (applied.n, applied.stamp)).map(Some)
        }
    }
}

/// The first entry makes the first spaces: a store that has lost everything differs from one that
/// never had anything.
fn begin(journal: &dyn Journal, trees: &Trees, accept_loss: bool) -> Result<(), Error> {
    if !trees.numbers()?.is_empty() && !accept_loss {
        return Err(Error::new(Kind::Corrupt, "the journal is missing"));
    }
    let records = |(number, space)| directory::record_made(number, space);
    let entry = Entry {
        n: 1,
        last: Mark::START.stamp,
        under: number_after(0, &trees.counter),
        dropped: Vec::new(),
        mutations: FIRST_SPACES.into_iter().flat_map(records).collect(),
    };
    let appended = journal.append(&[entry.encode()?]);
    appended.map(|_| ()).map_err(|failure| failure.error().clone())
}

/// Opens all trees, applies the journal to them from this entry on, and sets the counter behind it.
fn apply_all(
    journal: &dyn Journal,
    trees: &Trees,
    budget: &Budget,
    first: u64,
) -> Result<(Replayed, Applied), Error> {
    // Without it all spaces have to be made by entries that are still there.
    let (directory, listed) = if trees.is_made(DIRECTORY) || 1 < first {
        let directory = trees.open(DIRECTORY, None)?;
        let listed = directory::read_all(&directory)?;
        (directory, listed)
    } else {
        (trees.open_or_make(DIRECTORY, None)?, Listed { next: 1, ..Listed::default() })
    };
    let mut replayed = Replayed::open(trees, directory, &listed)?;
    let applied = replayed.apply_journal(journal, first - 1, trees, budget)?;
    let applied = match applied {
        Some(applied) => applied,
        None => last_applied(journal)?,
    };
    // Beyond all that the tables have: entries may be missing where a loss was accepted.
    let all = replayed.places.values().chain([&replayed.directory]);
    let newest = all.filter_map(|place| place.tree.get_highest_seqno()).max().unwrap_or(0);
    // A view reads above the numbers of the trees' own states, also where nothing was found.
    let first = number_after(0, &SequenceNumberCounter::default());
    trees.counter.fetch_max(applied.under.max(newest).max(first) + 1);
    Ok((replayed, applied))
}

/// The last entry, which the journal always has; of one that lost everything nothing is known.
fn last_applied(journal: &dyn Journal) -> Result<Applied, Error> {
    let end = journal.end();
    let nothing = Applied { n: end, under: 0, stamp: Mark::START.stamp };
    if end == 0 || end < journal.held().first {
        return Ok(nothing);
    }
    let last = journal.read(end - 1, 1)?;
    let applied = |entry: &Entry| Applied { n: entry.n, under: entry.under, stamp: entry.last };
    Ok(last.last().map_or(nothing, applied))
}
