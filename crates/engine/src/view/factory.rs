//! What views are opened from.

use std::sync::Arc;

use clock::Clock;
use store::Store;

use super::{active::ActiveViews, row_cache::RowCache, storage::Storage};
use crate::{catalog::CollectionMap, rules::Rules};

/// What the protocol of opening a view needs, in one place.
pub(crate) struct ViewFactory<S: Store> {
    /// What is stored.
    pub(crate) store: Storage<S>,
    /// Where instants come from.
    pub(crate) clock: Arc<Clock>,
    /// The collections, by name.
    pub(crate) map: Arc<CollectionMap>,
    /// The views that are open.
    pub(crate) active: Arc<ActiveViews>,
    /// Constants but in tests of the tests.
    pub(crate) rules: Rules,
}

impl<S: Store> ViewFactory<S> {
    /// Of a store, with this many bytes for rows that were read lately.
    pub(crate) fn new(
        store: Storage<S>,
        clock: Arc<Clock>,
        map: Arc<CollectionMap>,
        row_cache_bytes: usize,
        rules: Rules,
    ) -> Self {
        let rows = RowCache::new(row_cache_bytes, store.last_writes());
        Self { store, clock, map, active: Arc::new(ActiveViews::new(rows)), rules }
    }
}
