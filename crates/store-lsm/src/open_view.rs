//! A snapshot of the open tree, kept from compaction as long as it is there. Not the store's
//! snapshot, which may outlive the tree; see `snapshot`.

use std::sync::Arc;

use fjall::Database;

use crate::pins::{Pin, Pins};

/// An open snapshot, and what keeps compaction off it.
pub(crate) struct OpenView {
    pub(crate) snapshot: fjall::Snapshot,
    _pin: Pin,
}

impl OpenView {
    /// A snapshot of all that the tree has: for the committer, since it may not be durable yet.
    pub(crate) fn new(database: &Database, pins: &Arc<Pins>) -> Arc<Self> {
        let pin = pins.pin(database);
        Arc::new(Self { snapshot: database.snapshot(), _pin: pin })
    }
}
