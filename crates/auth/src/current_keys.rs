//! The current keys of the Cosmos DB account. A running server may replace them; each check of a
//! request uses the keys that were current when the check started.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use arc_swap::ArcSwap;

use crate::keys::Keys;

/// The keys of the Cosmos DB account, which may be replaced. Clones share them.
#[derive(Clone, Debug)]
pub struct CurrentKeys(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    keys: ArcSwap<Keys>,
    /// Number of times that the keys were replaced.
    changes: AtomicU64,
}

impl CurrentKeys {
    /// Creates replaceable keys with this initial value.
    pub fn new(keys: Keys) -> Self {
        let changes = AtomicU64::new(0);
        Self(Arc::new(Inner { keys: ArcSwap::from_pointee(keys), changes }))
    }

    /// Returns the keys that are in effect now.
    pub fn load(&self) -> Arc<Keys> {
        self.0.keys.load_full()
    }

    /// Replaces all keys; checks that start later use the new ones.
    pub fn replace(&self, keys: Keys) {
        self.0.keys.store(Arc::new(keys));
        self.0.changes.fetch_add(1, Ordering::AcqRel);
    }

    /// Returns how often the keys were replaced. A result that depends on keys which are loaded
    /// after this call is valid while the number stays the same.
    pub fn changes(&self) -> u64 {
        self.0.changes.load(Ordering::Acquire)
    }
}

impl From<Keys> for CurrentKeys {
    fn from(keys: Keys) -> Self {
        Self::new(keys)
    }
}
