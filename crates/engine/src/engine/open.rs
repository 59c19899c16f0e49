//! Opens an engine on a store: reads the catalog, compares it with the spaces of the store, and
//! removes what an unfinished change left over.
//!
//! Damage is looked for before anything of a collection is touched, so that a start that is
//! refused has changed none of them.

use std::{
    collections::BTreeSet,
    sync::{Arc, atomic::AtomicBool},
};

use bytes::Bytes;
use clock::Clock;
use store::{KeyRange, Space, Store};

use super::Engine;
use crate::{
    catalog::{
        Collection, CollectionIds, CollectionMap, CollectionState, Dialect, Record, decode_record,
    },
    error::Error,
    inner::Inner,
    keys,
    lanes::Lanes,
    persist::Persist,
    reaper::Reaper,
    resource::Resources,
    rules::Rules,
    view::{Pages, RowCache, Storage, ViewFactory},
};

/// Parts and settings of an engine.
pub struct Options {
    /// The database clock, which also stamps the store's commits.
    pub clock: Arc<Clock>,
    /// The language that stored filters are in.
    pub dialect: Arc<dyn Dialect>,
    /// How long ago a document has to have expired before its bytes may go.
    pub reap_delay: std::time::Duration,
    /// How a moved clock becomes durable.
    pub persist: Arc<dyn Persist>,
    /// Memory for rows that were read lately, bytes; none are kept with 0.
    pub row_cache_bytes: usize,
    /// Open although rows are missing or belong to nobody: an operator has looked at it.
    pub accept_loss: bool,
    rules: Rules,
}

impl Options {
    /// Bytes of an expired document may go at once, and no loss is accepted.
    pub fn new(clock: Arc<Clock>, dialect: Arc<dyn Dialect>, persist: Arc<dyn Persist>) -> Self {
        Self {
            clock,
            dialect,
            reap_delay: std::time::Duration::ZERO,
            persist,
            row_cache_bytes: 8 * 1024 * 1024,
            accept_loss: false,
            rules: Rules::default(),
        }
    }

    /// The same under these rules, of which a test of the tests leaves one out.
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

impl<S: Store> Engine<S> {
    /// Opens an engine on a store whose commits are stamped by the same clock.
    pub async fn open(store: S, options: Options) -> Result<Self, Error> {
        let store = Storage::new(store, RowCache::new(options.row_cache_bytes));
        store.create_space(Space::Catalog)?;
        store.create_space(Space::Counts)?;
        let records = stored_records(&store).await?;
        check_spaces(&store, &records, options.accept_loss).await?;
        // Kept apart from the records: a dropped collection leaves none, and its id stays given.
        let next_id = next_id(&store, &records).await?;
        let (map, now) = (Arc::new(CollectionMap::default()), options.clock.last_used());
        // Spaces that exist stay as they are; after an accepted loss some are made anew, empty.
        for record in records {
            store.create_space(Space::Rows(record.id))?;
            store.create_space(Space::Index(record.id))?;
            let (model, namespace) = (record.model, record.namespace.clone());
            let state = CollectionState::new(record, &*options.dialect)?;
            map.insert(model, namespace, Arc::new(Collection::new(state, now)));
        }
        let resources = Resources::open(&store).await?;
        let reaper = Arc::new(Reaper::new(options.reap_delay));
        // Before anything compacts: without floors it drops nothing.
        store.set_drop_predicate(reaper.predicate());
        let views = ViewFactory::new(store, options.clock, map, options.rules);
        let inner = Inner {
            views,
            resources,
            reaper,
            dialect: options.dialect,
            persist: options.persist,
            lanes: Lanes::default(),
            ids: tokio::sync::Mutex::new(CollectionIds::new(next_id)),
            unfreed: AtomicBool::new(false),
            moving: tokio::sync::Mutex::default(),
            clock_turns: tokio::sync::Mutex::default(),
        };
        let engine = Self { inner: Arc::new(inner) };
        // Drops that were noted, then counters that belong to nobody.
        engine.free_unfinished().await?;
        engine.purge_leftovers().await?;
        Ok(engine)
    }

    /// Ends the drops that an end of the server interrupted.
    pub(crate) async fn free_unfinished(&self) -> Result<(), Error> {
        for id in dropped_ids(self.inner.store()).await? {
            self.free_dropped(id).await?;
        }
        Ok(())
    }
}

/// Compares the catalog with the spaces of the store. A collection whose space is missing, and
/// rows of a collection that was not dropped and has no record, are damage; spaces without keys
/// are what an end in the middle of a creation leaves.
async fn check_spaces<S: Store>(
    store: &Storage<S>,
    records: &[Record],
    accept_loss: bool,
) -> Result<(), Error> {
    let gone = dropped_ids(store).await?;
    let held: BTreeSet<Space> = store.all_spaces().into_iter().collect();
    let mut damage = Vec::new();
    let mut known = BTreeSet::from([Space::Catalog, Space::Counts]);
    for record in records {
        for space in [Space::Rows(record.id), Space::Index(record.id)] {
            known.insert(space);
            if !held.contains(&space) {
                let (namespace, name) = (&record.namespace, space.name());
                damage.push(format!("collection {namespace} has lost its space {name}"));
            }
        }
    }
    for space in held.difference(&known) {
        let (Space::Rows(id) | Space::Index(id)) = space else { continue };
        if !gone.contains(id) && store.has_keys(*space).await? {
            damage.push(format!("space {} has rows but no collection", space.name()));
        }
    }
    if !damage.is_empty() && !accept_loss {
        return Err(Error::corrupt(damage.join("; ")));
    }
    // Only now, when nothing is damaged or the loss is accepted.
    for space in held.difference(&known) {
        store.drop_space(*space)?;
    }
    Ok(())
}

/// The id from which on none was given.
pub(super) async fn next_id<S: Store>(
    store: &Storage<S>,
    records: &[Record],
) -> Result<u32, Error> {
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
            let text = format!("collection {namespace} has the id {id}, the next should be {next}");
            Err(Error::corrupt(text))
        }
    }
}

/// Ids of dropped collections whose spaces may still be there.
async fn dropped_ids<S: Store>(store: &Storage<S>) -> Result<BTreeSet<u32>, Error> {
    let rows = catalog_rows(store, keys::GONE).await?;
    Ok(rows.iter().filter_map(|(key, _)| keys::dropped_collection_id(key)).collect())
}

/// The records of all collections.
pub(super) async fn stored_records<S: Store>(store: &Storage<S>) -> Result<Vec<Record>, Error> {
    let rows = catalog_rows(store, keys::RECORDS).await?;
    rows.iter().map(|(_, value)| decode_record(value)).collect()
}

/// All rows of the catalog whose keys begin like this.
async fn catalog_rows<S: Store>(
    store: &Storage<S>,
    prefix: &[u8],
) -> Result<Vec<(Bytes, Bytes)>, Error> {
    let system = store.system();
    let mut rows = Vec::new();
    let mut pages = Pages::of(KeyRange::with_prefix(prefix));
    while let Some(page) = system.next_catalog(&mut pages).await? {
        rows.extend(page.rows);
    }
    Ok(rows)
}
