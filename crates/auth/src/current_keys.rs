//! The keys of an account as they are now: a server reads them again while it runs, and whoever checks a
//! request looks once and goes by what it saw.

use std::sync::Arc;

use arc_swap::ArcSwap;

use crate::keys::Keys;

/// The keys of an account, which may be replaced. Clones are the same ones.
#[derive(Clone, Debug)]
pub struct CurrentKeys(Arc<ArcSwap<Keys>>);

impl CurrentKeys {
    /// Begins with these.
    pub fn new(keys: Keys) -> Self {
        Self(Arc::new(ArcSwap::from_pointee(keys)))
    }

    /// Returns the keys of this moment.
    pub fn load(&self) -> Arc<Keys> {
        self.0.load_full()
    }

    /// Replaces all of them: what is checked from now on is checked with these.
    pub fn replace(&self, keys: Keys) {
        self.0.store(Arc::new(keys));
    }
}

impl From<Keys> for CurrentKeys {
    fn from(keys: Keys) -> Self {
        Self::new(keys)
    }
}
