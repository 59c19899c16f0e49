//! Looks up databases and containers by name or resource id. A container's definition is parsed
//! once per version and cached, because every request about items needs it.

use std::{collections::HashMap, sync::Arc, time::Duration};

use document::{Document, Value, ValueRef};
use engine::{
    Collection, CollectionState, DefaultTtl, Engine, Item, ItemKey, ItemRange, Model, Namespace,
    Space,
};
use http::HeaderValue;
use parking_lot::RwLock;

use crate::{
    container::{self, hash_bytes},
    epk::{self, EpkRange},
    failure::{Failure, Fault, Result},
    item::ItemRenderer,
    limits::USAGE_TIME,
    partition_key::{Component, HashKind, KeyScope, PartitionKeyDefinition},
    reply::ParentHeaders,
    rid::{Leaf, Rid},
};

/// First component of the catalog path of every resource that this API stores in the engine.
pub(crate) const ROOT: &str = "db";

/// A database, stored as a resource in the engine's catalog. Its containers are the engine
/// collections in the namespace with the database's name.
#[derive(Clone, Debug)]
pub(crate) struct Database {
    pub(crate) name: String,
    /// The number in the database's resource id; assigned once and never reused.
    pub(crate) number: u32,
    /// The stored resource with its version.
    pub(crate) resource: Arc<engine::Resource>,
}

impl Database {
    /// Converts a stored resource; returns `None` if it is damaged or is not a database but a
    /// resource within one.
    fn of_resource(resource: Arc<engine::Resource>) -> Option<Self> {
        let [root, name] = resource.path.as_slice() else { return None };
        if root != ROOT {
            return None;
        }
        let number = resource_number(&resource.body)?;
        Some(Self { name: name.clone(), number, resource })
    }

    pub(crate) fn rid(&self) -> Rid {
        Rid::Database(self.number)
    }
}

/// Returns the number in the resource id of a stored resource.
pub(crate) fn resource_number(body: &Document) -> Option<u32> {
    match body.get("number") {
        Some(Value::Int64(number)) => u32::try_from(*number).ok(),
        _ => None,
    }
}

/// Finds a database by name or resource id. Names are tried first, since nearly all clients use
/// them. A name and a resource id cannot be confused: no name has the form of a resource id that
/// this server assigns.
pub(crate) fn find_database(engine: &Engine, name: &str) -> Option<Database> {
    if let Some(found) = engine.resource_at(&[ROOT, name]) {
        return Database::of_resource(found);
    }
    let Some(Rid::Database(number)) = Rid::parse(name) else { return None };
    all_databases(engine).into_iter().find(|database| database.number == number)
}

/// Returns all databases, ordered by name.
pub(crate) fn all_databases(engine: &Engine) -> Vec<Database> {
    engine.resources_below(&[ROOT]).into_iter().filter_map(Database::of_resource).collect()
}

/// A container in one version of its definition, shared by requests. After a change of the
/// definition, the next request creates another `Container`.
#[derive(Debug)]
pub(crate) struct Container {
    /// The engine collection that stores the container's items.
    pub(crate) collection: Arc<Collection>,
    pub(crate) name: String,
    /// Name of the database that contains the container.
    pub(crate) database: String,
    /// Number of the database, a part of resource ids.
    pub(crate) database_number: u32,
    pub(crate) rid: String,
    pub(crate) key: PartitionKeyDefinition,
    /// Shared data for rendering the container's items as JSON.
    pub(crate) renderer: ItemRenderer,
    /// The container's path and resource id for response headers; `None` if its name is not valid
    /// in a header.
    pub(crate) parent: Option<ParentHeaders>,
    /// The state of the collection from which this definition was parsed.
    state: Arc<CollectionState>,
    /// Disk usage as a header value, and the time of its measurement.
    usage: RwLock<Option<(Duration, HeaderValue)>>,
}

impl Container {
    /// Parses a collection's options; returns `None` if they are damaged, which no request can
    /// cause.
    fn new(database: &Database, name: &str, collection: Arc<Collection>) -> Option<Self> {
        let state = collection.state();
        let key = match state.record.options.get("partitionKey") {
            None => PartitionKeyDefinition::without_paths(),
            Some(Value::Document(key)) => PartitionKeyDefinition::parse(key).ok()?,
            Some(_) => return None,
        };
        let (number, id) = (database.number, collection.id);
        let rid = Rid::Container { database: number, container: id }.encode();
        Some(Self {
            parent: ParentHeaders::new(&format!("dbs/{}/colls/{name}", database.name), &rid),
            rid,
            renderer: ItemRenderer::new(number, id),
            name: name.to_owned(),
            database: database.name.clone(),
            database_number: number,
            key,
            state,
            collection,
            usage: RwLock::default(),
        })
    }

    /// Returns the commit that created this version of the definition; the etag is derived from it.
    pub(crate) fn version(&self) -> u64 {
        last_change(&self.state)
    }

    /// Returns the time of the last change of the container's definition, in seconds since 1970.
    pub(crate) fn changed_ts(&self) -> i64 {
        self.state.record.items.map_or(0, |items| items.changed_ts)
    }

    /// Returns the definition as stored, without the default TTL.
    pub(crate) fn options(&self) -> &Document {
        &self.state.record.options
    }

    /// Returns whether the collection currently retains all versions of its items for change feeds.
    /// This reads the collection's current state: reading a feed may start the retention without
    /// creating a new version of the definition.
    pub(crate) fn keeps_versions(&self) -> bool {
        self.collection.state().record.keeps_events()
    }

    /// Returns whether the container may have a change feed of all versions: the definition
    /// configures its retention, or leaves it to start at the first read of the feed.
    pub(crate) fn keeps_feed(&self) -> bool {
        self.collection.state().record.items.is_some_and(|items| items.feed.is_some())
    }

    /// Returns whether each change in the all-versions feed includes the item as it was before the
    /// change.
    pub(crate) fn keeps_images(&self) -> bool {
        container::keeps_images(self.options())
    }

    /// Returns the container's disk usage in kilobytes for the headers of responses about items.
    /// Every read and write of an item reports the usage, so it is measured at most once per
    /// [`USAGE_TIME`], and items are not counted. `now` is monotonic time.
    pub(crate) fn usage(&self, engine: &Engine, now: Duration) -> HeaderValue {
        let known = self.usage.read().clone();
        if let Some((since, usage)) = known
            && now.saturating_sub(since) < USAGE_TIME
        {
            return usage;
        }
        let id = self.collection.id;
        let [rows, index] = [Space::Rows(id), Space::Index(id)]
            .map(|space| engine.store().space_bytes(space).div_ceil(1024));
        let text = format!(
            "documentSize={};documentsSize={rows};documentsCount=-1;collectionSize={};",
            rows / (1024 * 1024),
            rows.saturating_add(index)
        );
        let usage = HeaderValue::from_str(&text).unwrap_or_else(|_| HeaderValue::from_static(""));
        *self.usage.write() = Some((now, usage.clone()));
        usage
    }

    /// Returns the container's current default TTL. It is read from the collection and not from
    /// this version of the definition, so that it is never outdated.
    pub(crate) fn default_ttl(&self) -> DefaultTtl {
        self.collection.state().record.settings.default
    }

    /// Returns the row key prefix of a logical partition, or of all partitions whose keys start
    /// with these components. Version 1 hashes have no fixed length and are padded with zeros, so
    /// that the hash has the same length in all row keys of a container.
    pub(crate) fn key_hash(&self, components: &[Component]) -> Vec<u8> {
        let mut hash = epk::effective_key(self.key.kind(), components);
        if self.key.kind() == HashKind::HashV1 {
            hash.resize(usize::from(hash_bytes(&self.key)), 0);
        }
        hash
    }

    /// Returns the row key of the item with this partition key and id.
    pub(crate) fn item_key(&self, components: &[Component], id: &str) -> ItemKey {
        let values: Vec<ValueRef<'_>> = components.iter().map(Component::as_value).collect();
        ItemKey::new(&self.key_hash(components), &values, id)
    }

    /// Returns the row key range of a part of the container. A prefix without components selects
    /// the whole container, as in Azure Cosmos DB.
    pub(crate) fn item_range(&self, scope: &KeyScope) -> ItemRange {
        match scope {
            KeyScope::Whole(components) => {
                let values: Vec<ValueRef<'_>> =
                    components.iter().map(Component::as_value).collect();
                ItemRange::partition(&self.key_hash(components), &values)
            }
            KeyScope::Prefix(components) if components.is_empty() => ItemRange::all(),
            KeyScope::Prefix(components) => {
                self.epk_range(&EpkRange::of_key(self.key_hash(components))).0
            }
        }
    }

    /// Returns a range of row keys that contains all items in a range of effective partition keys,
    /// and whether it contains only these items. Otherwise the caller must check the key of each
    /// item found.
    pub(crate) fn epk_range(&self, range: &EpkRange) -> (ItemRange, bool) {
        let len = usize::from(hash_bytes(&self.key));
        let (mut found, mut exact) = range.of_beginnings(len);
        if self.key.kind() == HashKind::HashV1 {
            // Row keys contain version 1 keys truncated or padded with zeros to `len` bytes, so the
            // upper bound must include shorter keys that differ from it only by the padding.
            if let Some(mut end) = range.max.clone() {
                end.resize(len, 0);
                found.max = EpkRange::of_key(end).max;
            }
            exact = range.min.is_empty() && range.max.is_none();
        }
        (ItemRange::hashes(&found.min, found.max.as_deref()), exact)
    }

    /// Refuses an item id that has the form of a resource id of this container's items, since a
    /// link with it would be ambiguous.
    pub(crate) fn check_item_id(&self, id: &str) -> Result<()> {
        let Some(Rid::Leaf { database, owner, .. }) = Rid::parse(id) else { return Ok(()) };
        if Rid::in_container(database, self.collection.id, 0, Leaf::Item)
            != (Rid::Leaf { database: self.database_number, owner, number: 0, leaf: Leaf::Item })
        {
            return Ok(());
        }
        Err(Failure::bad_request(format!(
            "The input name '{id}' is invalid. It has the form of a resource id of this container."
        )))
    }

    /// Returns the effective partition key of an item.
    pub(crate) fn item_epk(&self, item: &Item) -> Vec<u8> {
        epk::effective_key(self.key.kind(), &self.key.extract_key(item.document()))
    }

    /// Returns whether the container still exists with this definition.
    fn is_current(&self) -> bool {
        !self.collection.is_dropped() && last_change(&self.collection.state()) == self.version()
    }
}

/// Returns the commit that last changed the container's definition.
fn last_change(state: &CollectionState) -> u64 {
    state.record.items.map_or(0, |items| items.changed)
}

/// Containers by database name and container name, as a request's path has them: a container may be
/// present under its name and under its resource id.
type ByName = HashMap<String, HashMap<String, Arc<Container>>>;

/// A cache of recently used containers. Entries are not invalidated by changes: each lookup checks
/// that its entry is current, and deletions evict outdated entries.
#[derive(Debug, Default)]
pub(crate) struct Containers(RwLock<ByName>);

impl Containers {
    /// Returns the cached container with these names if it is current.
    fn find_current(&self, database: &str, name: &str) -> Option<Arc<Container>> {
        let known = self.0.read();
        known.get(database)?.get(name).filter(|container| container.is_current()).cloned()
    }

    /// Evicts outdated entries, so that dropped collections do not stay in memory.
    pub(crate) fn forget_dropped(&self) {
        let mut known = self.0.write();
        for names in known.values_mut() {
            names.retain(|_, container| container.is_current());
        }
        known.retain(|_, names| !names.is_empty());
    }

    fn remember(&self, database: &str, name: &str, container: &Arc<Container>) {
        let mut known = self.0.write();
        let names = known.entry(database.to_owned()).or_default();
        names.insert(name.to_owned(), Arc::clone(container));
    }
}

/// Returns the container that a request's path names. If it or its database is missing, the failure
/// has sub-status 1003, which distinguishes this failure from a missing item.
pub(crate) fn find_container(
    engine: &Engine,
    containers: &Containers,
    database: &str,
    name: &str,
) -> Result<Arc<Container>> {
    // The fast path of nearly every request: two map lookups under a shared lock.
    if let Some(container) = containers.find_current(database, name) {
        return Ok(container);
    }
    let found = self::find_database(engine, database).ok_or_else(Failure::no_owner)?;
    let collection = find_collection(engine, &found, name).ok_or_else(Failure::no_owner)?;
    // The path may have a resource id instead of the name; the cached container has the name.
    let real = collection.state().record.namespace.collection.clone();
    let container = Container::new(&found, &real, collection);
    let damaged = || Failure::new(Fault::Internal, "The container's definition is damaged.");
    let container = Arc::new(container.ok_or_else(damaged)?);
    containers.remember(database, name, &container);
    Ok(container)
}

/// Finds a collection by container name or resource id. To find a resource id, all collections are
/// searched, since few clients use ids, and the result is cached.
fn find_collection(engine: &Engine, database: &Database, name: &str) -> Option<Arc<Collection>> {
    let namespace = Namespace::new(database.name.as_str(), name);
    if let Some(found) = engine.collection(Model::Items, &namespace) {
        return Some(found);
    }
    let Some(Rid::Container { database: of, container }) = Rid::parse(name) else { return None };
    if of != database.number {
        return None;
    }
    let all = engine.collections(Model::Items).into_iter();
    let mut found = all.filter(|(namespace, collection)| {
        namespace.database == database.name && collection.id == container
    });
    found.next().map(|(_, collection)| collection)
}

/// Returns all containers of a database, ordered by name.
pub(crate) fn all_containers(engine: &Engine, database: &Database) -> Vec<Container> {
    let all = engine.collections(Model::Items).into_iter();
    let own = all.filter(|(namespace, _)| namespace.database == database.name);
    own.filter_map(|(namespace, collection)| {
        Container::new(database, &namespace.collection, collection)
    })
    .collect()
}
