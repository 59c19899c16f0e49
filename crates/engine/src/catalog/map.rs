//! Collections by name, read without a lock. A change copies the map, which is small and rarely
//! changes, and swaps in the copy; readers keep the version they have.

use std::{borrow::Borrow, cmp::Ordering, collections::BTreeMap, sync::Arc};

use arc_swap::ArcSwap;
use parking_lot::Mutex;

use super::Collection;
use crate::names::{Model, Namespace};

/// The collections by data model and namespace; each model has its own namespaces.
type Names = BTreeMap<(Model, Namespace), Arc<Collection>>;

/// A key of the map whose parts may be borrowed, so that a look-up copies no name.
trait NameKey {
    fn parts(&self) -> (Model, &str, &str);
}

impl NameKey for (Model, Namespace) {
    fn parts(&self) -> (Model, &str, &str) {
        (self.0, &self.1.database, &self.1.collection)
    }
}

impl NameKey for (Model, &str, &str) {
    fn parts(&self) -> (Model, &str, &str) {
        *self
    }
}

impl<'k> Borrow<dyn NameKey + 'k> for (Model, Namespace) {
    fn borrow(&self) -> &(dyn NameKey + 'k) {
        self
    }
}

// The order has to be that of `(Model, Namespace)`.
impl Ord for dyn NameKey + '_ {
    fn cmp(&self, other: &Self) -> Ordering {
        self.parts().cmp(&other.parts())
    }
}

impl PartialOrd for dyn NameKey + '_ {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for dyn NameKey + '_ {
    fn eq(&self, other: &Self) -> bool {
        self.parts() == other.parts()
    }
}

impl Eq for dyn NameKey + '_ {}

/// All collections by name. Changed when commits are published, read everywhere.
#[derive(Debug, Default)]
pub(crate) struct CollectionMap {
    names: ArcSwap<Names>,
    /// Databases into which commits in flight put collections. Such a commit may outlive the task
    /// that requested it, so a lock of that task would not suffice.
    pending: Mutex<Vec<(Model, String)>>,
}

/// The announcement that a commit puts a collection into a database. The commit's fence holds it
/// until the collection is in the map or the commit has failed.
#[derive(Debug)]
pub(crate) struct PendingCreation {
    map: Arc<CollectionMap>,
    database: (Model, String),
}

impl Drop for PendingCreation {
    fn drop(&mut self) {
        let mut pending = self.map.pending.lock();
        if let Some(at) = pending.iter().position(|held| *held == self.database) {
            pending.swap_remove(at);
        }
    }
}

impl CollectionMap {
    /// Announces a collection in a database. In the document model, a database whose name differs
    /// from an existing one only in ASCII case is refused with the existing name: some file systems
    /// and MongoDB treat such names as equal. Where an older data directory has both, both stay
    /// usable. Check and announcement are atomic, so concurrent commits cannot introduce two.
    pub(crate) fn announce(
        self: &Arc<Self>,
        model: Model,
        database: &str,
    ) -> Result<PendingCreation, String> {
        let mut pending = self.pending.lock();
        // Announcements are read before the map: each is dropped only after its collection is in
        // the map, so no collection is missed.
        let announced = pending.iter().map(|(model, database)| (*model, database));
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
                pending.push(database.clone());
                Ok(PendingCreation { map: Arc::clone(self), database })
            }
        }
    }

    /// Returns the collection with this name.
    pub(crate) fn get(
        &self,
        model: Model,
        database: &str,
        collection: &str,
    ) -> Option<Arc<Collection>> {
        self.names.load().get(&(model, database, collection) as &dyn NameKey).cloned()
    }

    /// Returns a snapshot of all collections by name.
    pub(crate) fn all_collections(&self) -> Arc<Names> {
        self.names.load_full()
    }

    pub(crate) fn replace_all(&self, names: BTreeMap<(Model, Namespace), Arc<Collection>>) {
        self.names.store(Arc::new(names));
    }

    /// Adds a collection; called when the commit that created it is published.
    pub(crate) fn insert(&self, model: Model, namespace: Namespace, collection: Arc<Collection>) {
        self.names.rcu(|names| {
            let mut names = Names::clone(names);
            names.insert((model, namespace.clone()), Arc::clone(&collection));
            names
        });
    }

    /// Renames a collection atomically: at every moment it is found under exactly one name.
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

    /// Removes a collection from the map. Operations that still use the collection find it dropped.
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
    fn borrowed_names_are_in_the_order_of_the_keys() {
        let name = |database: &str, collection: &str| Namespace::new(database, collection);
        let mut keys = Vec::new();
        for model in [Model::Documents, Model::Items, Model::Receipts] {
            for (database, collection) in
                [("a", ""), ("a", "b"), ("a", "b.c"), ("ab", "a"), ("b", "a")]
            {
                keys.push((model, name(database, collection)));
            }
        }
        for one in &keys {
            for other in &keys {
                let borrowed = (other.0, other.1.database.as_str(), other.1.collection.as_str());
                let order = (one as &dyn NameKey).cmp(&borrowed as &dyn NameKey);
                assert_eq!(order, one.cmp(other));
            }
        }
    }

    #[test]
    fn an_announced_database_keeps_others_away_as_one_that_is_there() {
        let map = Arc::new(CollectionMap::default());
        let announce = |model, name: &str| map.announce(model, name);
        let held = announce(Model::Documents, "r").unwrap();
        assert_eq!(announce(Model::Documents, "R").unwrap_err(), "r");
        // Other collections of the same database, other databases and other models may be
        // announced.
        let again = announce(Model::Documents, "r").unwrap();
        drop(announce(Model::Documents, "s").unwrap());
        drop(announce(Model::Items, "R").unwrap());
        drop(held);
        assert_eq!(announce(Model::Documents, "R").unwrap_err(), "r");
        drop(again);
        assert!(announce(Model::Documents, "R").is_ok());
    }
}
