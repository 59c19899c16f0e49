//! Counters that a change of a collection began, and the rows that were there then. Writers keep
//! the counters from that commit on; `expire::build` adds what was there before.

use std::sync::Arc;

use store::Store;

use crate::{catalog::CollectionState, view::Frozen};

/// What is to be added to new counters: rows that no writer has counted in them.
pub(crate) struct Backfill<S: Store> {
    /// The state that the change put in force.
    pub(crate) state: Arc<CollectionState>,
    /// None of these rows may be reaped before the counters know them.
    pub(crate) rows: Frozen<S>,
}
