//! Paths whose missing index made queries examine many items since the server started. Kept in
//! memory only; indexes are added by `item/indexed_paths.rs`.

use parking_lot::Mutex;
use select::sarg::PathStep;

use crate::limits::MAX_INDEXED_PATHS;

/// Paths for which queries would use an index that does not exist yet, without duplicates.
#[derive(Debug, Default)]
pub(crate) struct Demand(Mutex<Vec<Vec<PathStep>>>);

impl Demand {
    /// Adds paths for which an index would have saved a query much work.
    pub(crate) fn want(&self, paths: Vec<Vec<PathStep>>) {
        let mut wanted = self.0.lock();
        for path in paths {
            // Paths beyond the limit are requested again later.
            if wanted.len() < MAX_INDEXED_PATHS && !wanted.contains(&path) {
                wanted.push(path);
            }
        }
    }

    /// Removes and returns the paths for which an index is wanted.
    pub(crate) fn take_wanted(&self) -> Vec<Vec<PathStep>> {
        std::mem::take(&mut *self.0.lock())
    }

    /// Returns whether an index is wanted for any path.
    pub(crate) fn is_wanted(&self) -> bool {
        !self.0.lock().is_empty()
    }
}
