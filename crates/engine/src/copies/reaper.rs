//! Reaping in copies. Reap floors (the bounds up to which expired data may be dropped) come from
//! the owner as catalog records, in the order of its commits: a row that a copy drops has expired
//! for every present and later owner.

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

/// The drop predicate of a copy: the committed reap floors, by collection id.
#[derive(Debug, Default)]
struct CommittedFloors(Mutex<BTreeMap<u32, Arc<ReapFloors>>>);

impl DropPredicate for CommittedFloors {
    fn filter_for(&self, space: Space) -> DropFilter {
        let floors = match space {
            Space::Rows(id) | Space::Index(id) => self.0.lock().get(&id).map(Arc::clone),
            Space::Catalog | Space::Counts => None,
        };
        match floors {
            Some(floors) => Box::new(move |key, value| floors.drops(space, key, value)),
            None => Box::new(|_, _| false),
        }
    }
}

/// Removes from a copy the data that the store's owner has declared removable.
#[derive(Debug, Default)]
pub struct CopyReaper {
    floors: Arc<CommittedFloors>,
    /// The floors record with which each collection was last compacted; `None` before the first
    /// pass.
    compacted: Option<BTreeMap<u32, Bytes>>,
}

impl CopyReaper {
    /// Installs the drop predicate in the store, in effect until an engine is opened on it.
    pub fn put_in_force(&self, store: &dyn Store) {
        store.set_drop_predicate(Arc::clone(&self.floors) as Arc<dyn DropPredicate>);
    }

    /// Reads the floors that the owner has committed and compacts the collections whose floors
    /// changed. Returns the number of collections compacted. After an error or cancellation the
    /// next call continues.
    pub async fn reap_committed(&mut self, store: &dyn Store) -> Result<usize, Error> {
        let found = committed_floors(store).await?;
        let before = self.compacted.as_ref();
        let is_new = |(id, record): &(&u32, &Bytes)| {
            before.and_then(|compacted| compacted.get(*id)) != Some(*record)
        };
        let new: Vec<(u32, Bytes)> =
            found.iter().filter(is_new).map(|(id, record)| (*id, record.clone())).collect();
        for (id, record) in &new {
            let floors = Arc::new(ReapFloors::decode(record)?);
            self.floors.0.lock().insert(*id, floors);
        }
        // Dropped collections have no floors.
        self.floors.0.lock().retain(|id, _| found.contains_key(id));
        let Some(compacted) = &mut self.compacted else {
            // The first pass compacts nothing: since the start the store itself compacts tables as
            // they grow, from now on under these floors.
            self.compacted = Some(found);
            return Ok(0);
        };
        compacted.retain(|id, _| found.contains_key(id));
        let count = new.len();
        for (id, record) in new {
            compact(store, id).await?;
            compacted.insert(id, record);
        }
        Ok(count)
    }
}

/// Compacts a collection of a copy; entries are dropped before rows, as on the owner.
async fn compact(store: &dyn Store, id: u32) -> Result<(), Error> {
    store.reap_space(Space::Index(id)).await?;
    store.reap_space(Space::Rows(id)).await?;
    Ok(())
}

/// Returns the floors records by collection id.
async fn committed_floors(store: &dyn Store) -> Result<BTreeMap<u32, Bytes>, Error> {
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
