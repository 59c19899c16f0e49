//! The rows that a walk has returned, where several candidates may lead to one row.

use std::collections::HashSet;

use evaluation::Context;
use memory::Share;

use crate::{error::Error, limits::SEEN_BYTES};

/// Keys of rows, which count as memory of the operation.
#[derive(Debug, Default)]
pub(super) struct SeenRows {
    keys: HashSet<Box<[u8]>>,
    /// The memory that they take, once there is one.
    held: Option<Share>,
}

impl SeenRows {
    /// Notes a row, and returns whether it was not noted before.
    pub(super) fn note(&mut self, row_key: &[u8], context: &Context) -> Result<bool, Error> {
        // A copy: the block of the store that the key came in shall not wait with it.
        if !self.keys.insert(row_key.into()) {
            return Ok(false);
        }
        let held = self.held.get_or_insert_with(|| context.holding.share());
        held.grow(row_key.len() + SEEN_BYTES)?;
        Ok(true)
    }

    /// Forgets a row whose candidate comes again.
    pub(super) fn forget(&mut self, row_key: &[u8]) {
        self.keys.remove(row_key);
    }
}
