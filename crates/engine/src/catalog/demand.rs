//! What queries have asked of a container's paths since the server started: paths that they looked
//! at many items for want of. It is memory alone; what comes of it is a change of the record.

use parking_lot::Mutex;
use select::sarg::PathStep;

use crate::limits::MAX_KEPT_PATHS;

/// Paths to keep that queries asked for, each once.
#[derive(Debug, Default)]
pub(crate) struct Demand(Mutex<Vec<Vec<PathStep>>>);

impl Demand {
    /// Notes paths that would have spared a query much.
    pub(crate) fn want(&self, paths: Vec<Vec<PathStep>>) {
        let mut wanted = self.0.lock();
        for path in paths {
            // What is too much now is asked for again.
            if wanted.len() < MAX_KEPT_PATHS && !wanted.contains(&path) {
                wanted.push(path);
            }
        }
    }

    /// The paths that were asked for; they are asked for no more.
    pub(crate) fn take_wanted(&self) -> Vec<Vec<PathStep>> {
        std::mem::take(&mut *self.0.lock())
    }

    /// Whether a path is asked for.
    pub(crate) fn is_wanted(&self) -> bool {
        !self.0.lock().is_empty()
    }
}
