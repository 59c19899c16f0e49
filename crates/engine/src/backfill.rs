//! The backfill of counters that a change of a collection started. Writers maintain the counters
//! from the commit of that change on; `expire::build` adds the rows that existed before.

use std::sync::Arc;

use crate::{catalog::CollectionState, view::Frozen};

/// Rows that have to be added to new counters, because no writer has counted them.
pub(crate) struct Backfill {
    /// The collection's state with the change that started the new counters.
    pub(crate) state: Arc<CollectionState>,
    /// A snapshot in which the rows are read; while it exists, none of them is reaped.
    pub(crate) rows: Frozen,
}
