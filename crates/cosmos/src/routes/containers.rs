//! Routes for containers. A container is a collection of the engine, which stores the container's
//! definition as the collection's options.
//!
//! Creating a container takes two steps (the collection and its offer), and deleting one takes
//! several; `mend` completes interrupted changes at the next start.

use std::sync::Arc;

use document::Document;
use engine::{Expected, Kind, Model, Namespace, Space};

use super::{client_keys, offers, resource_feed, resources, shared};
use crate::{
    api::NoSqlApi,
    catalog::{self, Container, Database, ROOT},
    container::{self, ContainerDefinition, write_ttl},
    failure::{Failure, Fault, Result},
    limits::{MAX_RESOURCES, QUOTA},
    partition_key::PartitionKeyDefinition,
    reply::Reply,
    representation::{self, SystemProperties},
    request::Request,
    rid::Rid,
};

const LINKS: [(&str, &str); 5] = [
    ("_docs", "docs/"),
    ("_sprocs", "sprocs/"),
    ("_triggers", "triggers/"),
    ("_udfs", "udfs/"),
    ("_conflicts", "conflicts/"),
];

/// The first API version whose clients support the system partition key.
const SYSTEM_KEYS_SINCE: &str = "2018-12-31";

/// Returns a container as a response to this request represents it.
fn represent(request: &Request, container: &Container) -> Document {
    let mut body = container.options().clone();
    if PartitionKeyDefinition::means_no_key(body.get("partitionKey")) {
        body.remove("partitionKey");
        let version = request.headers.version().map(str::trim).filter(|given| !given.is_empty());
        if version.is_none_or(|version| SYSTEM_KEYS_SINCE <= version) {
            body.push("partitionKey", PartitionKeyDefinition::system_document());
        }
    }
    write_ttl(container.default_ttl(), &mut body);
    let database = container.database_number;
    let system = SystemProperties {
        rid: Rid::Container { database, container: container.collection.id },
        owner: format!("dbs/{}/", Rid::Database(database).encode()),
        word: "colls",
        stamp: container.version(),
        ts: container.changed_ts(),
    };
    system.complete_body(body, &LINKS)
}

/// Returns all containers of a database as the client of a request sees them.
fn represent_all(api: &NoSqlApi, request: &Request, database: &Database) -> Vec<Document> {
    let all = catalog::all_containers(&api.engine, database);
    all.iter().map(|container| represent(request, container)).collect()
}

/// Returns the path below which a container's own resources, such as scripts, are stored. It
/// contains the collection's number and not its name, so that a container created later under the
/// same name does not inherit these resources.
pub(crate) fn resource_path(container: &Container) -> [String; 4] {
    let id = container.collection.id.to_string();
    [ROOT.to_owned(), container.database.clone(), "coll".to_owned(), id]
}

/// Finds the container that the request's path names. The dispatcher looks up containers only for
/// operations on resources in them.
fn find_named(api: &NoSqlApi, request: &Request) -> Result<Arc<Container>> {
    let [database, _] = &request.link.owners;
    let name = request.name();
    let found = catalog::find_container(&api.engine, &api.containers, database, name);
    found.map_err(|failure| match catalog::find_database(&api.engine, database) {
        // The database exists, so the container itself is missing.
        Some(_) if failure.fault == Fault::OwnerNotFound => Failure::no_resource(),
        _ => failure,
    })
}

/// `POST /dbs/{db}/colls`. 201; 409 if the name is in use, 403 if the database has too many
/// containers, 404 if there is no such database.
pub(crate) async fn create_container(
    api: &NoSqlApi,
    request: &Request,
    body: &[u8],
) -> Result<Reply> {
    let definition = ContainerDefinition::parse(shared::parse_document(body)?)?;
    let throughput = offers::requested_throughput(request)?;
    let database = shared::find_database(api, request)?;
    if MAX_RESOURCES <= catalog::all_containers(&api.engine, &database).len() {
        let text = format!("The database already has {MAX_RESOURCES} containers.");
        return Err(Failure::new(Fault::Forbidden, text));
    }
    client_keys::check_known(api, &database, &container::encryption_keys(definition.options()))?;
    let namespace = Namespace::new(database.name.as_str(), definition.id.as_str());
    api.engine.create_container(&namespace, definition.engine_definition()).await?;
    let (engine, known) = (&api.engine, &api.containers);
    let container = catalog::find_container(engine, known, &database.name, &definition.id)?;
    let shared = offers::offer_of(api, &database.rid().encode()).is_some();
    // A container has its own offer unless it shares its database's.
    if throughput.is_some() || !shared {
        let link = format!("dbs/{}/colls/{}/", database.rid().encode(), container.rid);
        let throughput = throughput.unwrap_or_default();
        let named = offers::requested_name(request);
        offers::create_first_offer(api, &link, &container.rid, throughput, named).await?;
    }
    let reply = representation::resource_reply(201, &represent(request, &container));
    // SDKs begin their session with the container at this number. That of a later commit, such as
    // the offer's, would be ahead of all reads until the first write.
    let seq = api.engine.last_change(&container.collection).await?;
    Ok(Reply { seq, ..with_shared_throughput(api, &container, reply) })
}

/// Adds the header by which clients know whether a container shares its database's throughput.
/// Clients parse it as a boolean.
fn with_shared_throughput(api: &NoSqlApi, container: &Container, reply: Reply) -> Reply {
    let database = Rid::Database(container.database_number).encode();
    let has_offer = |rid: &str| offers::offer_of(api, rid).is_some();
    let shares = !has_offer(&container.rid) && has_offer(&database);
    reply.with_header("x-ms-share-throughput", if shares { "true" } else { "false" })
}

/// `GET /dbs/{db}/colls`, or `POST` with a query: lists containers.
pub(crate) fn list_containers(
    api: &NoSqlApi,
    request: &Request,
    query_body: Option<&[u8]>,
) -> Result<Reply> {
    let all = |api: &NoSqlApi, database: &Database| represent_all(api, request, database);
    resource_feed::list_in_database(api, request, query_body, "DocumentCollections", all)
}

/// `GET /dbs/{db}/colls/{c}`. 200 or 304. Headers report the progress of index builds and, on
/// request, the number of items and the disk usage.
pub(crate) async fn read_container(api: &NoSqlApi, request: &Request) -> Result<Reply> {
    let container = find_named(api, request)?;
    if shared::is_known(request, container.version()) {
        return Ok(Reply::empty(304));
    }
    let reply = representation::resource_reply(200, &represent(request, &container));
    let mut reply = with_shared_throughput(api, &container, reply);
    let progress = container.collection.index_progress().to_string();
    reply = reply.with_header("x-ms-alt-content-path", format!("dbs/{}", container.database));
    if container::is_lazy(container.options()) {
        reply = reply
            .with_header("x-ms-documentdb-collection-lazy-indexing-progress", progress.clone());
    }
    reply = reply.with_header("x-ms-documentdb-collection-index-transformation-progress", progress);
    if request.headers.quota_info() {
        let live = api.engine.forecast_collection(&container.collection).await?.live;
        let kilobytes = u64::try_from(live.bytes).unwrap_or(0).div_ceil(1024);
        let (store, id) = (api.engine.store(), container.collection.id);
        let held = [Space::Rows(id), Space::Index(id)].map(|space| store.space_bytes(space));
        // The disk usage may not include recent writes yet, so it is at least the size of the live
        // items.
        let all = held.iter().sum::<u64>().div_ceil(1024).max(kilobytes);
        let usage = format!(
            "documentSize={};documentsSize={kilobytes};documentsCount={};collectionSize={all};",
            kilobytes / (1024 * 1024),
            live.documents
        );
        reply = reply
            .with_header("x-ms-resource-usage", usage)
            .with_header("x-ms-resource-quota", QUOTA);
    }
    Ok(reply)
}

/// `PUT /dbs/{db}/colls/{c}`. 200 with the new definition. The new TTL is in effect when the
/// response is sent; new indexes are built afterwards.
pub(crate) async fn replace_container(
    api: &NoSqlApi,
    request: &Request,
    body: &[u8],
) -> Result<Reply> {
    let body = shared::parse_document(body)?;
    let held = find_named(api, request)?;
    // A version mismatch is reported before errors in the definition.
    resources::check_version(request, held.version())?;
    let mut definition = ContainerDefinition::parse_replacement(body, held.options())?;
    if held.keeps_feed() {
        definition.keep_begun_feed(held.options());
    }
    let version = match shared::expected_version(request) {
        Expected::Version(stamp) => Some(stamp),
        Expected::Absent | Expected::Present => None,
    };
    let collection = &held.collection;
    api.engine.replace_container(collection, definition.engine_definition(), version).await?;
    let (engine, collection) = (api.engine.clone(), Arc::clone(collection));
    // The indexes are built in the background. Queries return the same results before the build is
    // complete, and an interrupted build continues at the next start.
    tokio::spawn(async move {
        if let Err(error) = engine.transform_indexes(&collection).await {
            tracing::warn!(%error, "cannot build the indexes of a container");
        }
    });
    let container = find_named(api, request)?;
    let reply = representation::resource_reply(200, &represent(request, &container));
    Ok(with_shared_throughput(api, &container, reply))
}

/// `DELETE /dbs/{db}/colls/{c}`. 204. The collection is dropped first: from that time on the
/// container does not exist for clients.
pub(crate) async fn delete_container(api: &NoSqlApi, request: &Request) -> Result<Reply> {
    let container = find_named(api, request)?;
    resources::check_version(request, container.version())?;
    let namespace = Namespace::new(container.database.as_str(), container.name.as_str());
    if !api.engine.drop_collection(Model::Items, &namespace).await? {
        return Err(Failure::no_resource());
    }
    // The container is deleted even if this fails: a remaining offer is removed at the next start.
    if let Err(failure) = remove_belongings(api, &container).await {
        let (database, container) = (&container.database, &container.name);
        tracing::warn!(
            database,
            container,
            text = %failure.text,
            "cannot delete the resources of a deleted container"
        );
    }
    api.containers.forget_dropped();
    Ok(resources::removed_reply())
}

/// Removes the offer and the resources (such as scripts) of a dropped container.
async fn remove_belongings(api: &NoSqlApi, container: &Container) -> Result<()> {
    offers::remove_offer(api, &container.rid).await?;
    let path = resource_path(container);
    let path = path.each_ref().map(String::as_str);
    match api.engine.remove_resource(&path, Expected::Present).await {
        Err(error) if !matches!(error.kind, Kind::NotFound(_)) => Err(error.into()),
        _ => Ok(()),
    }
}
