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
        atomic::{AtomicBool, Ordering},
    },
};

use journal::Mutation;
use lsm_tree::{AbstractTree as _, Memtable, Tree};
use parking_lot::{Mutex, RwLock};
use store::{Error, Space};

use crate::errors::from_tree;

/// Folders of dropped spaces that nobody reads any more.
pub(crate) type Graveyard = Arc<Mutex<Vec<PathBuf>>>;

/// What a place has in memory.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Buffer {
    /// Number of the first entry in the memory that is written to.
    active: Option<u64>,
    /// The same for what is being flushed.
    sealed: Option<u64>,
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

/// The tree of a space.
pub(crate) struct Place {
    /// Never used again; names the folder, and the space in the journal.
    pub(crate) number: u64,
    /// Whose it is; `None` for the tree that says which place belongs to which space.
    pub(crate) space: Option<Space>,
    pub(crate) tree: Tree,
    folder: PathBuf,
    buffer: Mutex<Buffer>,
    /// Flushed memory that old versions may still hold: freed here, beside readers and writers.
    flushed: Mutex<Vec<Arc<Memtable>>>,
    /// Held for reading by whoever makes tables.
    pub(crate) making: RwLock<()>,
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
        graveyard: Graveyard,
    ) -> Self {
        Self {
            number,
            space,
            tree,
            folder,
            buffer: Mutex::default(),
            flushed: Mutex::default(),
            making: RwLock::new(()),
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
                Some(value) => self.tree.insert(key, value, under),
                None => self.tree.remove(key, under),
            };
            bytes += grown;
        }
        buffer.active_bytes += bytes;
        bytes
    }

    /// Writes all that is in memory to tables, once `sync` has made the journal durable up to there, so
    /// that no table is ahead of it; returns the bytes that memory lost. What fails stays in memory, and
    /// the next flush takes it along.
    pub(crate) fn flush(
        &self,
        oldest_view: u64,
        sync: impl FnOnce() -> Result<(), Error>,
    ) -> Result<u64, Error> {
        let lock = self.tree.get_flush_lock();
        {
            let mut buffer = self.buffer.lock();
            if let Some(memory) = self.tree.rotate_memtable() {
                let active = buffer.active.take();
                buffer.sealed = buffer.sealed.or(active);
                buffer.sealed_bytes += std::mem::take(&mut buffer.active_bytes);
                buffer.items = 0;
                // The tree lets go of it while it is closed to readers: it must not be the last.
                self.flushed.lock().push(memory);
            }
        }
        sync()?;
        let flushed = self.tree.flush(&lock, oldest_view);
        flushed.map_err(|error| from_tree("write tables", &error))?;
        let mut buffer = self.buffer.lock();
        buffer.sealed = None;
        Ok(std::mem::take(&mut buffer.sealed_bytes))
    }

    /// Lets go of memory and files that no view from this number on reads; returns whether there
    /// are still some.
    pub(crate) fn release(&self, oldest_view: u64) -> lsm_tree::Result<bool> {
        if 0 < self.tree.version_free_list_len() {
            // The one hidden call: a tree lets go of old versions with its next flush or compaction
            // alone, and one at rest has none.
            self.tree.get_version_history_lock().maintenance(&self.folder, oldest_view)?;
        }
        let unused: Vec<_> = {
            let mut flushed = self.flushed.lock();
            flushed.extract_if(.., |memory| Arc::strong_count(memory) == 1).collect()
        };
        drop(unused);
        Ok(0 < self.tree.version_free_list_len() || !self.flushed.lock().is_empty())
    }

    /// Its space was dropped: the folder goes when nobody reads it any more. Returns the bytes of
    /// memory that no longer count.
    pub(crate) fn note_dropped(&self) -> u64 {
        self.dropped.store(true, Ordering::SeqCst);
        let mut buffer = self.buffer.lock();
        std::mem::take(&mut buffer.active_bytes) + std::mem::take(&mut buffer.sealed_bytes)
    }

    /// Whether its space was dropped.
    pub(crate) fn is_dropped(&self) -> bool {
        self.dropped.load(Ordering::SeqCst)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.is_dropped() {
            self.graveyard.lock().push(self.folder.clone());
        }
    }
}
