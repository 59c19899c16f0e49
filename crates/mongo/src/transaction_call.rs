//! A command that runs in a transaction: its handle of the engine, and the collections that it
//! creates.

use std::sync::Arc;

use engine::{Collection, Engine};

use crate::{call::Call, transaction_table::OpenTransaction};

impl Call<'_> {
    /// Returns this call as a statement of a transaction.
    pub(crate) fn in_transaction<'b>(&'b self, open: &'b OpenTransaction) -> Call<'b> {
        Call { transaction: Some(open), operation: Arc::clone(&self.operation), ..*self }
    }

    /// Returns the engine through which the command reads and writes documents: in a transaction
    /// the handle that belongs to it.
    pub(crate) fn engine(&self) -> &Engine {
        self.transaction.map_or(&self.api.engine, |open| &open.engine)
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
