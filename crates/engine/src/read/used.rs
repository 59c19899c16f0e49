//! The indexes that an operation has used. Each is counted once, even if the operation starts
//! several scans: in a later view, for a stage that reads another collection per row, or after a
//! conflict.

use parking_lot::Mutex;

use crate::catalog::Collection;

/// The indexes whose use by this operation was already counted. The locks are never contended: only
/// the operation itself takes them, once per scan.
#[derive(Debug, Default)]
pub(crate) struct UsedIndexes {
    /// Ids of collection and index of each counted use.
    counted: Mutex<Vec<(u32, u32)>>,
    /// Uses by index and second that are counted only if the operation succeeds.
    deferred: Option<Mutex<Vec<(u32, i64)>>>,
}

impl UsedIndexes {
    /// Creates a set for an operation on one collection that may fail; uses count once it reports
    /// success.
    pub(crate) fn deferred() -> Self {
        Self { deferred: Some(Mutex::default()), ..Self::default() }
    }

    /// Counts the operation as a use of an index in this second, once per index.
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

    /// Counts the uses that were deferred until the operation succeeded.
    pub(crate) fn count_deferred(&self, collection: &Collection) {
        let Some(deferred) = &self.deferred else { return };
        for (index, now_s) in std::mem::take(&mut *deferred.lock()) {
            collection.figures.count_use(index, now_s);
        }
    }
}
