//! Reads again what is held in memory of the catalog, after a store was opened again: commits whose
//! outcome nobody knew may have taken place, and what memory says of them may be wrong.

use std::{collections::BTreeMap, sync::Arc};

use store::{Health, Store};

use super::{
    Engine,
    open::{next_id, stored_records},
};
use crate::{
    catalog::{Collection, CollectionState, Record, encode_record},
    error::Error,
};

impl<S: Store> Engine<S> {
    /// Makes a store that was opened again take commits. Returns whether it had to be done.
    pub async fn recover_reopened(&self) -> Result<bool, Error> {
        if self.inner.store().health() != Health::Anew {
            return Ok(false);
        }
        // Nobody changes names meanwhile, and no commit is taken before the end.
        let mut ids = self.inner.ids.lock().await;
        let records = stored_records(self.inner.store()).await?;
        ids.at_least(next_id(self.inner.store(), &records).await?);
        self.reload_collections(records)?;
        self.inner.resources.reload(self.inner.store()).await?;
        self.inner.store().resume_commits();
        drop(ids);
        self.free_unfinished().await?;
        Ok(true)
    }

    /// Puts what is stored in the place of what is in memory. A collection that has not changed
    /// stays the same object, so that operations on it go on.
    fn reload_collections(&self, records: Vec<Record>) -> Result<(), Error> {
        let before = self.inner.map().all_collections();
        let now = self.inner.clock().last_used();
        let state = |record| CollectionState::new(record, &*self.inner.dialect);
        let mut gone: BTreeMap<u32, _> = before.values().map(|held| (held.id, held)).collect();
        before.values().for_each(|held| held.recheck_last_change());
        let mut names = BTreeMap::new();
        for record in records {
            let name = (record.model, record.namespace.clone());
            let collection = match gone.remove(&record.id) {
                Some(held) if encode_record(&held.state().record) == encode_record(&record) => {
                    Arc::clone(held)
                }
                Some(held) => {
                    held.take_reloaded(Some(state(record)?), now);
                    Arc::clone(held)
                }
                None => Arc::new(Collection::new(state(record)?, now)),
            };
            names.insert(name, collection);
        }
        self.inner.map().replace_all(names);
        // After the names: whoever finds it dropped must not find it by name again.
        gone.into_values().for_each(|held| held.take_reloaded(None, now));
        Ok(())
    }
}
