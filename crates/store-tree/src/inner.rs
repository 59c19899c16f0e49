//! The state of one opening that its threads share: journal, tree, durability and notification.
//! The threads themselves are in `generation`.

use std::{
    path::PathBuf,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::Thread,
    time::Duration,
};

use journal::Journal;
use parking_lot::{Mutex, RwLock};
use store::{CommitClock, Error, InFlight, Kind, Space, Stamp};
use tree::Tree;

use crate::{
    archive::Archive,
    budget::Budget,
    compactor_mailbox::CompactorMailbox,
    disk_space::DiskSpace,
    durable_watermark::{DurableWatermark, Watermark},
    errors::{from_io, from_tree},
    filter_progress::FilterProgress,
    hooks::StoreHooks,
    metrics::{OldViews, StoredBytes, TreeMetrics},
    old_views::{OldViewTracker, OldestView},
    options::OldViewsBound,
    published::{Applying, Published},
    reserved::Reserved,
    rest::Rest,
    tree_folder,
};

/// Time for which a running compaction may delay the reopening of the store.
const RETIRE_TIMEOUT: Duration = Duration::from_secs(5);
/// Number of spaces flushed concurrently when all are flushed.
const FLUSHES_AT_ONCE: usize = 4;

/// The last entry that was applied to the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Applied {
    /// Number of the applied entry.
    pub(crate) n: u64,
    /// The sequence number in the entry. It ascends over all owners of a journal; earlier versions
    /// applied entries under it.
    pub(crate) under: u64,
    /// Stamp of the last commit in this entry or an earlier one.
    pub(crate) stamp: Stamp,
}

/// The shared state of an open store.
pub(crate) struct OpenStore {
    /// `None` once this opening was stopped and the next one may open the journal.
    pub(crate) journal: Mutex<Option<Arc<dyn Journal>>>,
    /// Other threads than those of the store hold a read lock while they work on the tree.
    pub(crate) working: RwLock<()>,
    pub(crate) tree: Tree,
    pub(crate) hooks: Arc<StoreHooks>,
    /// The directory of the tree.
    pub(crate) folder: PathBuf,
    /// The difference between the number of a batch in the tree and that of its entry: see
    /// [`batch_of`](Self::batch_of).
    pub(crate) offset: u64,
    /// The view that new readers get.
    pub(crate) published: Published,
    /// The next unused number of a space.
    pub(crate) next_space_number: AtomicU64,
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
    /// Dropped spaces that views may show, with the batches of their drops.
    pub(crate) dropped: Mutex<Vec<(u64, u64)>>,
    /// Spaces that are about to be compacted as a whole.
    pub(crate) reserved: Reserved,
    /// Which spaces are being written.
    pub(crate) rest: Rest,
    /// Tracks the ages of open views.
    pub(crate) view_tracker: OldViewTracker,
    /// Clock that measures the age of views.
    pub(crate) time: Arc<dyn CommitClock>,
    /// The error with which commits are refused, if they are.
    pub(crate) stopped: OnceLock<Error>,
    /// The commit up to which all data on disk was filtered, by space.
    pub(crate) filtered: FilterProgress,
    /// Metrics, which all openings of the store share.
    pub(crate) metrics: Arc<TreeMetrics>,
    pub(crate) disk_space: Arc<DiskSpace>,
    /// Maximum disk space retained for an old view.
    pub(crate) old_views_bound: OldViewsBound,
    /// Whether the journal was released, so that another opening may change the files.
    pub(crate) retired: AtomicBool,
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
        let _alone = alone.ok_or_else(busy)?;
        self.retired.store(true, Ordering::SeqCst);
        self.hooks.release_journal();
        drop(self.journal.lock().take());
        Ok(())
    }

    /// Returns whether another opening may have changed the files.
    pub(crate) fn is_retired(&self) -> bool {
        self.retired.load(Ordering::SeqCst) || self.closing.load(Ordering::Relaxed)
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

    /// Returns the number of an entry's batch in the tree. It is above all batches in tables at the
    /// start of this opening also if the entry was applied before, so that a replay in order
    /// restores the newest values, and after an accepted loss, when tables may have entries that
    /// the journal has lost.
    pub(crate) fn batch_of(&self, n: u64) -> u64 {
        n + self.offset
    }

    /// Returns the number of a space; `None` if it does not exist.
    pub(crate) fn number_of(&self, space: Space) -> Option<u64> {
        self.published.space_numbers().get(&space).copied()
    }

    /// Creates a space in the tree; the next view shows it.
    pub(crate) fn make_space(
        &self,
        applying: &Applying<'_>,
        number: u64,
        space: Space,
    ) -> Result<(), Error> {
        self.hooks.record_space(number, space);
        let made = self.tree.create_space(number, tree_folder::layout_of(space));
        made.map_err(|error| from_tree("create a space", &error))?;
        self.published.change_spaces(applying, |numbers| {
            numbers.insert(space, number);
        });
        Ok(())
    }

    /// Drops a space with the entry `n`: new views do not show it. The tree keeps it for the views
    /// that do, such as that of a backup.
    pub(crate) fn drop_space(&self, applying: &Applying<'_>, n: u64, number: u64) {
        self.published.change_spaces(applying, |numbers| numbers.retain(|_, of| *of != number));
        self.dropped.lock().push((self.batch_of(n), number));
        self.compactor.record_change();
    }

    /// Removes the dropped spaces that no view shows any more from the tree.
    pub(crate) fn remove_dropped(&self) -> Result<(), Error> {
        let mut dropped = self.dropped.lock();
        let Some(oldest) = self.tree.snapshot_numbers().first().copied() else { return Ok(()) };
        for (_, number) in dropped.extract_if(.., |(batch, _)| *batch <= oldest) {
            match self.tree.drop_space(number) {
                Ok(freed) => self.budget.record_freed(freed),
                Err(tree::Error::UnknownSpace(_)) => {}
                Err(error) => return Err(from_tree("drop a space", &error)),
            }
            self.hooks.forget_space(number);
        }
        Ok(())
    }

    /// Converts the result of a change of the tree. If the tree has stopped because the state of its
    /// list of files is unknown, or if the journal could not be synced, no more commits are accepted
    /// until the store is reopened.
    pub(crate) fn check_tree<T>(
        &self,
        context: &str,
        result: Result<T, tree::Error>,
    ) -> Result<T, Error> {
        result.map_err(|error| {
            if let Some(failure) = self.hooks.take_failure() {
                self.stop_commits(&failure);
                return failure;
            }
            let converted = from_tree(context, &error);
            if matches!(error, tree::Error::Stopped(_)) {
                self.stop_commits(&converted);
            }
            converted
        })
    }

    /// Frees memory and removes files that nothing refers to; returns the number of files.
    pub(crate) fn sweep(&self) -> Result<usize, Error> {
        self.check_tree("remove old files", self.tree.sweep())
    }

    /// Returns the first entry with changes that are only in memory: startup must replay the journal
    /// from this entry.
    pub(crate) fn tail(&self) -> u64 {
        // Read before the memtables are inspected, so that entries applied during the inspection are
        // later.
        let next = self.applied.lock().n + 1;
        let first = self.tree.first_unflushed(None);
        first.map_or(next, |batch| next.min(batch.saturating_sub(self.offset)))
    }

    /// Flushes the memtables of a space; returns whether it had any.
    pub(crate) fn flush_space(&self, space: u64) -> Result<bool, Error> {
        let flushed = match self.tree.flush(space) {
            // The space was dropped.
            Err(tree::Error::UnknownSpace(_)) => return Ok(false),
            flushed => self.check_tree("write tables", flushed),
        };
        if flushed.is_err() {
            // The incomplete files may be the cause of the failure (a full disk).
            self.sweep()?;
        }
        let report = flushed?;
        self.budget.record_freed(report.freed);
        self.compactor.record_change();
        Ok(0 < report.freed)
    }

    /// Flushes all spaces that have entries up to this one, several concurrently: most are small and
    /// wait for the disk, and a shutdown has only a few seconds.
    pub(crate) fn flush_up_to(&self, n: u64) -> Result<(), Error> {
        let batch = n.saturating_add(self.offset);
        let needed = self.tree.memory().into_iter().filter(|of| of.first <= batch);
        let spaces: Vec<u64> = needed.map(|of| of.space).collect();
        let share = spaces.len().div_ceil(FLUSHES_AT_ONCE).max(1);
        let flush =
            |part: &[u64]| part.iter().try_for_each(|space| self.flush_space(*space).map(|_| ()));
        let failed = || Error::new(Kind::Unavailable, "panic in a flush");
        std::thread::scope(|scope| {
            let parts: Vec<_> =
                spaces.chunks(share).map(|part| scope.spawn(move || flush(part))).collect();
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
        let before = self.archive.as_ref().map_or(tail, |archive| tail.min(archive.next()));
        if journal.extent().first < before {
            // Recorded first: a list of files without this edit would lack the removed entries.
            let last_edit = self.tree.last_edit();
            let mut watermark = self.watermark.lock();
            let mark = Watermark { last_edit, ..watermark.written };
            watermark.move_to(mark).map_err(|error| from_io("write the mark", &error))?;
            drop(watermark);
            journal.truncate_before(before, &[])?;
        }
        Ok(())
    }

    /// Measures the bytes on disk by category, from the size of every file.
    pub(crate) fn stored_bytes(&self) -> StoredBytes {
        let all = tree_folder::file_bytes(&self.folder);
        let tables = self.tree.figures().file_bytes;
        StoredBytes { journal: self.journal_bytes(), tables, garbage: all.saturating_sub(tables) }
    }

    /// Returns how much disk space open views retain.
    pub(crate) fn old_views(&self) -> OldViews {
        self.observe_views().0
    }

    /// Returns how much disk space open views retain, and the oldest one that is not the newest.
    fn observe_views(&self) -> (OldViews, Option<OldestView>) {
        let figures = self.tree.figures();
        let (open, now) = (self.tree.snapshot_numbers(), self.time.monotonic_ns());
        let oldest = self.view_tracker.observe(&open, figures.superseded_bytes, now);
        let views = OldViews {
            age: oldest.map_or(Duration::ZERO, |view| view.age),
            kept: oldest.map_or(0, |view| view.kept_bytes),
            ended: self.metrics.ended_views(),
            memory: figures.held_bytes,
            tables: figures.superseded_bytes,
        };
        (views, oldest)
    }

    /// Measures the open views, and ends the oldest one if more disk space is kept for it than
    /// allowed.
    pub(crate) fn measure_old_views(&self) {
        let (views, oldest) = self.observe_views();
        self.metrics.record_old_views(views);
        let Some((view, free)) = oldest.zip(self.disk_space.free_bytes()) else { return };
        if self.old_views_bound.is_exceeded(view.kept_bytes, free) {
            self.tree.end_snapshots(view.number);
            self.metrics.record_ended_view();
            self.metrics.record_old_views(OldViews { ended: self.metrics.ended_views(), ..views });
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
        // Read after the tail: the edits that have moved it are durable.
        let last_edit = self.tree.last_edit();
        let applied = *self.applied.lock();
        self.sync(&*journal)?;
        let mut watermark = self.watermark.lock();
        let mark = Watermark {
            durable: applied.n,
            tail: tail.max(watermark.written.tail),
            stamp: applied.stamp,
            last_edit,
        };
        watermark.move_to(mark).map_err(|error| from_io("write the mark", &error))
    }

    /// Returns the number of the first entry that startup would replay according to the durable
    /// watermark; it is at most [`tail`](Self::tail).
    pub(crate) fn durable_tail(&self) -> u64 {
        self.watermark.lock().written.tail
    }

    /// Reacts to the result of a flush. After a failure other than a full disk, which is temporary,
    /// stops accepting commits.
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
