//! What the tree asks the store: which rows flushes and compactions drop, and whether the journal is
//! durable far enough for a table.

use std::{collections::HashMap, sync::Arc};

use journal::Journal;
use parking_lot::{Mutex, RwLock};
use store::{DropFilter, DropPredicate, Error, Space};
use tree::{End, Hooks, Placement};

/// The drop predicate in effect, shared by all openings of a store.
#[derive(Clone, Default)]
pub(crate) struct PredicateInForce(Arc<Mutex<Option<Arc<dyn DropPredicate>>>>);

impl PredicateInForce {
    /// Sets the drop predicate for flushes and compactions that start from now on.
    pub(crate) fn set_predicate(&self, predicate: Arc<dyn DropPredicate>) {
        *self.0.lock() = Some(predicate);
    }

    /// Returns the filter for one flush or compaction of a space; `None` before a predicate was set.
    pub(crate) fn filter_for(&self, space: Space) -> Option<DropFilter> {
        let held = self.0.lock().clone();
        held.map(|predicate| predicate.filter_for(space))
    }
}

/// The journal that tables must not be ahead of.
enum Log {
    Open(Arc<dyn Journal>),
    /// The journal was released for the next opening.
    Released,
    /// The tree is built from a base, which becomes durable as a whole.
    Unused,
}

/// The hooks of one opening.
pub(crate) struct StoreHooks {
    predicate: PredicateInForce,
    log: Mutex<Log>,
    /// The spaces by their numbers in the tree.
    spaces: RwLock<HashMap<u64, Space>>,
    /// The error of the last sync of the journal, if it failed.
    failure: Mutex<Option<Error>>,
}

impl StoreHooks {
    /// Creates hooks without spaces; without a journal, for a tree that is built from a base.
    pub(crate) fn new(predicate: &PredicateInForce, journal: Option<Arc<dyn Journal>>) -> Self {
        let log = Mutex::new(journal.map_or(Log::Unused, Log::Open));
        let predicate = predicate.clone();
        Self { predicate, log, spaces: RwLock::default(), failure: Mutex::default() }
    }

    /// Releases the journal, and with it its lock. Nothing can be flushed any more.
    pub(crate) fn release_journal(&self) {
        *self.log.lock() = Log::Released;
    }

    /// Sets the space of a number.
    pub(crate) fn record_space(&self, number: u64, space: Space) {
        self.spaces.write().insert(number, space);
    }

    /// Removes the number of a dropped space.
    pub(crate) fn forget_space(&self, number: u64) {
        self.spaces.write().remove(&number);
    }

    /// Returns the error of a failed sync of the journal, and forgets it.
    pub(crate) fn take_failure(&self) -> Option<Error> {
        self.failure.lock().take()
    }
}

impl Hooks for StoreHooks {
    fn place(&self, _: u64, _: &[u8], value: &[u8]) -> Placement {
        // The whole value stays with its key.
        Placement { inline: value.len(), end: None, group: 0 }
    }

    fn filter(&self, space: u64) -> Option<tree::DropFilter> {
        let space = self.spaces.read().get(&space).copied();
        // Nothing else expires.
        let space = space.filter(|space| matches!(space, Space::Rows(_) | Space::Index(_)))?;
        self.predicate.filter_for(space)
    }

    fn has_ended(&self, _: u64, _: End) -> bool {
        false
    }

    fn sync_log(&self, _: u64) -> Result<(), tree::Error> {
        let journal = match &*self.log.lock() {
            Log::Open(journal) => Arc::clone(journal),
            Log::Unused => return Ok(()),
            Log::Released => {
                return Err(tree::Error::Refused("the store is being reopened".to_owned()));
            }
        };
        journal.sync().map_err(|error| {
            let text = format!("sync the journal: {error}");
            *self.failure.lock() = Some(error);
            tree::Error::Refused(text)
        })
    }
}
