//! The tree of one space in its own directory, and which journal entries it still needs.
//!
//! ```text
//!  entry 41 --> memtable (first: 41) --rotate--> sealed (first: 41) --flush--> tables
//!  entry 57 --> memtable (first: 57)
//!               floor of the tree: 41 until the flush has ended, then 57
//! ```
//!
//! The floor of a tree is the first entry with changes that are not in tables. The thread that
//! applies entries or rotates the memtable holds `buffer`, so that the floor always corresponds to
//! the memtables.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use journal::Mutation;
use lsm_tree::{AbstractTree as _, Memtable, Tree};
use parking_lot::{Mutex, MutexGuard, RwLock};
use store::{Error, Space};

use crate::{
    errors::from_tree,
    inputs::{CompactionGuard, CompactionInputs},
    outputs::Outputs,
};

/// Directories of dropped spaces that no reader uses any more, to be removed.
pub(crate) type DroppedFolders = Arc<Mutex<Vec<PathBuf>>>;

/// The state of a tree's memtables.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Buffer {
    /// Number of the first entry with changes in the active memtable.
    active: Option<u64>,
    /// Number of the first entry with changes in the sealed memtables.
    sealed: Option<u64>,
    /// Highest sequence number in the sealed memtables.
    sealed_newest: u64,
    /// Sizes of the active memtable and of the sealed memtables, as lsm-tree counts them.
    active_bytes: u64,
    sealed_bytes: u64,
    /// Number of keys in the active memtable.
    pub(crate) items: usize,
    /// Time of the last write, in ticks of the flusher.
    pub(crate) written_at: u64,
}

impl Buffer {
    /// Returns the number of the first entry whose changes are not in tables.
    pub(crate) fn floor(&self) -> Option<u64> {
        self.sealed.or(self.active)
    }

    /// Returns the accounted size of all memtables in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.active_bytes + self.sealed_bytes
    }
}

/// A memtable that accepts no more writes, and its accounted size.
struct Rotated {
    memory: Arc<Memtable>,
    bytes: u64,
}

/// The tree of a space, with the state of its memtables and tables.
pub(crate) struct SpaceTree {
    /// Number of the tree, never reused; it names the directory, and the space in the journal.
    pub(crate) number: u64,
    /// Space of the tree; `None` for the directory's tree.
    pub(crate) space: Option<Space>,
    pub(crate) tree: Tree,
    folder: PathBuf,
    buffer: Mutex<Buffer>,
    /// Memtables that accept no more writes. A running read may hold a memtable after its flush; it
    /// counts as memory until the read ends and is freed by [`release`](Self::release), without
    /// blocking readers and writers.
    rotated: Mutex<Vec<Rotated>>,
    /// Locked for reading while tables are written, exclusively while incomplete ones are removed.
    pub(crate) making: RwLock<()>,
    /// Held while a compaction runs, so that only one runs at a time.
    compacting: Mutex<()>,
    /// Prevents flushes from changing the tables that a compaction may choose from.
    inputs: Arc<CompactionInputs>,
    /// Limits the size of tables that a compaction writes.
    pub(crate) outputs: Arc<Outputs>,
    /// Bytes that were written to tables together with replaced versions, since a compaction has
    /// last dropped all replaced versions.
    superseded: AtomicU64,
    dropped: AtomicBool,
    dropped_folders: DroppedFolders,
}

impl SpaceTree {
    /// Creates the state of an open tree.
    pub(crate) fn new(
        number: u64,
        space: Option<Space>,
        tree: Tree,
        folder: PathBuf,
        inputs: Arc<CompactionInputs>,
        outputs: Arc<Outputs>,
        dropped_folders: DroppedFolders,
    ) -> Self {
        Self {
            number,
            space,
            tree,
            folder,
            buffer: Mutex::default(),
            rotated: Mutex::default(),
            making: RwLock::new(()),
            compacting: Mutex::default(),
            inputs,
            outputs,
            superseded: AtomicU64::new(0),
            dropped: AtomicBool::new(false),
            dropped_folders,
        }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the state of the memtables.
    pub(crate) fn buffer(&self) -> Buffer {
        *self.buffer.lock()
    }

    /// Applies the mutations of an entry to the memtable; returns by how many bytes it grew.
    pub(crate) fn apply(&self, n: u64, under: u64, mutations: Vec<Mutation>, tick: u64) -> u64 {
        let mut buffer = self.buffer.lock();
        buffer.active.get_or_insert(n);
        buffer.items += mutations.len();
        buffer.written_at = tick;
        let mut bytes = 0;
        for Mutation { key, value, .. } in mutations {
            let (grown, _) = match value {
                Some(value) => {
                    self.outputs.record_row(value.len() as u64);
                    self.tree.insert(key, value, under)
                }
                None => self.tree.remove(key, under),
            };
            bytes += grown;
        }
        buffer.active_bytes += bytes;
        bytes
    }

    /// Flushes all memtables. On failure they stay in memory for the next flush.
    ///
    /// `prepare` is called once the entries to write are fixed. It syncs the journal up to the last
    /// of them, so that no table is ahead of the journal, and returns the oldest view's number;
    /// with 0 all versions of a key are written. Returns the bytes of the new tables if all
    /// versions were written, otherwise 0.
    pub(crate) fn flush(&self, prepare: impl FnOnce() -> Result<u64, Error>) -> Result<u64, Error> {
        let lock = self.tree.get_flush_lock();
        let (newest, bytes) = {
            let mut buffer = self.buffer.lock();
            if let Some(memory) = self.tree.rotate_memtable() {
                let active = buffer.active.take();
                let bytes = std::mem::take(&mut buffer.active_bytes);
                buffer.sealed = buffer.sealed.or(active);
                buffer.sealed_newest =
                    buffer.sealed_newest.max(memory.get_highest_seqno().unwrap_or(0));
                buffer.sealed_bytes += bytes;
                buffer.items = 0;
                // The flush drops the tree's reference to the memtable while readers are blocked,
                // so that freeing it there would take too long: another reference is kept here.
                self.rotated.lock().push(Rotated { memory, bytes });
            }
            (buffer.sealed_newest, buffer.sealed_bytes)
        };
        let forget = forget_below(prepare()?, newest);
        let (flushed, written) = {
            let _alone = self.inputs.lock_for_flush();
            let before = self.first_tables();
            let flushed = self.tree.flush(&lock, forget);
            let tables = self.first_tables();
            let written = tables.iter().filter(|table| !before.contains(table));
            let written: u64 = written.map(|table| self.table_bytes(*table)).sum();
            self.outputs.record_flushed(tables.into_iter());
            (flushed, written)
        };
        flushed.map_err(|error| from_tree("write tables", &error))?;
        if forget == 0 {
            self.superseded.fetch_add(bytes, Ordering::Relaxed);
        }
        let mut buffer = self.buffer.lock();
        (buffer.sealed, buffer.sealed_newest, buffer.sealed_bytes) = (None, 0, 0);
        Ok(if forget == 0 { written } else { 0 })
    }

    /// Returns the numbers of the first-level tables.
    fn first_tables(&self) -> Vec<u64> {
        let version = self.tree.current_version();
        let runs = version.level(0).into_iter().flat_map(|level| level.iter());
        runs.flat_map(|run| run.iter()).map(|table| table.id()).collect()
    }

    /// Returns the size of a table's file; 0 if it was deleted.
    fn table_bytes(&self, number: u64) -> u64 {
        let file = self.folder.join("tables").join(number.to_string());
        file.metadata().map_or(0, |file| file.len())
    }

    /// Blocks other compactions of the tree while the returned value exists.
    pub(crate) fn begin_compaction(&self) -> MutexGuard<'_, ()> {
        self.compacting.lock()
    }

    /// Fixes the tables from which a compaction may choose: no flush adds tables before the
    /// compaction has chosen or the returned value is dropped. The caller holds the guard of
    /// [`begin_compaction`](Self::begin_compaction).
    pub(crate) fn lock_inputs(&self) -> CompactionGuard<'_> {
        self.inputs.lock_for_compaction()
    }

    /// Returns the sequence number below which a compaction may drop replaced versions, given the
    /// oldest view; 0 if it must keep all. The caller holds the guard of
    /// [`lock_inputs`](Self::lock_inputs).
    pub(crate) fn forget_below(&self, oldest_view: u64) -> u64 {
        forget_below(oldest_view, self.tree.get_highest_persisted_seqno().unwrap_or(0))
    }

    /// Records that a compaction has kept all versions of keys in this many bytes of new tables.
    pub(crate) fn record_superseded(&self, bytes: u64) {
        self.superseded.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Records that compactions have dropped at least this many bytes of replaced versions.
    pub(crate) fn record_swept(&self, bytes: u64) {
        // Bytes that flushes have added since the start of the compaction remain counted.
        let less = |superseded: u64| Some(superseded.saturating_sub(bytes));
        let _ = self.superseded.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
    }

    /// Returns an upper bound of the bytes of replaced versions in tables: the bytes written while
    /// older views were open. Reset to 0 at startup.
    pub(crate) fn superseded_bytes(&self) -> u64 {
        self.superseded.load(Ordering::Relaxed).min(self.tree.disk_space())
    }

    /// Returns the bytes of flushed memtables that a read still holds.
    pub(crate) fn held_bytes(&self) -> u64 {
        let rotated: u64 = self.rotated.lock().iter().map(|rotated| rotated.bytes).sum();
        rotated.saturating_sub(self.buffer.lock().sealed_bytes)
    }

    /// Frees replaced memtables and files that no read holds. Returns the freed bytes of memory,
    /// and whether some remain.
    ///
    /// Views hold neither memtables nor files: see `published.rs`.
    pub(crate) fn release(&self) -> lsm_tree::Result<(u64, bool)> {
        if 0 < self.tree.version_free_list_len() {
            // The only hidden API used: a tree otherwise releases old versions only with its next
            // flush or compaction, which may never come for a tree at rest.
            self.tree.get_version_history_lock().maintenance(&self.folder, u64::MAX)?;
        }
        let mut rotated = self.rotated.lock();
        let unused: Vec<_> =
            rotated.extract_if(.., |of| Arc::strong_count(&of.memory) == 1).collect();
        let more = !rotated.is_empty();
        drop(rotated);
        Ok((unused.iter().map(|of| of.bytes).sum(), more))
    }

    /// Marks the tree's space as dropped; the directory is deleted when it has no readers. Returns
    /// the bytes of memtables, which no longer count as memory.
    pub(crate) fn record_dropped(&self) -> u64 {
        self.dropped.store(true, Ordering::SeqCst);
        let mut buffer = self.buffer.lock();
        buffer.sealed_bytes = 0;
        // Set to 0, so that the sizes are not subtracted again when the memtables are freed.
        let rotated = |of: &mut Rotated| std::mem::take(&mut of.bytes);
        let rotated: u64 = self.rotated.lock().iter_mut().map(rotated).sum();
        std::mem::take(&mut buffer.active_bytes) + rotated
    }

    /// Returns whether the tree's space was dropped.
    pub(crate) fn is_dropped(&self) -> bool {
        self.dropped.load(Ordering::SeqCst)
    }
}

/// Returns the sequence number below which a flush or compaction may drop replaced versions; 0 for
/// none.
///
/// A tree drops a version below that number even if the replacing one is above it, so the whole
/// input must be visible to the oldest view. Views opened later are newer.
fn forget_below(oldest_view: u64, newest_input: u64) -> u64 {
    if newest_input < oldest_view { oldest_view } else { 0 }
}

impl Drop for SpaceTree {
    fn drop(&mut self) {
        if self.is_dropped() {
            self.dropped_folders.lock().push(self.folder.clone());
        }
    }
}
