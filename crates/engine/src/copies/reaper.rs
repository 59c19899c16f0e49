//! What compactions of copies drop. Floors come from the owner, as records of the catalog, in the order of its commits: what
//! has gone from a copy has expired for whoever owns the data then or later.

use std::{collections::BTreeMap, sync::Arc};

use bytes::Bytes;
use parking_lot::Mutex;
use store::{DropFilter, DropPredicate, KeyRange, Space, Store};

use crate::{
    catalog::ReapFloors,
    error::Error,
    keys,
    view::{Pages, SystemView},
};

/// Floors by the collection's id, as a copy has them.
type Floors = BTreeMap<u32, (Bytes, Arc<ReapFloors>)>;

/// What compactions of a copy ask.
#[derive(Debug, Default)]
struct CommittedFloors(Mutex<Floors>);

impl DropPredicate for CommittedFloors {
    fn filter_for(&self, space: Space) -> DropFilter {
        let floors = match space {
            Space::Rows(id) | Space::Index(id) => {
                self.0.lock().get(&id).map(|(_, floors)| Arc::clone(floors))
            }
            Space::Catalog | Space::Counts => None,
        };
        match floors {
            Some(floors) => Box::new(move |key, value| floors.drops(space, key, value)),
            None => Box::new(|_, _| false),
        }
    }
}

/// Has what the owner has reaped go from a copy, too.
#[derive(Debug, Default)]
pub struct CopyReaper {
    floors: Arc<CommittedFloors>,
    /// It has looked before: what is new since then is compacted, and not all there is.
    has_looked: bool,
}

impl CopyReaper {
    /// What the store's compactions ask from now on, until an engine is opened on it.
    pub fn put_in_force(&self, store: &impl Store) {
        store.set_drop_predicate(Arc::clone(&self.floors) as Arc<dyn DropPredicate>);
    }

    /// Looks which floors the owner has committed, and compacts what it has. Returns how many collections
    /// that were. After an error the same call does what is left.
    pub async fn look<S: Store>(&mut self, store: &S) -> Result<usize, Error> {
        let found = committed_floors(store).await?;
        let new: Vec<u32> = {
            let held = self.floors.0.lock();
            let is_new = |id: &u32| held.get(id).map(|(bytes, _)| bytes) != found.get(id);
            found.keys().copied().filter(is_new).collect()
        };
        // Dropped collections have none any more.
        self.floors.0.lock().retain(|id, _| found.contains_key(id));
        for id in &new {
            let Some(bytes) = found.get(id) else { continue };
            let before = {
                let floors = Arc::new(ReapFloors::decode(bytes)?);
                self.floors.0.lock().insert(*id, (bytes.clone(), floors))
            };
            // After a start tables are compacted as they grow, each under these floors.
            if !self.has_looked {
                continue;
            }
            if let Err(error) = compact(store, *id).await {
                let mut held = self.floors.0.lock();
                match before {
                    Some(before) => held.insert(*id, before),
                    None => held.remove(id),
                };
                return Err(error);
            }
        }
        let compacted = if self.has_looked { new.len() } else { 0 };
        self.has_looked = true;
        Ok(compacted)
    }
}

/// Entries go before rows, as at the owner.
async fn compact<S: Store>(store: &S, id: u32) -> Result<(), Error> {
    store.reap_space(Space::Index(id)).await?;
    store.reap_space(Space::Rows(id)).await?;
    Ok(())
}

/// The records, by the collection's id.
async fn committed_floors<S: Store>(store: &S) -> Result<BTreeMap<u32, Bytes>, Error> {
    let system = SystemView::new(store.snapshot());
    let mut found = BTreeMap::new();
    let mut pages = Pages::of(KeyRange::with_prefix(keys::FLOORS));
    while let Some(page) = system.next_catalog(&mut pages).await? {
        let known =
            |(key, value): (Bytes, Bytes)| Some((keys::floored_collection_id(&key)?, value));
        found.extend(page.rows.into_iter().filter_map(known));
    }
    Ok(found)
}
