//! Databases and containers as requests find them, by name or resource id. What a container's
//! definition says is read once for each version of it.

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError, RwLock},
};

use document::{Document, Value, ValueRef};
use engine::{
    Collection, DefaultTtl, Engine, Item, ItemKey, ItemRange, Model, Namespace, State, Store,
};

use crate::{
    container::{self, hash_bytes},
    epk::{self, EpkRange},
    failure::{Failure, Fault, Result},
    item::ItemRenderer,
    partition_key::{Component, HashKind, KeyScope, PartitionKeyDefinition},
    reply::ParentHeaders,
    rid::{Leaf, Rid},
};

/// First part of the path of everything this door keeps.
pub(crate) const ROOT: &str = "db";

/// A database.
#[derive(Clone, Debug)]
pub(crate) struct Database {
    pub(crate) name: String,
    pub(crate) number: u32,
    pub(crate) resource: Arc<engine::Resource>,
}

impl Database {
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

/// The number that the resource id of a small record is made of.
pub(crate) fn resource_number(body: &Document) -> Option<u32> {
    match body.get("number") {
        Some(Value::Int64(number)) => u32::try_from(*number).ok(),
        _ => None,
    }
}

/// The database of this name or resource id.
pub(crate) fn find_database<S: Store>(engine: &Engine<S>, name: &str) -> Option<Database> {
    if let Some(found) = engine.resource(&[ROOT, name]) {
        return Database::of_resource(found);
    }
    let Some(Rid::Database(number)) = Rid::parse(name) else { return None };
    all_databases(engine).into_iter().find(|database| database.number == number)
}

/// All databases, by name.
pub(crate) fn all_databases<S: Store>(engine: &Engine<S>) -> Vec<Database> {
    engine.resources(&[ROOT]).into_iter().filter_map(Database::of_resource).collect()
}

/// A container in one version of its definition.
#[derive(Debug)]
pub(crate) struct Container {
    pub(crate) collection: Arc<Collection>,
    pub(crate) name: String,
    pub(crate) database: String,
    pub(crate) database_number: u32,
    pub(crate) rid: String,
    pub(crate) key: PartitionKeyDefinition,
    pub(crate) renderer: ItemRenderer,
    /// As answers about what lies in it name it.
    pub(crate) parent: Option<ParentHeaders>,
    state: Arc<State>,
}

impl Container {
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
        })
    }

    /// Stamp of its definition.
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

    /// Whether all versions of its items are kept for feeds.
    pub(crate) fn keeps_versions(&self) -> bool {
        self.state.record.items.is_some_and(|items| items.feed.is_some())
    }

    /// Whether the feed of all versions has the item before each change.
    pub(crate) fn keeps_images(&self) -> bool {
        container::keeps_images(self.options())
    }

    /// The default TTL in force now.
    pub(crate) fn default_ttl(&self) -> DefaultTtl {
        self.collection.state().record.settings.default
    }

    /// What begins the row keys of a logical partition, or of all whose keys begin so.
    pub(crate) fn key_hash(&self, components: &[Component]) -> Vec<u8> {
        let mut hash = epk::effective_key(self.key.kind(), components);
        if self.key.kind() == HashKind::HashV1 {
            hash.resize(usize::from(hash_bytes(&self.key)), 0);
        }
        hash
    }

    /// The key of an item.
    pub(crate) fn item_key(&self, components: &[Component], id: &str) -> ItemKey {
        let values: Vec<ValueRef<'_>> = components.iter().map(Component::as_value).collect();
        ItemKey::new(&self.key_hash(components), &values, id)
    }

    /// The items of a scope.
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

    /// The items of a range of effective partition keys, and whether none beside them.
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

    /// Refuses an item's id that has the form of a resource id of this container's items: a link
    /// could mean either.
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

    fn is_current(&self) -> bool {
        !self.collection.is_dropped() && last_change(&self.collection.state()) == self.version()
    }
}

fn last_change(state: &State) -> u64 {
    state.record.items.map_or(0, |items| items.changed)
}

type ByName = HashMap<String, HashMap<String, Arc<Container>>>;

/// Containers that were used lately, by the names they were asked for under.
#[derive(Debug, Default)]
pub(crate) struct Containers(RwLock<ByName>);

impl Containers {
    fn find_current(&self, database: &str, name: &str) -> Option<Arc<Container>> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        known.get(database)?.get(name).filter(|container| container.is_current()).cloned()
    }

    /// Forgets what is no more.
    pub(crate) fn forget_dropped(&self) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        for names in known.values_mut() {
            names.retain(|_, container| container.is_current());
        }
        known.retain(|_, names| !names.is_empty());
    }

    fn remember(&self, database: &str, name: &str, container: &Arc<Container>) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let names = known.entry(database.to_owned()).or_default();
        names.insert(name.to_owned(), Arc::clone(container));
    }
}

/// The container that a link means.
pub(crate) fn find_container<S: Store>(
    engine: &Engine<S>,
    containers: &Containers,
    database: &str,
    name: &str,
) -> Result<Arc<Container>> {
    if let Some(container) = containers.find_current(database, name) {
        return Ok(container);
    }
    let found = self::find_database(engine, database).ok_or_else(Failure::no_owner)?;
    let collection = find_collection(engine, &found, name).ok_or_else(Failure::no_resource)?;
    let real = collection.state().record.namespace.collection.clone();
    let container = Container::new(&found, &real, collection);
    let damaged = || Failure::new(Fault::Internal, "The container's definition is damaged.");
    let container = Arc::new(container.ok_or_else(damaged)?);
    containers.remember(database, name, &container);
    Ok(container)
}

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
