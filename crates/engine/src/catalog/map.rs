//! Collections by name, read without a lock.

use std::{collections::BTreeMap, sync::Arc};

use arc_swap::ArcSwap;

use super::Collection;
use crate::names::{Model, Namespace};

type Names = BTreeMap<(Model, Namespace), Arc<Collection>>;

/// All collections. Changed where commits are ordered, read everywhere.
#[derive(Debug, Default)]
pub(crate) struct CollectionMap(ArcSwap<Names>);

impl CollectionMap {
    pub(crate) fn get(&self, model: Model, namespace: &Namespace) -> Option<Arc<Collection>> {
        self.0.load().get(&(model, namespace.clone())).cloned()
    }

    pub(crate) fn all_collections(&self) -> Arc<Names> {
        self.0.load_full()
    }

    /// Puts these in the place of all.
    pub(crate) fn replace_all(&self, names: BTreeMap<(Model, Namespace), Arc<Collection>>) {
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
