//! Which snapshots are open, as the tree numbers them: compaction may forget what none of them
//! sees. The tree keeps such a list too but tells nobody, and looks at it rarely.

use std::{collections::BTreeMap, sync::Arc};

use fjall::Database;
use parking_lot::Mutex;

/// Open snapshots by the number they read up to, and how many share it.
#[derive(Default)]
pub(crate) struct SnapshotTracker(Mutex<BTreeMap<u64, usize>>);

impl SnapshotTracker {
    /// Pins what is visible now, before a snapshot of it is taken.
    pub(crate) fn track_visible(self: &Arc<Self>, database: &Database) -> TrackedSnapshot {
        let mut open = self.0.lock();
        // Under the lock: a compaction that asks meanwhile waits, and then sees this one.
        let at = database.visible_seqno();
        *open.entry(at).or_default() += 1;
        TrackedSnapshot { tracker: Arc::clone(self), at }
    }

    /// Versions that were replaced below this number are seen by nobody.
    pub(crate) fn oldest_open(&self, database: &Database) -> u64 {
        let open = self.0.lock();
        // Without snapshots everything but the newest versions may go.
        open.keys().next().copied().unwrap_or_else(|| database.visible_seqno())
    }
}

/// One open snapshot's place in the list.
pub(crate) struct TrackedSnapshot {
    tracker: Arc<SnapshotTracker>,
    /// The number it reads up to.
    at: u64,
}

impl Drop for TrackedSnapshot {
    fn drop(&mut self) {
        let mut open = self.tracker.0.lock();
        if let Some(count) = open.get_mut(&self.at) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.at);
            }
        }
    }
}
