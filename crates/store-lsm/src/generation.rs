//! One opening of the tree, with its threads. After a failure of the disk nobody knows what the
//! tree has in memory and on disk: it is closed and opened again, as at a start.
//!
//! A start goes from the outside in:
//!
//! 1. The durable watermark, and whether the tree still has its journal.
//! 2. Journals and lists of tables, read from beside the tree (`journal.rs`, `manifest.rs`).
//! 3. The tree itself, which replays its journal; then spaces and the position of commits.
//! 4. The position is compared with the watermark: fewer batches than were durable are refused.

use std::{
    path::Path,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc,
    },
    thread::JoinHandle,
};

use arc_swap::ArcSwap;
use fjall::{Database, Keyspace, PersistMode};
use parking_lot::Mutex;
use store::{Error, Kind, Space};

use crate::{
    committer::Committer,
    compactor,
    compactor_mailbox::CompactorMailbox,
    durable_watermark::DurableWatermark,
    errors::{from_fjall, from_io},
    filter::{FilterFactory, PredicateInForce},
    filter_progress::{FilterProgress, journal_numbers},
    inner::OpenTree,
    journal,
    keyspace::open_keyspace,
    lasting::AcrossOpenings,
    manifest,
    memtable_reclaimer::{self, MemtableReclaimer},
    messages::CommitterMessage,
    meta::{self, Position, WrittenAfter},
    open_view::OpenView,
    options::{LsmOptions, TREE},
    spaces::{Slots, Spaces},
    syncer::{self, SyncedJournal},
    thread::spawn_named,
    writeback::{self, Writeback},
};

/// The keyspace of positions and slots.
const META: &str = "meta";
/// An open tree and its threads.
pub(crate) struct Generation {
    /// What its threads share.
    pub(crate) inner: Arc<OpenTree>,
    /// The committer's mailbox.
    pub(crate) sender: mpsc::Sender<CommitterMessage>,
    /// In the order in which they end.
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Generation {
    /// Opens or makes the tree.
    pub(crate) fn open(lasting: &AcrossOpenings) -> Result<Self, Error> {
        let options = &lasting.options;
        let path = &options.path;
        // Before the tree is opened: it would make a new one over what is left of the old.
        let mut watermark = DurableWatermark::open(&path.join("mark"))
            .map_err(|error| from_io("open the mark", &error))?;
        check_tree(&path.join(TREE), &watermark)?;
        if path.join(TREE).exists() {
            journal::check_journals(&path.join(TREE), options.accept_loss)?;
            manifest::check_tables(&path.join(TREE))?;
        }
        let slots = Slots::default();
        let database = open_tree(options, &slots, &lasting.predicate)?;
        let meta = open_keyspace(&database, META)?;
        let spaces = Spaces::open(&database, &meta, &slots, options.accept_loss)?;
        // These two have keyspaces of their own: they are never dropped.
        spaces.create_space(Space::Catalog)?;
        spaces.create_space(Space::Counts)?;
        let position = meta::read_position(&meta, options.accept_loss)?;
        if position.batch < watermark.batch && !options.accept_loss {
            return Err(Error::new(
                Kind::Refused,
                format!(
                    "commits are missing: the journal ends at batch {}, but batch {} was durable",
                    position.batch, watermark.batch
                ),
            ));
        }
        let position =
            if position.batch == 0 { write_first_batch(&database, &meta)? } else { position };
        // A store of an earlier version, or a first start.
        if watermark.batch == 0 {
            watermark.move_to(position.batch).map_err(|error| from_io("write the mark", &error))?;
        }
        // Nobody has heard of anything later, whatever the tree still knows of it.
        lasting.published.fetch_max(position.stamp.seq, Ordering::SeqCst);
        let tracker = Arc::default();
        let inner = Arc::new(OpenTree {
            meta,
            spaces,
            in_flight: Arc::clone(&lasting.in_flight),
            published: Arc::clone(&lasting.published),
            durable_batch: AtomicU64::new(position.batch),
            written_batch: AtomicU64::new(position.batch),
            watermark: Mutex::new(watermark),
            // All that a start finds is durable, so readers may see all of it.
            current: ArcSwap::new(OpenView::new(&database, &tracker)),
            database,
            tracker,
            compactor: CompactorMailbox::default(),
            writeback: Writeback::default(),
            reclaimer: MemtableReclaimer::default(),
            stopped: OnceLock::new(),
            tree: path.join(TREE),
            filtered: FilterProgress::default(),
            metrics: Arc::clone(&lasting.metrics),
            memory_bound: options.journal_bytes,
            room: Arc::clone(&lasting.room),
            closing: AtomicBool::new(false),
        });
        Self::start_threads(inner, position, lasting)
    }

    /// Starts the threads.
    fn start_threads(
        inner: Arc<OpenTree>,
        position: Position,
        lasting: &AcrossOpenings,
    ) -> Result<Self, Error> {
        let (sender, messages) = mpsc::channel();
        let (written, batches) = mpsc::channel();
        let journal = SyncedJournal::new(inner.tree.clone(), Arc::clone(&lasting.time));
        let committer =
            Committer::new(Arc::clone(&inner), Arc::clone(&lasting.time), position, written);
        let (compacted, synced) = (Arc::clone(&inner), Arc::clone(&inner));
        let (started, freed) = (Arc::clone(&inner), Arc::clone(&inner));
        let (asks, tells) = (sender.clone(), sender.clone());
        let threads = Mutex::new(vec![
            spawn_named("compactor", move || compactor::compact_until_closed(&compacted, &asks))?,
            spawn_named("committer", move || committer.run(&messages))?,
            spawn_named("syncer", move || {
                syncer::sync_until_closed(&synced, journal, &batches, &tells)
            })?,
            spawn_named("writeback", move || writeback::write_until_closed(&started.writeback))?,
            spawn_named("memory", move || {
                memtable_reclaimer::reclaim_until_closed(&freed.reclaimer)
            })?,
        ]);
        Ok(Self { inner, sender, threads })
    }

    /// The threads that were not joined yet.
    fn lock_threads(&self) -> parking_lot::MutexGuard<'_, Vec<JoinHandle<()>>> {
        self.threads.lock()
    }

    /// Whether this is one of its own threads, which cannot wait for itself.
    pub(crate) fn is_on_own_thread(&self) -> bool {
        let this = std::thread::current().id();
        self.lock_threads().iter().any(|thread| thread.thread().id() == this)
    }

    /// Ends the threads, which hold the tree's lock until then.
    pub(crate) fn end_threads(&self) {
        self.inner.compactor.close();
        self.inner.writeback.close();
        self.inner.reclaimer.close();
        // The syncer ends when the committer has dropped its end of the channel.
        let _ = self.sender.send(CommitterMessage::Close);
        if self.is_on_own_thread() {
            return;
        }
        let threads = std::mem::take(&mut *self.lock_threads());
        for thread in threads {
            let _ = thread.join();
        }
    }
}

/// Writes the first batch, with nothing in it: a store that has lost everything differs from one
/// that never had anything.
fn write_first_batch(database: &Database, meta: &Keyspace) -> Result<Position, Error> {
    let position = Position { batch: 1, ..Position::START };
    let mut batch = database.batch().durability(Some(PersistMode::SyncAll));
    meta::note_batch(&mut batch, meta, position, WrittenAfter::default());
    batch.commit().map_err(|error| from_fjall("write a commit", &error))?;
    Ok(position)
}

/// Refuses what is left of a tree without its journal. The watermark stands at a batch as soon as a
/// first start has ended.
fn check_tree(tree: &Path, watermark: &DurableWatermark) -> Result<(), Error> {
    if journal_numbers(tree).is_some() || watermark.batch == 0 {
        return Ok(());
    }
    Err(Error::new(Kind::Corrupt, "the journal of the tree is missing"))
}

/// Opens the tree. Its own workers never sync the journal (the syncer does) and never compact.
fn open_tree(
    options: &LsmOptions,
    slots: &Slots,
    predicate: &PredicateInForce,
) -> Result<Database, Error> {
    let (slots, predicate) = (slots.clone(), predicate.clone());
    Database::builder(options.path.join(TREE))
        .cache_size(options.cache_bytes)
        .max_journaling_size(options.journal_bytes)
        .manual_journal_persist(true)
        .worker_threads(3)
        .with_compaction_filter_factories(Arc::new(move |name| {
            FilterFactory::for_keyspace(name, &slots, &predicate)
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
