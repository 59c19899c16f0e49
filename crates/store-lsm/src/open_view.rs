//! A snapshot of the open tree, kept from compaction as long as it is there. Not the store's
//! snapshot, which may outlive the tree; see `snapshot`.

use std::sync::Arc;

use fjall::Database;

use crate::snapshot_tracker::{SnapshotTracker, TrackedSnapshot};

/// An open snapshot, and what keeps compaction off it.
pub(crate) struct OpenView {
    /// All keyspaces at one sequence number.
    pub(crate) snapshot: fjall::Snapshot,
    _tracked: TrackedSnapshot,
}

impl OpenView {
    /// A snapshot of all that the tree has: for the committer, since it may not be durable yet.
    pub(crate) fn new(database: &Database, tracker: &Arc<SnapshotTracker>) -> Arc<Self> {
        let tracked = tracker.track_visible(database);
        Arc::new(Self { snapshot: database.snapshot(), _tracked: tracked })
    }
}
