//! The current keys of an account. A running server may replace them; a check of a request loads
//! them once and uses that version.

use std::sync::Arc;

use arc_swap::ArcSwap;

use crate::keys::Keys;

/// The keys of an account, which may be replaced. Clones share them.
#[derive(Clone, Debug)]
pub struct CurrentKeys(Arc<ArcSwap<Keys>>);

impl CurrentKeys {
    /// Creates replaceable keys that are initially these.
    pub fn new(keys: Keys) -> Self {
        Self(Arc::new(ArcSwap::from_pointee(keys)))
    }

    /// Returns the keys that are in effect now.
    pub fn load(&self) -> Arc<Keys> {
        self.0.load_full()
    }

    /// Replaces all keys; checks that start later use the new ones.
    pub fn replace(&self, keys: Keys) {
        self.0.store(Arc::new(keys));
    }
}

impl From<Keys> for CurrentKeys {
    fn from(keys: Keys) -> Self {
        Self::new(keys)
    }
}
