//! One opening of the tree, as its threads share it: what is open, what is durable, whom to tell.
//! It has no threads of its own; see `generation`.

use std::{
    path::PathBuf,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use arc_swap::ArcSwap;
use fjall::{AbstractTree as _, Database, Keyspace, PersistMode};
use parking_lot::Mutex;
use store::{Error, InFlight};

use crate::{
    compactor_mailbox::CompactorMailbox,
    durable_watermark::DurableWatermark,
    errors::{from_fjall, from_io},
    filter_progress::FilterProgress,
    memtable_reclaimer::MemtableReclaimer,
    metrics::LsmMetrics,
    open_view::OpenView,
    room::Room,
    snapshot_tracker::SnapshotTracker,
    spaces::Spaces,
    writeback::Writeback,
};

/// How often somebody who waits for the tree looks again.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// An open tree.
pub(crate) struct OpenTree {
    /// The tree.
    pub(crate) database: Database,
    /// Positions of batches, and which slot belongs to which space.
    pub(crate) meta: Keyspace,
    /// Where the keys of each space are.
    pub(crate) spaces: Spaces,
    /// Batches that are ordered and not yet visible.
    pub(crate) in_flight: Arc<InFlight>,
    /// The last commit that readers see.
    pub(crate) published: Arc<AtomicU64>,
    /// Number of the last batch that is durable.
    pub(crate) durable_batch: AtomicU64,
    /// Number of the last batch that the tree has.
    pub(crate) written_batch: AtomicU64,
    /// Moved once a second; its file is written under this lock.
    pub(crate) watermark: Mutex<DurableWatermark>,
    /// Which snapshots are open, so that compaction keeps what they see.
    pub(crate) tracker: Arc<SnapshotTracker>,
    /// What was written and what is left over.
    pub(crate) compactor: CompactorMailbox,
    /// Which keyspaces are making tables.
    pub(crate) writeback: Writeback,
    /// Flushed memory that is to be freed.
    pub(crate) reclaimer: MemtableReclaimer,
    /// What readers see: all that is durable.
    pub(crate) current: ArcSwap<OpenView>,
    /// Why no commit is accepted any more.
    pub(crate) stopped: OnceLock<Error>,
    /// Where the tree is.
    pub(crate) tree: PathBuf,
    /// How far back everything on disk has been filtered.
    pub(crate) filtered: FilterProgress,
    /// Kept over all openings.
    pub(crate) metrics: Arc<LsmMetrics>,
    /// Bytes in memory above which it is written to tables, whichever keyspace has them.
    pub(crate) memory_bound: u64,
    /// Space on the device.
    pub(crate) room: Arc<Room>,
    /// It is about to be closed: reads end.
    pub(crate) closing: AtomicBool,
}

impl OpenTree {
    /// A snapshot of all that the tree has.
    pub(crate) fn open_view(&self) -> Arc<OpenView> {
        OpenView::new(&self.database, &self.tracker)
    }

    /// Accepts no commit any more: what is on disk is not known.
    pub(crate) fn stop_commits(&self, error: &Error) {
        let _ = self.stopped.set(error.clone());
    }

    /// Why no commit is accepted any more.
    pub(crate) fn stop_reason(&self) -> Option<Error> {
        self.stopped.get().cloned()
    }

    /// Finds out whether the tree has given up, which its workers do without a word: then it
    /// answers the reason from now on.
    pub(crate) fn check_tree(&self) -> Result<(), Error> {
        if let Some(why) = self.stop_reason() {
            return Err(why);
        }
        let asked = self.database.persist(PersistMode::Buffer);
        asked.map_err(|error| {
            let error = from_fjall("write tables", &error);
            self.stop_commits(&error);
            error
        })
    }

    /// Bytes that are in memory and not yet in tables.
    pub(crate) fn in_memory(&self) -> u64 {
        self.database.write_buffer_size()
    }

    /// Writes the memory of a keyspace to tables and waits for it, unless the tree gives up.
    pub(crate) fn flush_keyspace(&self, keyspace: &Keyspace) -> Result<(), Error> {
        begin_flush(keyspace)?;
        self.wait_until_flushed(keyspace)
    }

    /// Waits for what was begun.
    fn wait_until_flushed(&self, keyspace: &Keyspace) -> Result<(), Error> {
        while 0 < keyspace.tree.sealed_memtable_count() {
            self.check_tree()?;
            std::thread::park_timeout(LOOK_EVERY);
        }
        Ok(())
    }

    /// Writes all that is only in memory into tables. All of it is begun before any is waited for:
    /// an end with hundreds of collections has a few seconds, and the tree's workers share them.
    pub(crate) fn flush_all(&self) -> Result<(), Error> {
        self.check_tree()?;
        let spaces = self.spaces.all_keyspaces().into_iter().map(|(_, keyspace)| keyspace);
        let keyspaces: Vec<Keyspace> = spaces.chain([self.meta.clone()]).collect();
        keyspaces.iter().try_for_each(begin_flush)?;
        keyspaces.iter().try_for_each(|keyspace| self.wait_until_flushed(keyspace))
    }

    /// Moves the watermark to what is durable now.
    pub(crate) fn move_watermark(&self) -> Result<(), Error> {
        let batch = self.durable_batch.load(Ordering::SeqCst);
        let mut watermark = self.watermark.lock();
        watermark.move_to(batch).map_err(|error| from_io("write the mark", &error))
    }
}

/// Hands the memory of a keyspace to the tree's workers.
pub(crate) fn begin_flush(keyspace: &Keyspace) -> Result<(), Error> {
    let rotated = keyspace.rotate_memtable();
    rotated.map(|_| ()).map_err(|error| from_fjall("write tables", &error))
}
