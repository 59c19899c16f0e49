//! What views are opened from.

use std::sync::Arc;

use clock::Clock;
use store::Store;

use super::{active::ActiveViews, storage::Storage};
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
    /// Of a store and the rows of it that are kept in memory.
    pub(crate) fn new(
        store: Storage<S>,
        clock: Arc<Clock>,
        map: Arc<CollectionMap>,
        rules: Rules,
    ) -> Self {
        let active = Arc::new(ActiveViews::new(store.row_cache()));
        Self { store, clock, map, active, rules }
    }
}
