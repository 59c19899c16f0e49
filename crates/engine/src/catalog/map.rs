//! Collections by name, read without a lock. A change copies the map, which is small and seldom
//! changes, and puts the copy in its place; readers keep the one they have.

use std::{collections::BTreeMap, sync::Arc};

use arc_swap::ArcSwap;

use super::Collection;
use crate::names::{Model, Namespace};

/// The two data models have namespaces of their own.
type Names = BTreeMap<(Model, Namespace), Arc<Collection>>;

/// All collections. Changed where commits are ordered, read everywhere.
#[derive(Debug, Default)]
pub(crate) struct CollectionMap(ArcSwap<Names>);

impl CollectionMap {
    /// The collection of this name.
    pub(crate) fn get(&self, model: Model, namespace: &Namespace) -> Option<Arc<Collection>> {
        self.0.load().get(&(model, namespace.clone())).cloned()
    }

    /// All of them, as they are now.
    pub(crate) fn all_collections(&self) -> Arc<Names> {
        self.0.load_full()
    }

    /// Puts these in the place of all.
    pub(crate) fn replace_all(&self, names: BTreeMap<(Model, Namespace), Arc<Collection>>) {
        self.0.store(Arc::new(names));
    }

    /// Adds a collection; called as the commit that made it is published.
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

    /// Takes a name away; operations that have the collection find it dropped.
    pub(crate) fn remove(&self, model: Model, namespace: &Namespace) {
        self.0.rcu(|names| {
            let mut names = Names::clone(names);
            names.remove(&(model, namespace.clone()));
            names
        });
    }
}
