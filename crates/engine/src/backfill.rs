//! The backfill of counters that a change of a collection started. Writers maintain the counters
//! from that commit on; `expire::build` adds the rows that existed before.

use std::sync::Arc;

use store::Store;

use crate::{catalog::CollectionState, view::Frozen};

/// Rows to add to new counters: those that no writer has counted.
pub(crate) struct Backfill<S: Store> {
    /// The collection's state that started the new counters.
    pub(crate) state: Arc<CollectionState>,
    /// Held so that none of these rows is reaped before it is counted.
    pub(crate) rows: Frozen<S>,
}
