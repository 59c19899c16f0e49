//! Which indexes an operation has used. Each is counted once, however often the operation begins a
//! walk: in a later view, for a stage that reads another collection row by row, or for a document
//! that was written by somebody else meanwhile.

use parking_lot::Mutex;

use crate::catalog::Collection;

/// Indexes that were counted, by the ids of their collections and their own. The operation alone has
/// the lock, and takes it once a walk.
#[derive(Debug, Default)]
pub(crate) struct UsedIndexes(Mutex<Vec<(u32, u32)>>);

impl UsedIndexes {
    /// The operation uses an index in this second.
    pub(super) fn note(&self, collection: &Collection, index: u32, now_s: i64) {
        let mut used = self.0.lock();
        if !used.contains(&(collection.id, index)) {
            used.push((collection.id, index));
            collection.figures.count_use(index, now_s);
        }
    }
}
