//! Memory and files that nothing refers to any more. The thread that drops the last
//! reference, possibly a reader, only puts them here; freeing half a million nodes or unlinking a file is left to
//! [`Tree::sweep`](crate::Tree::sweep).

use std::{
    any::Any,
    sync::{Arc, atomic::AtomicU64},
};

use parking_lot::Mutex;

/// Memory that is freed by dropping it.
pub(crate) type Garbage = Box<dyn Any + Send>;

/// Collects memory and files until they are freed. The lock is held for a push or an exchange only.
#[derive(Debug, Default)]
pub(crate) struct Trash {
    memory: Mutex<Vec<Garbage>>,
    files: Mutex<Vec<u64>>,
    /// Bytes of all memtables that something refers to.
    pub(crate) memtable_bytes: AtomicU64,
}

impl Trash {
    /// Adds memory to be freed.
    pub(crate) fn push_memory(&self, garbage: Garbage) {
        self.memory.lock().push(garbage);
    }

    /// Adds a file to be removed.
    pub(crate) fn push_file(&self, id: u64) {
        self.files.lock().push(id);
    }

    /// Frees the collected memory, and returns the numbers of the files to remove.
    pub(crate) fn empty(&self) -> Vec<u64> {
        drop(std::mem::take(&mut *self.memory.lock()));
        std::mem::take(&mut *self.files.lock())
    }
}

/// A file that versions list; when the last of them is dropped after the file was removed from the
/// list on disk, the file is put into the trash.
#[derive(Debug)]
pub(crate) struct ListedFile {
    pub(crate) id: u64,
    removed: std::sync::atomic::AtomicBool,
    trash: Arc<Trash>,
}

impl ListedFile {
    pub(crate) fn new(id: u64, trash: &Arc<Trash>) -> Arc<Self> {
        let trash = Arc::clone(trash);
        Arc::new(Self { id, removed: false.into(), trash })
    }

    /// Records that the list of files on disk no longer contains the file.
    pub(crate) fn record_removed(&self) {
        self.removed.store(true, std::sync::atomic::Ordering::SeqCst);
    }
}

impl Drop for ListedFile {
    fn drop(&mut self) {
        if *self.removed.get_mut() {
            self.trash.push_file(self.id);
        }
    }
}
