//! Opens an engine on a store: reads the catalog, compares it with the store's key spaces (each
//! collection has one for its rows and one for its index entries), and removes remains of
//! incomplete changes.
//!
//! Damage is detected before any collection is modified, so a refused start has changed nothing.

use std::{
    collections::BTreeSet,
    sync::{Arc, atomic::AtomicBool},
};

use bytes::Bytes;
use clock::Clock;
use store::{KeyRange, Space, Store};
use tokio::sync::oneshot;

use super::Engine;
use crate::{
    catalog::{
        Collection, CollectionIds, CollectionMap, CollectionState, Dialect, Record, decode_record,
    },
    change_log::ChangeLog,
    error::Error,
    inner::Inner,
    intents::IntentTable,
    keys,
    lanes::{BlockInPlace, Lanes},
    names::Model,
    persist::Persist,
    reaper::Reaper,
    resource::Resources,
    rules::Rules,
    turns::Turns,
    view::{Pages, RowCache, Storage, ViewFactory},
};

/// Components and settings of an engine.
pub struct Options {
    /// The database clock, which also stamps the store's commits.
    pub clock: Arc<Clock>,
    /// Parses the filters of partial indexes.
    pub dialect: Arc<dyn Dialect>,
    /// Time for which a document must have expired before its bytes may be removed.
    pub reap_delay: std::time::Duration,
    /// Stores the checkpoint of the clock when a manual clock is moved.
    pub persist: Arc<dyn Persist>,
    /// Size of the row cache in bytes; 0 disables it.
    pub row_cache_bytes: usize,
    /// Memory in bytes that writes of large documents together may hold, in addition to the memory
    /// that is charged to their operations. A single write may always proceed.
    pub large_write_bytes: usize,
    /// Size of the change log in bytes beyond which its oldest records are dropped.
    pub change_log_bytes: u64,
    /// Whether to open despite missing or orphaned rows, as accepted by an operator.
    pub accept_loss: bool,
    /// Runs work that blocks its thread, so that other tasks of the runtime continue.
    pub block_in_place: BlockInPlace,
    /// Dropped when the engine no longer uses the store, so that the receiver completes.
    pub gone: Option<oneshot::Sender<()>>,
    rules: Rules,
}

impl Options {
    /// Creates options without a reap delay that accept no loss.
    pub fn new(clock: Arc<Clock>, dialect: Arc<dyn Dialect>, persist: Arc<dyn Persist>) -> Self {
        Self {
            clock,
            dialect,
            reap_delay: std::time::Duration::ZERO,
            persist,
            row_cache_bytes: 8 * 1024 * 1024,
            large_write_bytes: 256 * 1024 * 1024,
            change_log_bytes: u64::MAX,
            accept_loss: false,
            block_in_place: |work| work(),
            gone: None,
            rules: Rules::default(),
        }
    }

    /// Sets the rules of views and of the commit order. Tests disable one at a time to show that
    /// another test fails without it.
    #[cfg(feature = "switchable-rules")]
    pub fn with_rules(self, rules: Rules) -> Self {
        Self { rules, ..self }
    }
}

impl std::fmt::Debug for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Options").field("reap_delay", &self.reap_delay).finish_non_exhaustive()
    }
}

impl Engine {
    /// Opens an engine on a store whose commits are stamped by the same clock.
    pub async fn open(store: Arc<dyn Store>, options: Options) -> Result<Self, Error> {
        let rows = RowCache::new(options.row_cache_bytes);
        let changes = ChangeLog::new(options.change_log_bytes);
        let store = Storage::new(store, rows, changes, options.block_in_place);
        store.create_space(Space::Catalog)?;
        store.create_space(Space::Counts)?;
        let records = stored_records(&store).await?;
        check_spaces(&store, &records, options.accept_loss).await?;
        // The next id is stored separately from the records: a dropped collection has no record,
        // but its id must not be reused.
        let next_id = next_id(&store, &records).await?;
        let (map, now) = (Arc::new(CollectionMap::default()), options.clock.last_used());
        // Existing spaces are unchanged; after an accepted loss, missing ones are created empty.
        for record in records {
            store.create_space(Space::Rows(record.id))?;
            store.create_space(Space::Index(record.id))?;
            let (model, namespace) = (record.model, record.namespace.clone());
            let state = CollectionState::new(record, &*options.dialect)?;
            map.insert(model, namespace, Arc::new(Collection::new(state, now)));
        }
        let resources = Resources::open(&store).await?;
        let reaper = Arc::new(Reaper::new(options.reap_delay));
        // The predicate is installed before anything is compacted; it drops nothing while it has no
        // floors.
        store.set_drop_predicate(reaper.predicate());
        let views = ViewFactory::new(store, options.clock, map, options.rules);
        let inner = Inner {
            views,
            resources,
            reaper,
            dialect: options.dialect,
            persist: options.persist,
            lanes: Lanes::default(),
            large_writes: Turns::of_memory(options.large_write_bytes),
            row_queues: Arc::default(),
            intents: Arc::new(IntentTable::default()),
            ids: tokio::sync::Mutex::new(CollectionIds::new(next_id)),
            unfreed: AtomicBool::new(false),
            moving: tokio::sync::Mutex::default(),
            clock_turns: tokio::sync::Mutex::default(),
            _gone: options.gone,
        };
        let engine = Self { inner: Arc::new(inner), transaction: None };
        engine.resume_changes();
        // Complete recorded drops, then delete counters without a collection.
        engine.free_unfinished().await?;
        engine.purge_leftovers().await?;
        engine.drop_temporary().await?;
        Ok(engine)
    }

    /// Drops the temporary collections of operations that an earlier run did not finish.
    async fn drop_temporary(&self) -> Result<(), Error> {
        for (namespace, collection) in self.collections(Model::Documents) {
            if collection.state().record.temporary {
                self.drop_collection(Model::Documents, &namespace).await?;
            }
        }
        Ok(())
    }

    /// Completes the drops that a shutdown or crash interrupted.
    pub(crate) async fn free_unfinished(&self) -> Result<(), Error> {
        for id in dropped_ids(self.inner.store()).await? {
            self.free_dropped(id).await?;
        }
        Ok(())
    }
}

/// Compares the catalog with the store's spaces. A collection without its spaces, and rows without
/// a record or drop marker, are damage; empty spaces without a record remain from an interrupted
/// creation.
async fn check_spaces(store: &Storage, records: &[Record], accept_loss: bool) -> Result<(), Error> {
    let gone = dropped_ids(store).await?;
    let held: BTreeSet<Space> = store.all_spaces().into_iter().collect();
    let mut damage = Vec::new();
    let mut known = BTreeSet::from([Space::Catalog, Space::Counts]);
    for record in records {
        for space in [Space::Rows(record.id), Space::Index(record.id)] {
            known.insert(space);
            if !held.contains(&space) {
                let (namespace, name) = (&record.namespace, space.name());
                damage.push(format!("collection {namespace} is missing its key space {name}"));
            }
        }
    }
    for space in held.difference(&known) {
        let (Space::Rows(id) | Space::Index(id)) = space else { continue };
        if !gone.contains(id) && store.has_keys(*space).await? {
            damage.push(format!(
                "the store has data of an unknown collection (key space {})",
                space.name()
            ));
        }
    }
    if !damage.is_empty() && !accept_loss {
        return Err(Error::corrupt(damage.join("; ")));
    }
    // Unknown spaces are deleted only after no damage was found or the loss was accepted.
    for space in held.difference(&known) {
        store.drop_space(*space)?;
    }
    Ok(())
}

/// Returns the smallest collection id that was never assigned.
pub(super) async fn next_id(store: &Storage, records: &[Record]) -> Result<u32, Error> {
    let stored = store.system().catalog_record(keys::NEXT_ID).await?;
    let next = match stored.as_deref().map(TryInto::try_into) {
        None => 1,
        Some(Ok(bytes)) => u32::from_be_bytes(bytes),
        Some(Err(_)) => return Err(Error::corrupt("the next id of a collection is damaged")),
    };
    match records.iter().find(|record| next <= record.id) {
        None => Ok(next),
        Some(record) => {
            let (namespace, id) = (&record.namespace, record.id);
            let text =
                format!("collection {namespace} has id {id}, but the next id to assign is {next}");
            Err(Error::corrupt(text))
        }
    }
}

/// Returns the ids of dropped collections whose spaces may still exist.
async fn dropped_ids(store: &Storage) -> Result<BTreeSet<u32>, Error> {
    let rows = catalog_rows(store, keys::GONE).await?;
    Ok(rows.iter().filter_map(|(key, _)| keys::dropped_collection_id(key)).collect())
}

/// Returns the records of all collections.
pub(super) async fn stored_records(store: &Storage) -> Result<Vec<Record>, Error> {
    let rows = catalog_rows(store, keys::RECORDS).await?;
    rows.iter().map(|(_, value)| decode_record(value)).collect()
}

/// Returns all catalog rows with this key prefix.
async fn catalog_rows(store: &Storage, prefix: &[u8]) -> Result<Vec<(Bytes, Bytes)>, Error> {
    let system = store.system();
    let mut rows = Vec::new();
    let mut pages = Pages::of(KeyRange::with_prefix(prefix));
    while let Some(page) = system.next_catalog(&mut pages).await? {
        rows.extend(page.rows);
    }
    Ok(rows)
}
