//! Holds the components that are needed to open a view.

use std::sync::Arc;

use clock::Clock;

use super::{active::ActiveViews, storage::Storage};
use crate::{catalog::CollectionMap, rules::Rules};

/// The components needed to open a view.
pub(crate) struct ViewFactory {
    pub(crate) store: Storage,
    /// The database clock, which determines the instant of a view.
    pub(crate) clock: Arc<Clock>,
    pub(crate) map: Arc<CollectionMap>,
    /// The registry in which every open view is recorded.
    pub(crate) active: Arc<ActiveViews>,
    /// The rules of views, all enabled except in builds for tests.
    pub(crate) rules: Rules,
}

impl ViewFactory {
    /// Creates a factory for a store and its row cache.
    pub(crate) fn new(
        store: Storage,
        clock: Arc<Clock>,
        map: Arc<CollectionMap>,
        rules: Rules,
    ) -> Self {
        let active = Arc::new(ActiveViews::new(store.row_cache()));
        Self { store, clock, map, active, rules }
    }
}
