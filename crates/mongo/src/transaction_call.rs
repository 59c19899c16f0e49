//! A command that runs in a transaction or at a snapshot: its handle of the engine, and the
//! collections that it creates.

use std::sync::Arc;

use engine::{ClusterTime, Collection, Engine};

use crate::{call::Call, transaction_table::OpenTransaction};

impl Call<'_> {
    /// Returns this call as a statement of a transaction.
    pub(crate) fn in_transaction<'b>(&'b self, open: &'b OpenTransaction) -> Call<'b> {
        Call { transaction: Some(open), operation: Arc::clone(&self.operation), ..*self }
    }

    /// Returns the engine through which the command reads and writes documents: in a transaction
    /// and at a snapshot the handle that belongs to it.
    pub(crate) fn engine(&self) -> &Engine {
        match (self.transaction, self.snapshot) {
            (Some(open), _) => &open.engine,
            (None, Some(kept)) => &kept.engine,
            (None, None) => &self.api.engine,
        }
    }

    /// Returns the time of the snapshot at which the command reads.
    pub(crate) fn snapshot_time(&self) -> Option<ClusterTime> {
        self.snapshot.map(|kept| kept.time)
    }

    /// Returns the number of the transaction in which the command runs.
    pub(crate) fn transaction_number(&self) -> Option<i64> {
        self.transaction.map(|open| open.number)
    }

    /// Registers a collection that the command has created, which the snapshot of its transaction
    /// does not have.
    pub(crate) fn record_created(&self, collection: &Collection, is_created: bool) {
        if let Some(open) = self.transaction.filter(|_| is_created) {
            open.transaction.add_created(collection);
        }
    }
}
