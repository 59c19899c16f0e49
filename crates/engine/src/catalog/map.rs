//! Collections by name, read without a lock.

use std::{collections::BTreeMap, fmt, sync::Arc};

use arc_swap::ArcSwap;

use super::{Collection, Model};

/// A collection's name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Namespace {
    /// Database.
    pub database: String,
    /// Collection.
    pub collection: String,
}

impl Namespace {
    /// A name from its parts.
    pub fn new(database: impl Into<String>, collection: impl Into<String>) -> Self {
        Self { database: database.into(), collection: collection.into() }
    }
}

impl fmt::Display for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.database, self.collection)
    }
}

type Names = BTreeMap<(Model, Namespace), Arc<Collection>>;

/// All collections. Changed where commits are ordered, read everywhere.
#[derive(Debug, Default)]
pub(crate) struct Map(ArcSwap<Names>);

impl Map {
    pub(crate) fn get(&self, model: Model, namespace: &Namespace) -> Option<Arc<Collection>> {
        self.0.load().get(&(model, namespace.clone())).cloned()
    }

    pub(crate) fn all(&self) -> Arc<Names> {
        self.0.load_full()
    }

    /// Puts these in the place of all.
    pub(crate) fn set(&self, names: BTreeMap<(Model, Namespace), Arc<Collection>>) {
        self.0.store(Arc::new(names));
    }

    pub(crate) fn insert(&self, model: Model, namespace: Namespace, collection: Arc<Collection>) {
        self.0.rcu(|names| {
            let mut names = Names::clone(names);
            names.insert((model, namespace.clone()), Arc::clone(&collection));
            names
        });
    }

    /// Both names change at once: nobody finds the collection under neither.
    pub(crate) fn rename(
        &self,
        model: Model,
        from: &Namespace,
        to: Namespace,
        collection: Arc<Collection>,
    ) {
        self.0.rcu(|names| {
            let mut names = Names::clone(names);
            names.remove(&(model, from.clone()));
            names.insert((model, to.clone()), Arc::clone(&collection));
            names
        });
    }

    pub(crate) fn remove(&self, model: Model, namespace: &Namespace) {
        self.0.rcu(|names| {
            let mut names = Names::clone(names);
            names.remove(&(model, namespace.clone()));
            names
        });
    }
}
