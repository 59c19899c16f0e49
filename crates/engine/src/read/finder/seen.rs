//! The rows that a scan has returned, if several candidates may lead to one row.

use std::collections::HashSet;

use evaluation::Context;
use memory::Share;

use crate::{error::Error, limits::SEEN_BYTES};

/// A set of row keys whose memory is charged to the operation.
#[derive(Debug, Default)]
pub(super) struct SeenRows {
    keys: HashSet<Box<[u8]>>,
    /// Memory reserved for the keys; `None` while the set is empty.
    held: Option<Share>,
}

impl SeenRows {
    /// Adds a row; returns whether it was new.
    pub(super) fn note(&mut self, row_key: &[u8], context: &Context) -> Result<bool, Error> {
        // Copied, so that the key does not keep the store's block in memory.
        if !self.keys.insert(row_key.into()) {
            return Ok(false);
        }
        let held = self.held.get_or_insert_with(|| context.operation_memory.share());
        held.grow(row_key.len() + SEEN_BYTES)?;
        Ok(true)
    }

    /// Removes a row whose candidate will be read again.
    pub(super) fn forget(&mut self, row_key: &[u8]) {
        self.keys.remove(row_key);
    }
}
