//! Routes for databases. A database is stored as a resource of the engine with a number for its
//! resource id; its containers are collections of the engine.

use document::{Document, doc};
use engine::{Expected, Kind, Model, Namespace};

use super::{offers, resources, shared};
use crate::{
    api::NoSqlApi,
    catalog::{self, Database, ROOT},
    failure::{Failure, Fault, Result},
    limits::MAX_RESOURCES,
    names,
    reply::Reply,
    representation::{self, SystemProperties},
    request::Request,
};

/// Returns a database as responses represent it.
fn represent(database: &Database) -> Document {
    let system = SystemProperties {
        rid: database.rid(),
        owner: String::new(),
        word: "dbs",
        stamp: database.resource.stamp,
        ts: database.resource.ts,
    };
    let body = doc! { "id": database.name.as_str() };
    system.complete_body(body, &[("_colls", "colls/"), ("_users", "users/")])
}

/// Returns all databases of this shard as responses represent them.
pub(super) fn represent_all(api: &NoSqlApi) -> Vec<Document> {
    catalog::all_databases(&api.engine).iter().map(represent).collect()
}

/// `POST /dbs`. Without a throughput the database has no offer, and each of its containers has its
/// own. 201; 409 if the name is in use, 403 if there are too many databases.
pub(crate) async fn create_database(
    api: &NoSqlApi,
    request: &Request,
    body: &[u8],
) -> Result<Reply> {
    let id = names::check_name(shared::parse_document(body)?.get("id"))?;
    let throughput = offers::requested_throughput(request)?;
    let databases = catalog::all_databases(&api.engine);
    if databases.iter().any(|database| database.name == id) {
        return Err(Failure::already_exists());
    }
    if MAX_RESOURCES <= databases.len() {
        let text = format!("The account already has {MAX_RESOURCES} databases.");
        return Err(Failure::new(Fault::Forbidden, text));
    }
    let (number, resource) = resources::create_numbered(api, &[ROOT, &id]).await?;
    let made = Database { name: id, number, resource };
    if let Some(throughput) = throughput {
        let link = format!("dbs/{}/", made.rid().encode());
        let named = offers::requested_name(request);
        offers::create_first_offer(api, &link, &made.rid().encode(), throughput, named).await?;
    }
    Ok(representation::resource_reply(201, &represent(&made)))
}

/// `GET /dbs/{db}`. 200, or 304 if the client already has this version.
pub(crate) fn read_database(api: &NoSqlApi, request: &Request) -> Result<Reply> {
    let database = shared::find_database(api, request)?;
    if shared::is_known(request, database.resource.stamp) {
        return Ok(Reply::empty(304));
    }
    Ok(representation::resource_reply(200, &represent(&database)))
}

/// `DELETE /dbs/{db}`: deletes the database with everything in it. 204; 412, with nothing deleted,
/// if the version of the database is not that in `if-match`.
pub(crate) async fn delete_database(api: &NoSqlApi, request: &Request) -> Result<Reply> {
    let database = shared::find_database(api, request)?;
    resources::check_version(request, database.resource.stamp)?;
    // The database itself is deleted last: if this operation is interrupted, a retry still finds
    // the remaining containers.
    for container in catalog::all_containers(&api.engine, &database) {
        let namespace = Namespace::new(database.name.as_str(), container.name.as_str());
        api.engine.drop_collection(Model::Items, &namespace).await?;
        offers::remove_offer(api, &container.rid).await?;
    }
    offers::remove_offer(api, &database.rid().encode()).await?;
    match api.engine.remove_resource(&[ROOT, &database.name], Expected::Present).await {
        Ok(()) => {}
        Err(error) if matches!(error.kind, Kind::NotFound(_)) => {
            return Err(Failure::no_resource());
        }
        Err(error) => return Err(error.into()),
    }
    api.containers.forget_dropped();
    Ok(resources::removed_reply())
}
