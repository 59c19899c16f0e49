//! Databases and containers as requests find them, by name or resource id. What a container's
//! definition says is read once for each version of it and kept, because every request about items
//! needs it.

use std::{collections::HashMap, sync::Arc, time::Duration};

use document::{Document, Value, ValueRef};
use engine::{
    Collection, CollectionState, DefaultTtl, Engine, Item, ItemKey, ItemRange, Model, Namespace,
    Space, Store,
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

/// First part of the path of everything that this door keeps in the engine's catalog of resources.
pub(crate) const ROOT: &str = "db";

/// A database: a small resource with a number. Its containers are collections of the engine under
/// its name.
#[derive(Clone, Debug)]
pub(crate) struct Database {
    /// Its name, which no other database has.
    pub(crate) name: String,
    /// The number that its resource id is made of. It is given once and never again.
    pub(crate) number: u32,
    /// The resource as the engine keeps it, with its version.
    pub(crate) resource: Arc<engine::Resource>,
}

impl Database {
    /// The database that a resource is; `None` where it is something below a database, or damaged.
    fn of_resource(resource: Arc<engine::Resource>) -> Option<Self> {
        let [root, name] = resource.path.as_slice() else { return None };
        if root != ROOT {
            return None;
        }
        let number = resource_number(&resource.body)?;
        Some(Self { name: name.clone(), number, resource })
    }

    /// Its resource id.
    pub(crate) fn rid(&self) -> Rid {
        Rid::Database(self.number)
    }
}

/// The number that the resource id of a small resource is made of, from the body that is kept.
pub(crate) fn resource_number(body: &Document) -> Option<u32> {
    match body.get("number") {
        Some(Value::Int64(number)) => u32::try_from(*number).ok(),
        _ => None,
    }
}

/// The database of this name or resource id. Names come first, because nearly all clients use them;
/// a name can never have the form of an id that this server gives.
pub(crate) fn find_database<S: Store>(engine: &Engine<S>, name: &str) -> Option<Database> {
    if let Some(found) = engine.resource_at(&[ROOT, name]) {
        return Database::of_resource(found);
    }
    let Some(Rid::Database(number)) = Rid::parse(name) else { return None };
    all_databases(engine).into_iter().find(|database| database.number == number)
}

/// All databases, by name.
pub(crate) fn all_databases<S: Store>(engine: &Engine<S>) -> Vec<Database> {
    engine.resources_below(&[ROOT]).into_iter().filter_map(Database::of_resource).collect()
}

/// A container in one version of its definition. Requests share it; when the definition changes the
/// next request makes another one.
#[derive(Debug)]
pub(crate) struct Container {
    /// The collection of the engine that holds its items.
    pub(crate) collection: Arc<Collection>,
    pub(crate) name: String,
    /// The name of the database that it lies in.
    pub(crate) database: String,
    /// The number of that database, for resource ids.
    pub(crate) database_number: u32,
    /// Its resource id.
    pub(crate) rid: String,
    /// What its partition key is made of.
    pub(crate) key: PartitionKeyDefinition,
    /// What its items have in common when they are written as JSON.
    pub(crate) renderer: ItemRenderer,
    /// Its path and resource id, as responses about what lies in it name them; `None` where its
    /// name cannot stand in a header.
    pub(crate) parent: Option<ParentHeaders>,
    /// The state of the collection that this version was read from.
    state: Arc<CollectionState>,
    /// What it takes on disk as a header says it, and when that was looked up.
    usage: RwLock<Option<(Duration, HeaderValue)>>,
}

impl Container {
    /// Reads what a collection's options say; `None` where they are damaged, which no request can
    /// bring about.
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

    /// The commit that made this version of its definition; the etag is made of it.
    pub(crate) fn version(&self) -> u64 {
        last_change(&self.state)
    }

    /// Second of the last change of its definition.
    pub(crate) fn changed_ts(&self) -> i64 {
        self.state.record.items.map_or(0, |items| items.changed_ts)
    }

    /// Its definition as it is shown, without the default TTL.
    pub(crate) fn options(&self) -> &Document {
        &self.state.record.options
    }

    /// Whether all versions of its items are kept for feeds now. It is asked of the collection, since a feed
    /// that begins by itself makes no other version of the definition.
    pub(crate) fn keeps_versions(&self) -> bool {
        self.collection.state().record.keeps_events()
    }

    /// Whether it has a feed of all versions, which may not have begun yet.
    pub(crate) fn keeps_feed(&self) -> bool {
        self.collection.state().record.items.is_some_and(|items| items.feed.is_some())
    }

    /// Whether the feed of all versions has the item before each change.
    pub(crate) fn keeps_images(&self) -> bool {
        container::keeps_images(self.options())
    }

    /// Returns how many kilobytes it takes on disk, as responses about its items say it. It is looked
    /// up once in [`USAGE_TIME`], and items are not counted, since every read and write of one asks for it.
    /// `now` is the machine's monotonic time.
    pub(crate) fn usage<S: Store>(&self, engine: &Engine<S>, now: Duration) -> HeaderValue {
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

    /// The default TTL in force now. It is asked of the collection and not of this version, so that
    /// it is never older than its last change.
    pub(crate) fn default_ttl(&self) -> DefaultTtl {
        self.collection.state().record.settings.default
    }

    /// The bytes that row keys of a logical partition begin with, or of all partitions whose keys
    /// begin with these components. Keys of the first version have no fixed length and are filled
    /// up with zeros, so that all row keys of a container have their parts at the same places.
    pub(crate) fn key_hash(&self, components: &[Component]) -> Vec<u8> {
        let mut hash = epk::effective_key(self.key.kind(), components);
        if self.key.kind() == HashKind::HashV1 {
            hash.resize(usize::from(hash_bytes(&self.key)), 0);
        }
        hash
    }

    /// The key of the item with this partition key and id.
    pub(crate) fn item_key(&self, components: &[Component], id: &str) -> ItemKey {
        let values: Vec<ValueRef<'_>> = components.iter().map(Component::as_value).collect();
        ItemKey::new(&self.key_hash(components), &values, id)
    }

    /// The row keys of a scope. An empty prefix is the whole container, as in the service.
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

    /// The row keys of a range of effective partition keys, and whether they are those of the range
    /// exactly: where they are not, each item found has to be looked at again.
    pub(crate) fn epk_range(&self, range: &EpkRange) -> (ItemRange, bool) {
        let len = usize::from(hash_bytes(&self.key));
        let (mut found, mut exact) = range.of_beginnings(len);
        if self.key.kind() == HashKind::HashV1 {
            // Row keys hold the beginnings of these, filled up with zeros: an end that only zeros
            // tell from a shorter key takes that one too.
            if let Some(mut end) = range.max.clone() {
                end.resize(len, 0);
                found.max = EpkRange::of_key(end).max;
            }
            exact = range.min.is_empty() && range.max.is_none();
        }
        (ItemRange::hashes(&found.min, found.max.as_deref()), exact)
    }

    /// Refuses an id of an item that has the form of a resource id of this container's items: a
    /// link could mean either item.
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

    /// The effective partition key of an item.
    pub(crate) fn item_epk(&self, item: &Item) -> Vec<u8> {
        epk::effective_key(self.key.kind(), &self.key.extract_key(item.document()))
    }

    /// Whether this is still what the container is: neither dropped nor changed since.
    fn is_current(&self) -> bool {
        !self.collection.is_dropped() && last_change(&self.collection.state()) == self.version()
    }
}

/// The commit of the last change of the definition in a state.
fn last_change(state: &CollectionState) -> u64 {
    state.record.items.map_or(0, |items| items.changed)
}

/// Containers by the name of the database in links, then by their own. A container may stand in it
/// under a name and under a resource id.
type ByName = HashMap<String, HashMap<String, Arc<Container>>>;

/// Containers that were used lately, by the names they were asked for under. Entries are not told
/// of changes: each use checks that its entry is current, and dropping forgets those that are not.
#[derive(Debug, Default)]
pub(crate) struct Containers(RwLock<ByName>);

impl Containers {
    /// The container that is kept under these names, if it is still current.
    fn find_current(&self, database: &str, name: &str) -> Option<Arc<Container>> {
        let known = self.0.read();
        known.get(database)?.get(name).filter(|container| container.is_current()).cloned()
    }

    /// Forgets what is not there any more, so that no collection is held for good.
    pub(crate) fn forget_dropped(&self) {
        let mut known = self.0.write();
        for names in known.values_mut() {
            names.retain(|_, container| container.is_current());
        }
        known.retain(|_, names| !names.is_empty());
    }

    /// Keeps a container under the names of a link.
    fn remember(&self, database: &str, name: &str, container: &Arc<Container>) {
        let mut known = self.0.write();
        let names = known.entry(database.to_owned()).or_default();
        names.insert(name.to_owned(), Arc::clone(container));
    }
}

/// The container that a link names. Where it or its database is missing, so is what the request is about
/// in it: sub-status 1003 tells that from a missing item.
pub(crate) fn find_container<S: Store>(
    engine: &Engine<S>,
    containers: &Containers,
    database: &str,
    name: &str,
) -> Result<Arc<Container>> {
    // Nearly every request ends here: two maps under a lock that readers share.
    if let Some(container) = containers.find_current(database, name) {
        return Ok(container);
    }
    let found = self::find_database(engine, database).ok_or_else(Failure::no_owner)?;
    let collection = find_collection(engine, &found, name).ok_or_else(Failure::no_owner)?;
    // A link may name the container by its resource id; what is kept and shown has the name.
    let real = collection.state().record.namespace.collection.clone();
    let container = Container::new(&found, &real, collection);
    let damaged = || Failure::new(Fault::Internal, "The container's definition is damaged.");
    let container = Arc::new(container.ok_or_else(damaged)?);
    containers.remember(database, name, &container);
    Ok(container)
}

/// The collection of a container's name or resource id. An id is searched for among all
/// collections: few clients use them here, and what they find is remembered.
fn find_collection<S: Store>(
    engine: &Engine<S>,
    database: &Database,
    name: &str,
) -> Option<Arc<Collection>> {
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

/// All containers of a database, by name.
pub(crate) fn all_containers<S: Store>(engine: &Engine<S>, database: &Database) -> Vec<Container> {
    let all = engine.collections(Model::Items).into_iter();
    let own = all.filter(|(namespace, _)| namespace.database == database.name);
    own.filter_map(|(namespace, collection)| {
        Container::new(database, &namespace.collection, collection)
    })
    .collect()
}
