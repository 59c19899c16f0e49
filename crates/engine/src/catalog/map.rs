//! Collections by name, read without a lock. A change copies the map, which is small and seldom
//! changes, and puts the copy in its place; readers keep the one they have.

use std::{collections::BTreeMap, sync::Arc};

use arc_swap::ArcSwap;
use parking_lot::Mutex;

use super::Collection;
use crate::names::{Model, Namespace};

/// The two data models have namespaces of their own.
type Names = BTreeMap<(Model, Namespace), Arc<Collection>>;

/// All collections. Changed where commits are ordered, read everywhere.
#[derive(Debug, Default)]
pub(crate) struct CollectionMap {
    names: ArcSwap<Names>,
    /// The databases that commits under way put collections into. A commit may be under way after the
    /// task that asked for it was cancelled, so no lock of that task can stand for it.
    coming: Mutex<Vec<(Model, String)>>,
}

/// The announcement that a commit puts a collection into a database. The commit's fence holds it until
/// the collection is in the map, or the commit has failed.
#[derive(Debug)]
pub(crate) struct Coming {
    map: Arc<CollectionMap>,
    database: (Model, String),
}

impl Drop for Coming {
    fn drop(&mut self) {
        let mut coming = self.map.coming.lock();
        if let Some(at) = coming.iter().position(|held| *held == self.database) {
            coming.swap_remove(at);
        }
    }
}

impl CollectionMap {
    /// Announces a collection in a database. Names of databases of documents that differ in ASCII case
    /// only are the same to some file systems and to MongoDB, so there cannot be two; where an older data
    /// directory has two, both stay usable. The check and the announcement are one step: of two commits
    /// that would bring the two names, the second is refused with the name that is there.
    pub(crate) fn announce(
        self: &Arc<Self>,
        model: Model,
        database: &str,
    ) -> Result<Coming, String> {
        let mut coming = self.coming.lock();
        // In this order: an announcement is dropped after its collection is in the map.
        let announced = coming.iter().map(|(model, database)| (*model, database));
        let names = self.names.load();
        let held = names.keys().map(|(model, namespace)| (*model, &namespace.database));
        let (mut other, mut is_there) = (None, model != Model::Documents);
        for (_, name) in announced.chain(held).filter(|(held, _)| *held == model) {
            if name == database {
                is_there = true;
                break;
            }
            if other.is_none() && name.eq_ignore_ascii_case(database) {
                other = Some(name.clone());
            }
        }
        match other {
            Some(other) if !is_there => Err(other),
            _ => {
                let database = (model, database.to_owned());
                coming.push(database.clone());
                Ok(Coming { map: Arc::clone(self), database })
            }
        }
    }

    /// The collection of this name.
    pub(crate) fn get(&self, model: Model, namespace: &Namespace) -> Option<Arc<Collection>> {
        self.names.load().get(&(model, namespace.clone())).cloned()
    }

    /// All of them, as they are now.
    pub(crate) fn all_collections(&self) -> Arc<Names> {
        self.names.load_full()
    }

    /// Puts these in the place of all.
    pub(crate) fn replace_all(&self, names: BTreeMap<(Model, Namespace), Arc<Collection>>) {
        self.names.store(Arc::new(names));
    }

    /// Adds a collection; called as the commit that made it is published.
    pub(crate) fn insert(&self, model: Model, namespace: Namespace, collection: Arc<Collection>) {
        self.names.rcu(|names| {
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
        self.names.rcu(|names| {
            let mut names = Names::clone(names);
            names.remove(&(model, from.clone()));
            names.insert((model, to.clone()), Arc::clone(&collection));
            names
        });
    }

    /// Takes a name away; operations that have the collection find it dropped.
    pub(crate) fn remove(&self, model: Model, namespace: &Namespace) {
        self.names.rcu(|names| {
            let mut names = Names::clone(names);
            names.remove(&(model, namespace.clone()));
            names
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_announced_database_keeps_others_away_as_one_that_is_there() {
        let map = Arc::new(CollectionMap::default());
        let announce = |model, name: &str| map.announce(model, name);
        let held = announce(Model::Documents, "r").unwrap();
        assert_eq!(announce(Model::Documents, "R").unwrap_err(), "r");
        // Another collection of the same database, other databases and other models may come.
        let again = announce(Model::Documents, "r").unwrap();
        drop(announce(Model::Documents, "s").unwrap());
        drop(announce(Model::Items, "R").unwrap());
        drop(held);
        assert_eq!(announce(Model::Documents, "R").unwrap_err(), "r");
        drop(again);
        assert!(announce(Model::Documents, "R").is_ok());
    }
}
