//! One opening of the store, as its threads share it: journal, trees, what is durable, whom to tell.
//! It has no threads of its own; see `generation`.

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
    durable_watermark::{DurableWatermark, Mark},
    errors::{from_io, from_tree},
    filter_progress::FilterProgress,
    manifest,
    metrics::{OldViews, StoredBytes, TreeMetrics},
    options::OldViewsBound,
    place::Place,
    published::{PlaceMap, Published},
    room::Room,
    trees::Trees,
    writeback::Writeback,
};

/// How long a compaction under way may keep the store from being opened again.
const RETIRE_WITHIN: Duration = Duration::from_secs(5);
/// How long a flush waits for entries under way to be shown: a group takes some ten milliseconds. One
/// that does not wait writes the replaced versions of keys, too.
const SHOWN_WITHIN: Duration = Duration::from_millis(50);
/// Places that are flushed at the same time when all are.
const FLUSHES_AT_ONCE: usize = 4;

/// The last entry that is in all its trees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Applied {
    /// Its number.
    pub(crate) n: u64,
    /// The number it has in the trees.
    pub(crate) under: u64,
    /// The last stamp up to it.
    pub(crate) stamp: Stamp,
}

/// An open store.
pub(crate) struct OpenStore {
    /// None once this opening was stopped and another is about to take the journal.
    pub(crate) journal: Mutex<Option<Arc<dyn Journal>>>,
    /// Held for reading by whoever works on the trees beside the store's own threads.
    pub(crate) working: RwLock<()>,
    pub(crate) trees: Trees,
    /// The tree that says which place belongs to which space.
    pub(crate) directory: Arc<Place>,
    /// What readers see.
    pub(crate) published: Published,
    /// The next number of a place.
    pub(crate) next_place: AtomicU64,
    /// Batches that are ordered and not yet visible.
    pub(crate) in_flight: Arc<InFlight>,
    /// The last commit that readers see.
    pub(crate) published_seq: Arc<AtomicU64>,
    /// Moved by whoever applies.
    pub(crate) applied: Mutex<Applied>,
    /// Whether commits are taken; otherwise the journal is followed.
    pub(crate) leads: Arc<AtomicBool>,
    /// Entries of this run and earlier ones were refused.
    pub(crate) refused_epoch: AtomicU64,
    /// What is only in memory.
    pub(crate) budget: Budget,
    /// Moved once a second; its file is written under this lock.
    pub(crate) watermark: Mutex<DurableWatermark>,
    /// Ticks of the flusher, ten a second.
    pub(crate) tick: AtomicU64,
    /// Where entries go that backups may ask for; `None`: nowhere.
    pub(crate) archive: Option<Archive>,
    pub(crate) compactor: CompactorMailbox,
    pub(crate) writeback: Writeback,
    /// Why no commit is accepted any more.
    pub(crate) stopped: OnceLock<Error>,
    /// How far back everything on disk has been filtered.
    pub(crate) filtered: FilterProgress,
    /// Kept over all openings.
    pub(crate) metrics: Arc<TreeMetrics>,
    pub(crate) room: Arc<Room>,
    /// How much of the disk may be kept for an old view.
    pub(crate) old_views_bound: OldViewsBound,
    /// It is about to be closed: reads end.
    pub(crate) closing: AtomicBool,
    /// Its threads end.
    pub(crate) ending: AtomicBool,
    /// To be woken when a budget is used up.
    pub(crate) flusher: OnceLock<Thread>,
}

impl OpenStore {
    /// The journal, while this opening has it.
    pub(crate) fn journal(&self) -> Result<Arc<dyn Journal>, Error> {
        let gone = || Error::new(Kind::Unavailable, "the store is being opened again");
        self.journal.lock().clone().ok_or_else(gone)
    }

    /// Makes durable what the journal has kept. Where that fails nothing is accepted any more until it was
    /// opened again.
    pub(crate) fn sync_journal(&self) -> Result<(), Error> {
        self.sync(&*self.journal()?)
    }

    fn sync(&self, journal: &dyn Journal) -> Result<(), Error> {
        journal.sync().inspect_err(|error| self.stop_commits(error))
    }

    /// Whether others have what it holds, too: one that is being opened compacts nothing either way.
    pub(crate) fn has_copies(&self) -> bool {
        // Who restores a backup and the entries behind it applies them to rows that were reaped here.
        self.archive.is_some() || !self.journal().is_ok_and(|journal| journal.has_one_user())
    }

    /// Lets go of the journal and of the right to change files; reads go on. Its threads have ended.
    pub(crate) fn retire(&self) -> Result<(), Error> {
        let alone = self.working.try_write_for(RETIRE_WITHIN);
        let busy = || Error::new(Kind::Unavailable, "the store is still compacted");
        alone.map(|_| drop(self.journal.lock().take())).ok_or_else(busy)
    }

    /// Bytes of the journal's files.
    pub(crate) fn journal_bytes(&self) -> u64 {
        self.journal().map_or(0, |journal| journal.held().disk_bytes)
    }

    /// Accepts no commit any more: what is on disk is not known.
    pub(crate) fn stop_commits(&self, error: &Error) {
        let _ = self.stopped.set(error.clone());
    }

    /// Why no commit is accepted any more.
    pub(crate) fn stop_reason(&self) -> Option<Error> {
        self.stopped.get().cloned()
    }

    /// The places of all spaces and the directory's.
    pub(crate) fn all_places(&self) -> Vec<Arc<Place>> {
        let places: Arc<PlaceMap> = self.published.places();
        let directory = std::iter::once(Arc::clone(&self.directory));
        places.values().cloned().chain(directory).collect()
    }

    /// The first entry that is not in tables everywhere: a start has to apply from it on.
    pub(crate) fn tail(&self) -> u64 {
        // Before the look at the places: what is applied meanwhile is behind this.
        let next = self.applied.lock().n + 1;
        let floors = self.all_places().into_iter().filter_map(|place| place.buffer().floor());
        floors.min().map_or(next, |floor| floor.min(next))
    }

    /// Writes the memory of a place to tables, and lets go of it; returns whether there was any.
    pub(crate) fn flush_place(&self, place: &Arc<Place>) -> Result<bool, Error> {
        if place.buffer().floor().is_none() || place.is_dropped() {
            return Ok(false);
        }
        let prepare = || {
            self.sync_journal()?;
            // What is written may be of entries under way, which no view sees before they are shown.
            self.published.wait_until_shown(SHOWN_WITHIN);
            Ok(self.published.oldest_view())
        };
        let kept = self.make_tables(place, || place.flush(prepare))?;
        self.published.note_kept(kept);
        self.compactor.note_tables(place);
        self.release_place(place).map(|_| true)
    }

    /// Writes the memory of a dropped place to tables, for the views that still read it: it no longer counts
    /// for the budget, and would stay for as long as they are open.
    pub(crate) fn flush_dropped(&self, place: &Arc<Place>) -> Result<(), Error> {
        if place.buffer().floor().is_some() {
            // All versions are kept: no space has the place any more, so nothing compacts it later.
            let kept =
                self.make_tables(place, || place.flush(|| self.sync_journal().map(|()| 0)))?;
            self.published.note_kept(kept);
        }
        self.release_place(place).map(|_| ())
    }

    /// Has a place make tables. What it leaves of a failure takes room that it may have failed for.
    pub(crate) fn make_tables<T, E>(
        &self,
        place: &Place,
        make: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        // As long as this lives, tables being made are handed to the disk while they grow.
        let _growing = self.writeback.note_tables(place.folder());
        let newest = manifest::newest_table(place.folder());
        let made = {
            let _making = place.making.read();
            make()
        };
        // Nobody else is making some: then all that are new are listed, or of no use.
        if made.is_err()
            && let Some(_alone) = place.making.try_write()
        {
            self.compactor.note_result(manifest::remove_unlisted(place.folder(), newest));
        }
        made
    }

    /// Frees memory and files of a place that were replaced and that no read holds; returns whether
    /// some are left.
    pub(crate) fn release_place(&self, place: &Place) -> Result<bool, Error> {
        let released = place.release();
        let (freed, more) = released.map_err(|error| from_tree("let go of old files", &error))?;
        self.budget.note_freed(freed);
        Ok(more)
    }

    /// Writes the memory of all places that have entries up to this one to tables, several at a
    /// time: most are small and wait for the disk, and an end has a few seconds.
    pub(crate) fn flush_up_to(&self, n: u64) -> Result<(), Error> {
        let needed = |place: &Arc<Place>| place.buffer().floor().is_some_and(|floor| floor <= n);
        let places: Vec<_> = self.all_places().into_iter().filter(needed).collect();
        let share = places.len().div_ceil(FLUSHES_AT_ONCE).max(1);
        let flush = |part: &[Arc<Place>]| {
            part.iter().try_for_each(|place| self.flush_place(place).map(|_| ()))
        };
        let failed = || Error::new(Kind::Unavailable, "a flush failed in an unforeseen way");
        std::thread::scope(|scope| {
            let parts: Vec<_> =
                places.chunks(share).map(|part| scope.spawn(move || flush(part))).collect();
            let mut ends =
                parts.into_iter().map(|part| part.join().unwrap_or_else(|_| Err(failed())));
            ends.by_ref().find(Result::is_err).unwrap_or(Ok(()))
        })?;
        self.cut_journal()
    }

    /// Lets go of what no start would apply.
    pub(crate) fn cut_journal(&self) -> Result<(), Error> {
        let tail = self.tail();
        self.budget.cut(tail);
        let journal = self.journal()?;
        let tail = self.archive.as_ref().map_or(tail, |archive| tail.min(archive.next()));
        if journal.held().first < tail {
            journal.cut(tail, &[])?;
        }
        Ok(())
    }

    /// Bytes on the disk by what they are. It looks at every file.
    pub(crate) fn stored_bytes(&self) -> StoredBytes {
        let tables = self.all_places().iter().map(|place| place.tree.disk_space()).sum();
        StoredBytes {
            journal: self.journal_bytes(),
            tables,
            garbage: self.trees.file_bytes().saturating_sub(tables),
        }
    }

    /// Returns what views hold back.
    pub(crate) fn old_views(&self) -> OldViews {
        let (places, oldest) = (self.all_places(), self.published.old_view());
        OldViews {
            age: oldest.map_or(Duration::ZERO, |(_, age)| age),
            kept: oldest.map_or(0, |(view, _)| view.kept),
            ended: self.metrics.ended_views(),
            memory: places.iter().map(|place| place.held_bytes()).sum(),
            tables: places.iter().map(|place| place.superseded_bytes()).sum(),
        }
    }

    /// Ends the oldest view where what is kept for it takes more of the disk than old views may.
    pub(crate) fn end_view_beyond_bound(&self) {
        let Some((view, _)) = self.published.old_view() else { return };
        let Some(free) = self.room.free_bytes() else { return };
        if self.old_views_bound.is_exceeded(view.kept, free) {
            self.published.end_view(&view);
            self.metrics.note_ended_view();
        }
    }

    /// Moves the watermark to what has been applied by now.
    pub(crate) fn move_watermark(&self) -> Result<(), Error> {
        // Another opening may have the file by now, or the journal.
        if self.stop_reason().is_some() {
            return Ok(());
        }
        let Ok(journal) = self.journal() else { return Ok(()) };
        let tail = self.tail();
        let applied = *self.applied.lock();
        self.sync(&*journal)?;
        let mut watermark = self.watermark.lock();
        let mark =
            Mark { durable: applied.n, tail: tail.max(watermark.mark.tail), stamp: applied.stamp };
        watermark.move_to(mark).map_err(|error| from_io("write the mark", &error))
    }

    /// The first entry that a start would apply: never behind the tail.
    pub(crate) fn durable_tail(&self) -> u64 {
        self.watermark.lock().mark.tail
    }

    /// What a failure of writing tables means: a full disk passes, and what is in memory stays
    /// there; after others nobody knows which list of tables is on the disk.
    pub(crate) fn note_flush(&self, result: Result<(), Error>) {
        if let Err(error) = &result
            && error.kind != Kind::Full
        {
            self.stop_commits(error);
        }
        self.budget.note_flush(result.as_ref().err().cloned());
        self.compactor.note_result(result);
    }
}
