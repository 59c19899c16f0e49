//! The state of one opening that its threads share: journal, trees, durability and notification.
//! The threads themselves are in `generation`.

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU64},
    },
    thread::Thread,
    time::Duration,
};

use journal::Journal;
use lsm_tree::AbstractTree as _;
use parking_lot::{Mutex, RwLock};
use store::{Error, InFlight, Kind, Stamp};

use crate::{
    archive::Archive,
    budget::Budget,
    compactor_mailbox::CompactorMailbox,
    disk_space::DiskSpace,
    durable_watermark::{DurableWatermark, Watermark},
    errors::{from_io, from_tree},
    filter_progress::FilterProgress,
    manifest,
    metrics::{OldViews, StoredBytes, TreeMetrics},
    options::OldViewsBound,
    published::{Published, SpaceTrees},
    space_tree::SpaceTree,
    trees::Trees,
    writeback::Writeback,
};

/// Time for which a running compaction may delay the reopening of the store.
const RETIRE_TIMEOUT: Duration = Duration::from_secs(5);
/// Time that a flush waits for entries in progress to be published, which takes some ten
/// milliseconds per group. If they are not published by then, the flush also writes replaced
/// versions of keys.
const PUBLISH_TIMEOUT: Duration = Duration::from_millis(50);
/// Number of trees flushed concurrently when all are flushed.
const FLUSHES_AT_ONCE: usize = 4;

/// The last entry that was applied to all its trees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Applied {
    /// Number of the applied entry.
    pub(crate) n: u64,
    /// Sequence number of the applied entry in the trees.
    pub(crate) under: u64,
    /// Stamp of the last commit in this entry or an earlier one.
    pub(crate) stamp: Stamp,
}

/// The shared state of an open store.
pub(crate) struct OpenStore {
    /// `None` once this opening was stopped and the next one may open the journal.
    pub(crate) journal: Mutex<Option<Arc<dyn Journal>>>,
    /// Other threads than those of the store hold a read lock while they work on the trees.
    pub(crate) working: RwLock<()>,
    pub(crate) trees: Trees,
    /// The tree that maps trees to spaces.
    pub(crate) directory: Arc<SpaceTree>,
    /// The view that new readers get.
    pub(crate) published: Published,
    /// The next unused tree number.
    pub(crate) next_tree_number: AtomicU64,
    /// Batches that are ordered and not visible yet.
    pub(crate) in_flight: Arc<InFlight>,
    /// The sequence number of the last commit that is visible to readers.
    pub(crate) published_seq: Arc<AtomicU64>,
    /// The last applied entry, updated by the applier thread.
    pub(crate) applied: Mutex<Applied>,
    /// Whether commits are accepted; otherwise the journal is followed.
    pub(crate) leads: Arc<AtomicBool>,
    /// The committer's epoch (a sequence of entries that depend on one another) up to which entries
    /// are refused after a failure.
    pub(crate) refused_epoch: AtomicU64,
    /// Tracks the entries and memtables that are not in tables yet.
    pub(crate) budget: Budget,
    /// The durable watermark, moved every half second; the lock also protects its file.
    pub(crate) watermark: Mutex<DurableWatermark>,
    /// Ticks of the flusher, ten per second.
    pub(crate) tick: AtomicU64,
    /// Archive of entries for incremental backups, if enabled.
    pub(crate) archive: Option<Archive>,
    pub(crate) compactor: CompactorMailbox,
    pub(crate) writeback: Writeback,
    /// The error with which commits are refused, if they are.
    pub(crate) stopped: OnceLock<Error>,
    /// The commit up to which all data on disk was filtered, by space.
    pub(crate) filtered: FilterProgress,
    /// Metrics, which all openings of the store share.
    pub(crate) metrics: Arc<TreeMetrics>,
    pub(crate) disk_space: Arc<DiskSpace>,
    /// Maximum disk space retained for an old view.
    pub(crate) old_views_bound: OldViewsBound,
    /// Whether the store is about to be closed, so that reads have to end.
    pub(crate) closing: AtomicBool,
    /// Whether the threads must stop.
    pub(crate) ending: AtomicBool,
    /// The thread that flushes memtables. It is unparked when these or the journal exceed a limit.
    pub(crate) flusher: OnceLock<Thread>,
}

impl OpenStore {
    /// Returns the journal while this opening owns it.
    pub(crate) fn journal(&self) -> Result<Arc<dyn Journal>, Error> {
        let gone = || Error::new(Kind::Unavailable, "the store is being reopened");
        self.journal.lock().clone().ok_or_else(gone)
    }

    /// Syncs the journal. If that fails, no more commits are accepted until the store is reopened.
    pub(crate) fn sync_journal(&self) -> Result<(), Error> {
        self.sync(&*self.journal()?)
    }

    fn sync(&self, journal: &dyn Journal) -> Result<(), Error> {
        journal.sync().inspect_err(|error| self.stop_commits(error))
    }

    /// Returns whether other nodes or an archive have copies of the data; also true during a
    /// reopening, when nothing is compacted.
    pub(crate) fn has_copies(&self) -> bool {
        // When a backup is restored, its later entries are applied to rows that were reaped here.
        self.archive.is_some() || !self.journal().is_ok_and(|journal| journal.has_single_user())
    }

    /// Releases the journal and the right to change files; reads continue. The threads must have
    /// stopped.
    pub(crate) fn retire(&self) -> Result<(), Error> {
        let alone = self.working.try_write_for(RETIRE_TIMEOUT);
        let busy = || Error::new(Kind::Unavailable, "a compaction of the store is still running");
        alone.map(|_| drop(self.journal.lock().take())).ok_or_else(busy)
    }

    /// Returns the size of the journal's files.
    pub(crate) fn journal_bytes(&self) -> u64 {
        self.journal().map_or(0, |journal| journal.extent().disk_bytes)
    }

    /// Stops accepting commits, because after this error the state on disk is unknown.
    pub(crate) fn stop_commits(&self, error: &Error) {
        let _ = self.stopped.set(error.clone());
    }

    /// Returns the error with which commits are refused, if they are.
    pub(crate) fn stop_reason(&self) -> Option<Error> {
        self.stopped.get().cloned()
    }

    /// Returns the trees of all spaces and of the directory.
    pub(crate) fn all_trees(&self) -> Vec<Arc<SpaceTree>> {
        let space_trees: Arc<SpaceTrees> = self.published.space_trees();
        let directory = std::iter::once(Arc::clone(&self.directory));
        space_trees.values().cloned().chain(directory).collect()
    }

    /// Returns the first entry of which a tree has changes only in memory: startup must replay the
    /// journal from this entry.
    pub(crate) fn tail(&self) -> u64 {
        // Read before the trees are inspected, so that entries applied during the inspection are
        // later.
        let next = self.applied.lock().n + 1;
        let floors =
            self.all_trees().into_iter().filter_map(|space_tree| space_tree.buffer().floor());
        floors.min().map_or(next, |floor| floor.min(next))
    }

    /// Flushes the memtables of a tree and releases their memory; returns whether the tree had any.
    pub(crate) fn flush_tree(&self, space_tree: &Arc<SpaceTree>) -> Result<bool, Error> {
        if space_tree.buffer().floor().is_none() || space_tree.is_dropped() {
            return Ok(false);
        }
        let prepare = || {
            self.sync_journal()?;
            // The memtable may contain entries in progress. Versions that these replace must be
            // kept until the entries are published, so the flush waits for that.
            self.published.wait_until_shown(PUBLISH_TIMEOUT);
            Ok(self.published.oldest_view())
        };
        let kept = self.make_tables(space_tree, || space_tree.flush(prepare))?;
        self.published.record_retained(kept);
        self.compactor.record_tables(space_tree);
        self.release_tree(space_tree).map(|_| true)
    }

    /// Flushes the memtables of a dropped tree that views still read: its memory no longer counts
    /// for the budget but would remain as long as the views are open.
    pub(crate) fn flush_dropped(&self, space_tree: &Arc<SpaceTree>) -> Result<(), Error> {
        if space_tree.buffer().floor().is_some() {
            // All versions are kept: no space uses the tree any more, so it is never compacted.
            let kept = self
                .make_tables(space_tree, || space_tree.flush(|| self.sync_journal().map(|()| 0)))?;
            self.published.record_retained(kept);
        }
        self.release_tree(space_tree).map(|_| ())
    }

    /// Runs a flush or compaction, which writes new tables. If it fails, removes its incomplete
    /// tables, whose size may be the cause (a full disk).
    pub(crate) fn make_tables<T, E>(
        &self,
        space_tree: &SpaceTree,
        make: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        // The writeback thread starts writing the new tables while this guard exists.
        let _growing = self.writeback.record_tables(space_tree.folder());
        let newest = manifest::newest_table(space_tree.folder());
        let made = {
            let _making = space_tree.making.read();
            make()
        };
        // If no other thread is writing tables, every new table that is not listed is incomplete.
        if made.is_err()
            && let Some(_alone) = space_tree.making.try_write()
        {
            self.compactor.record_result(manifest::remove_unlisted(space_tree.folder(), newest));
        }
        made
    }

    /// Frees those replaced memtables and files of a tree that no read uses; returns whether some
    /// remain.
    pub(crate) fn release_tree(&self, space_tree: &SpaceTree) -> Result<bool, Error> {
        let released = space_tree.release();
        let (freed, more) =
            released.map_err(|error| from_tree("cannot release old files", &error))?;
        self.budget.record_freed(freed);
        Ok(more)
    }

    /// Flushes all trees that have entries up to this one, several concurrently: most are small and
    /// wait for the disk, and a shutdown has only a few seconds.
    pub(crate) fn flush_up_to(&self, n: u64) -> Result<(), Error> {
        let needed = |space_tree: &Arc<SpaceTree>| {
            space_tree.buffer().floor().is_some_and(|floor| floor <= n)
        };
        let space_trees: Vec<_> = self.all_trees().into_iter().filter(needed).collect();
        let share = space_trees.len().div_ceil(FLUSHES_AT_ONCE).max(1);
        let flush = |part: &[Arc<SpaceTree>]| {
            part.iter().try_for_each(|space_tree| self.flush_tree(space_tree).map(|_| ()))
        };
        let failed = || Error::new(Kind::Unavailable, "panic in a flush");
        std::thread::scope(|scope| {
            let parts: Vec<_> =
                space_trees.chunks(share).map(|part| scope.spawn(move || flush(part))).collect();
            let mut ends =
                parts.into_iter().map(|part| part.join().unwrap_or_else(|_| Err(failed())));
            ends.by_ref().find(Result::is_err).unwrap_or(Ok(()))
        })?;
        self.cut_journal()
    }

    /// Removes the entries from the journal that no replay needs.
    pub(crate) fn cut_journal(&self) -> Result<(), Error> {
        let tail = self.tail();
        self.budget.cut(tail);
        let journal = self.journal()?;
        let tail = self.archive.as_ref().map_or(tail, |archive| tail.min(archive.next()));
        if journal.extent().first < tail {
            journal.truncate_before(tail, &[])?;
        }
        Ok(())
    }

    /// Measures the bytes on disk by category, from the size of every file.
    pub(crate) fn stored_bytes(&self) -> StoredBytes {
        let tables = self.all_trees().iter().map(|space_tree| space_tree.tree.disk_space()).sum();
        StoredBytes {
            journal: self.journal_bytes(),
            tables,
            garbage: self.trees.file_bytes().saturating_sub(tables),
        }
    }

    /// Returns how much disk space open views retain.
    pub(crate) fn old_views(&self) -> OldViews {
        let (space_trees, oldest) = (self.all_trees(), self.published.old_view());
        OldViews {
            age: oldest.map_or(Duration::ZERO, |(_, age)| age),
            kept: oldest.map_or(0, |(view, _)| view.retained_bytes),
            ended: self.metrics.ended_views(),
            memory: space_trees.iter().map(|space_tree| space_tree.held_bytes()).sum(),
            tables: space_trees.iter().map(|space_tree| space_tree.superseded_bytes()).sum(),
        }
    }

    /// Ends the oldest view if it retains more disk space than allowed.
    pub(crate) fn end_view_beyond_bound(&self) {
        let Some((view, _)) = self.published.old_view() else { return };
        let Some(free) = self.disk_space.free_bytes() else { return };
        if self.old_views_bound.is_exceeded(view.retained_bytes, free) {
            self.published.end_view(&view);
            self.metrics.record_ended_view();
        }
    }

    /// Syncs the journal, and moves the durable watermark to the last applied entry and the tail.
    pub(crate) fn move_watermark(&self) -> Result<(), Error> {
        // The store may have been reopened, in which case these files belong to the new opening.
        if self.stop_reason().is_some() {
            return Ok(());
        }
        let Ok(journal) = self.journal() else { return Ok(()) };
        let tail = self.tail();
        let applied = *self.applied.lock();
        self.sync(&*journal)?;
        let mut watermark = self.watermark.lock();
        let mark = Watermark {
            durable: applied.n,
            tail: tail.max(watermark.written.tail),
            stamp: applied.stamp,
        };
        watermark.move_to(mark).map_err(|error| from_io("write the mark", &error))
    }

    /// Returns the number of the first entry that startup would replay according to the durable
    /// watermark; it is at most [`tail`](Self::tail).
    pub(crate) fn durable_tail(&self) -> u64 {
        self.watermark.lock().written.tail
    }

    /// Reacts to the result of a flush. After a failure other than a full disk, which is temporary,
    /// stops accepting commits, because it is unknown which table list is on disk.
    pub(crate) fn record_flush(&self, result: Result<(), Error>) {
        if let Err(error) = &result
            && error.kind != Kind::Full
        {
            self.stop_commits(error);
        }
        self.budget.record_flush(result.as_ref().err().cloned());
        self.compactor.record_result(result);
    }
}
