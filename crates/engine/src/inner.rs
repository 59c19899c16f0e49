//! The components that all clones of an engine share.

use std::sync::{Arc, atomic::AtomicBool};

use clock::Clock;
use tokio::sync::oneshot;

use crate::{
    catalog::{CollectionIds, CollectionMap, Dialect},
    change_log::ChangeLog,
    intents::IntentTable,
    lanes::Lanes,
    persist::Persist,
    reaper::Reaper,
    resource::Resources,
    row_queues::RowQueues,
    rules::Rules,
    turns::Turns,
    view::{ActiveViews, Storage, ViewFactory},
};

/// The shared components of an engine.
pub(crate) struct Inner {
    /// The store and the factory of its views.
    pub(crate) views: ViewFactory,
    /// Small records of the APIs.
    pub(crate) resources: Resources,
    /// State of the reaper, including the drop predicate of the store.
    pub(crate) reaper: Arc<Reaper>,
    /// Parses the filters of partial indexes.
    pub(crate) dialect: Arc<dyn Dialect>,
    /// Stores the checkpoint of the clock when a manual clock is moved.
    pub(crate) persist: Arc<dyn Persist>,
    /// Lanes in which long operations take turns to compute.
    pub(crate) lanes: Lanes,
    /// Permits for the memory of writes of large documents.
    pub(crate) large_writes: Turns,
    /// Queues of the operations that update the same document.
    pub(crate) row_queues: Arc<RowQueues>,
    /// The keys that open transactions have written.
    pub(crate) intents: Arc<IntentTable>,
    /// Held while a collection is created, renamed or dropped, so that names change one at a time.
    pub(crate) ids: tokio::sync::Mutex<CollectionIds>,
    /// Whether data of a dropped collection still has to be deleted.
    pub(crate) unfreed: AtomicBool,
    /// Serializes moves of a manual clock.
    pub(crate) moving: tokio::sync::Mutex<()>,
    /// Held from reading a manual clock until it is moved relative to that reading.
    pub(crate) clock_turns: tokio::sync::Mutex<()>,
    /// Dropped when the engine no longer uses the store, so that the receiver of
    /// [`Options::gone`](crate::engine::Options::gone) completes. The last field, so that it is
    /// dropped after the store.
    pub(crate) _gone: Option<oneshot::Sender<()>>,
}

impl Inner {
    /// Returns the store; documents must be read through views.
    pub(crate) fn store(&self) -> &Storage {
        &self.views.store
    }

    pub(crate) fn changes(&self) -> &Arc<ChangeLog> {
        self.views.store.changes()
    }

    /// Returns the database clock, shared by views and stamps.
    pub(crate) fn clock(&self) -> &Arc<Clock> {
        &self.views.clock
    }

    /// Returns the collections by name.
    pub(crate) fn map(&self) -> &Arc<CollectionMap> {
        &self.views.map
    }

    /// Returns the registry of open views, used by the reaper.
    pub(crate) fn active_views(&self) -> &Arc<ActiveViews> {
        &self.views.active
    }

    /// Returns the rules that test builds can disable; constants in a shipped build.
    pub(crate) fn rules(&self) -> Rules {
        self.views.rules
    }
}
