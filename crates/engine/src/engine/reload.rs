//! Re-reads the cached catalog after the store was reopened: commits of unknown outcome may have
//! been applied, so the cached state may be wrong.

use std::{collections::BTreeMap, sync::Arc};

use store::Health;

use super::{
    Engine,
    open::{next_id, stored_records},
};
use crate::{
    catalog::{Collection, CollectionState, Record, encode_record},
    error::Error,
};

impl Engine {
    /// Re-reads the catalog and resumes commits if the store was reopened. Returns whether it was.
    pub async fn recover_reopened(&self) -> Result<bool, Error> {
        if self.inner.store().health() != Health::Reopened {
            return Ok(false);
        }
        // Names must not change during the reload; no commit is accepted before its end.
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

    /// Replaces the cached collections by the stored ones. An unchanged collection stays the same
    /// object, so that operations on it continue.
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
        // Missing collections are marked as dropped after the names were replaced, so that no
        // dropped collection is found by name.
        gone.into_values().for_each(|held| held.take_reloaded(None, now));
        self.resume_changes();
        Ok(())
    }
}
