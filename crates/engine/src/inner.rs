//! What all clones of an engine share: the parts, and no operation.

use std::sync::{Arc, atomic::AtomicBool};

use clock::Clock;
use store::Store;

use crate::{
    catalog::{CollectionIds, CollectionMap, Dialect},
    lanes::Lanes,
    persist::Persist,
    reaper::Reaper,
    resource::Resources,
    rules::Rules,
    view::{ActiveViews, Storage, ViewFactory},
};

/// The parts of an engine.
pub(crate) struct Inner<S: Store> {
    /// The store, and what views of it are opened from.
    pub(crate) views: ViewFactory<S>,
    /// Small records of the doors.
    pub(crate) resources: Resources,
    /// What the reaper knows, and the predicate that the store asks.
    pub(crate) reaper: Arc<Reaper>,
    /// The language that stored filters are in.
    pub(crate) dialect: Arc<dyn Dialect>,
    /// How a moved clock becomes durable.
    pub(crate) persist: Arc<dyn Persist>,
    /// Where long operations wait for their turn to compute.
    pub(crate) lanes: Lanes,
    /// Held by whoever makes, renames or drops a collection: one name at a time is looked at and
    /// changed.
    pub(crate) ids: tokio::sync::Mutex<CollectionIds>,
    /// Something of a dropped collection could not be removed yet.
    pub(crate) unfreed: AtomicBool,
    /// Moves of a manual clock are made one after the other.
    pub(crate) moving: tokio::sync::Mutex<()>,
    /// Held from a look at a manual clock until it is moved by that.
    pub(crate) clock_turns: tokio::sync::Mutex<()>,
}

impl<S: Store> Inner<S> {
    /// The store, of which documents are read through views alone.
    pub(crate) fn store(&self) -> &Storage<S> {
        &self.views.store
    }

    /// The database clock, which views and stamps have in common.
    pub(crate) fn clock(&self) -> &Arc<Clock> {
        &self.views.clock
    }

    /// The collections, by name.
    pub(crate) fn map(&self) -> &Arc<CollectionMap> {
        &self.views.map
    }

    /// The views that are open, which the reaper asks.
    pub(crate) fn active_views(&self) -> &Arc<ActiveViews> {
        &self.views.active
    }

    /// Constants in a shipped build.
    pub(crate) fn rules(&self) -> Rules {
        self.views.rules
    }
}
