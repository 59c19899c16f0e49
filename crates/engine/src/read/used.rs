//! Which indexes an operation has used. Each is counted once, however often the operation begins a
//! walk: in a later view, for a stage that reads another collection row by row, or for a document
//! that was written by somebody else meanwhile.

use parking_lot::Mutex;

use crate::catalog::Collection;

/// Indexes that were counted. The operation alone has the locks, and takes them once a walk.
#[derive(Debug, Default)]
pub(crate) struct UsedIndexes {
    /// By the ids of their collections and their own.
    counted: Mutex<Vec<(u32, u32)>>,
    /// Uses that do not count yet, by index and second.
    deferred: Option<Mutex<Vec<(u32, i64)>>>,
}

impl UsedIndexes {
    /// For an operation on one collection that may come to nothing: uses count when it says so.
    pub(crate) fn deferred() -> Self {
        Self { deferred: Some(Mutex::default()), ..Self::default() }
    }

    /// The operation uses an index in this second.
    pub(super) fn note(&self, collection: &Collection, index: u32, now_s: i64) {
        let mut counted = self.counted.lock();
        if counted.contains(&(collection.id, index)) {
            return;
        }
        counted.push((collection.id, index));
        match &self.deferred {
            Some(deferred) => deferred.lock().push((index, now_s)),
            None => collection.figures.count_use(index, now_s),
        }
    }

    /// The uses that did not count so far count.
    pub(crate) fn count_deferred(&self, collection: &Collection) {
        let Some(deferred) = &self.deferred else { return };
        for (index, now_s) in std::mem::take(&mut *deferred.lock()) {
            collection.figures.count_use(index, now_s);
        }
    }
}
