//! A tree of one space in a folder of its own, and which entries of the journal it still needs.
//!
//! ```text
//!  entry 41 ──▶ memory (first: 41) ──rotate──▶ sealed (first: 41) ──flush──▶ tables
//!  entry 57 ──▶ memory (first: 57)
//!               floor of the place: 41 until the flush has ended, then 57
//! ```
//!
//! Whoever puts entries in or rotates the memory holds `buffer`: the floor and the memory it speaks
//! of never disagree.

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
    inputs::{Chosen, Inputs},
    outputs::Outputs,
};

/// Folders of dropped spaces that nobody reads any more.
pub(crate) type Graveyard = Arc<Mutex<Vec<PathBuf>>>;

/// What a place has in memory.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Buffer {
    /// Number of the first entry in the memory that is written to.
    active: Option<u64>,
    /// The same for what is being flushed.
    sealed: Option<u64>,
    /// The highest number of a mutation in what is being flushed.
    sealed_newest: u64,
    /// Bytes of both, as the tree counts them.
    active_bytes: u64,
    sealed_bytes: u64,
    /// Keys in the memory that is written to.
    pub(crate) items: usize,
    /// When it was last written, in ticks of the flusher.
    pub(crate) written_at: u64,
}

impl Buffer {
    /// The first entry that is not in tables.
    pub(crate) fn floor(&self) -> Option<u64> {
        self.sealed.or(self.active)
    }

    /// Bytes in memory.
    pub(crate) fn bytes(&self) -> u64 {
        self.active_bytes + self.sealed_bytes
    }
}

/// A memtable that was rotated, and the bytes that it counts for.
struct Rotated {
    memory: Arc<Memtable>,
    bytes: u64,
}

/// The tree of a space.
pub(crate) struct Place {
    /// Never used again; names the folder, and the space in the journal.
    pub(crate) number: u64,
    /// Whose it is; `None` for the tree that says which place belongs to which space.
    pub(crate) space: Option<Space>,
    pub(crate) tree: Tree,
    folder: PathBuf,
    buffer: Mutex<Buffer>,
    /// Memtables that were rotated. A read in progress may hold one after its flush; it counts as
    /// memory until then, and is freed by [`release`](Self::release), beside readers and writers.
    rotated: Mutex<Vec<Rotated>>,
    /// Held for reading by whoever makes tables.
    pub(crate) making: RwLock<()>,
    /// Held by a compaction: one at a time.
    compacting: Mutex<()>,
    /// Held while a flush changes what a compaction may choose from.
    inputs: Arc<Inputs>,
    /// How much a compaction writes in one table.
    pub(crate) outputs: Arc<Outputs>,
    /// Bytes that were written to tables with versions that newer ones replace, since the last
    /// compaction that left all of those out.
    superseded: AtomicU64,
    dropped: AtomicBool,
    graveyard: Graveyard,
}

impl Place {
    /// The place of an open tree.
    pub(crate) fn new(
        number: u64,
        space: Option<Space>,
        tree: Tree,
        folder: PathBuf,
        inputs: Arc<Inputs>,
        outputs: Arc<Outputs>,
        graveyard: Graveyard,
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
            graveyard,
        }
    }

    /// Where it is.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// What it has in memory.
    pub(crate) fn buffer(&self) -> Buffer {
        *self.buffer.lock()
    }

    /// Puts the mutations of an entry in; returns the bytes that memory grew by.
    pub(crate) fn apply(&self, n: u64, under: u64, mutations: Vec<Mutation>, tick: u64) -> u64 {
        let mut buffer = self.buffer.lock();
        buffer.active.get_or_insert(n);
        buffer.items += mutations.len();
        buffer.written_at = tick;
        let mut bytes = 0;
        for Mutation { key, value, .. } in mutations {
            let (grown, _) = match value {
                Some(value) => {
                    self.outputs.note_row(value.len() as u64);
                    self.tree.insert(key, value, under)
                }
                None => self.tree.remove(key, under),
            };
            bytes += grown;
        }
        buffer.active_bytes += bytes;
        bytes
    }

    /// Writes all that is in memory to tables. What fails stays in memory, and the next flush takes it
    /// along.
    ///
    /// `prepare` is called once it is settled what is written. It makes the journal durable up to
    /// there, so that no table is ahead of it, and returns the number of the oldest view; with 0 all
    /// versions of a key are written. Returns the bytes of tables that were written with all versions.
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
                // The tree lets go of it while it is closed to readers: it must not be the last.
                self.rotated.lock().push(Rotated { memory, bytes });
            }
            (buffer.sealed_newest, buffer.sealed_bytes)
        };
        let forget = forget_below(prepare()?, newest);
        let (flushed, written) = {
            let _alone = self.inputs.change();
            let before = self.first_tables();
            let flushed = self.tree.flush(&lock, forget);
            let tables = self.first_tables();
            let written = tables.iter().filter(|table| !before.contains(table));
            let written: u64 = written.map(|table| self.table_bytes(*table)).sum();
            self.outputs.note_flushed(tables.into_iter());
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

    /// Numbers of the tables of the first level.
    fn first_tables(&self) -> Vec<u64> {
        let version = self.tree.current_version();
        let runs = version.level(0).into_iter().flat_map(|level| level.iter());
        runs.flat_map(|run| run.iter()).map(|table| table.id()).collect()
    }

    /// Bytes of the file of a table; none where it has gone.
    fn table_bytes(&self, number: u64) -> u64 {
        let file = self.folder.join("tables").join(number.to_string());
        file.metadata().map_or(0, |file| file.len())
    }

    /// Has no other compaction begin as long as the returned value lives.
    pub(crate) fn begin_compaction(&self) -> MutexGuard<'_, ()> {
        self.compacting.lock()
    }

    /// Settles what a compaction may choose from: no flush adds tables before it has chosen, or the
    /// returned value is dropped. The caller holds what [`begin_compaction`](Self::begin_compaction)
    /// returned.
    pub(crate) fn settle_inputs(&self) -> Chosen<'_> {
        self.inputs.settle()
    }

    /// Returns the number below which a compaction may leave out what newer versions replace, with
    /// this oldest view; 0 where it has to keep all versions. The inputs have to be settled.
    pub(crate) fn forget_below(&self, oldest_view: u64) -> u64 {
        forget_below(oldest_view, self.tree.get_highest_persisted_seqno().unwrap_or(0))
    }

    /// Notes that a compaction has kept all versions of keys in this many bytes of new tables.
    pub(crate) fn note_superseded(&self, bytes: u64) {
        self.superseded.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Notes that compactions have left out this many bytes of replaced versions, at least.
    pub(crate) fn note_swept(&self, bytes: u64) {
        // What flushes have added meanwhile stays.
        let less = |superseded: u64| Some(superseded.saturating_sub(bytes));
        let _ = self.superseded.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
    }

    /// Returns how many bytes of tables may be versions that newer ones replace: at most what was
    /// written while older views were open. A start counts from 0.
    pub(crate) fn superseded_bytes(&self) -> u64 {
        self.superseded.load(Ordering::Relaxed).min(self.tree.disk_space())
    }

    /// Returns the bytes of memtables that were flushed and that a read still holds.
    pub(crate) fn held_bytes(&self) -> u64 {
        let rotated: u64 = self.rotated.lock().iter().map(|rotated| rotated.bytes).sum();
        rotated.saturating_sub(self.buffer.lock().sealed_bytes)
    }

    /// Frees memtables and files that were replaced and that no read holds. Returns the bytes of
    /// memory that were freed, and whether some are left.
    ///
    /// Views need none of them: see `published.rs`.
    pub(crate) fn release(&self) -> lsm_tree::Result<(u64, bool)> {
        if 0 < self.tree.version_free_list_len() {
            // The one hidden call: a tree lets go of old versions with its next flush or compaction
            // alone, and one at rest has none.
            self.tree.get_version_history_lock().maintenance(&self.folder, u64::MAX)?;
        }
        let mut rotated = self.rotated.lock();
        let unused: Vec<_> =
            rotated.extract_if(.., |of| Arc::strong_count(&of.memory) == 1).collect();
        let more = !rotated.is_empty();
        drop(rotated);
        Ok((unused.iter().map(|of| of.bytes).sum(), more))
    }

    /// Its space was dropped: the folder goes when nobody reads it any more. Returns the bytes of
    /// memory that no longer count.
    pub(crate) fn note_dropped(&self) -> u64 {
        self.dropped.store(true, Ordering::SeqCst);
        let mut buffer = self.buffer.lock();
        buffer.sealed_bytes = 0;
        // What is rotated later, by a flush under way, counts for nothing any more.
        let rotated = |of: &mut Rotated| std::mem::take(&mut of.bytes);
        let rotated: u64 = self.rotated.lock().iter_mut().map(rotated).sum();
        std::mem::take(&mut buffer.active_bytes) + rotated
    }

    /// Whether its space was dropped.
    pub(crate) fn is_dropped(&self) -> bool {
        self.dropped.load(Ordering::SeqCst)
    }
}

/// Returns the number below which a flush or a compaction may leave out versions that newer ones
/// replace; 0 for none.
///
/// A tree leaves out a version below that number even where the one that replaces it is above, so the
/// whole input has to be visible to the oldest view. Views that are opened later are newer.
fn forget_below(oldest_view: u64, newest_input: u64) -> u64 {
    if newest_input < oldest_view { oldest_view } else { 0 }
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.is_dropped() {
            self.graveyard.lock().push(self.folder.clone());
        }
    }
}
