//! Client encryption keys of a database. A client creates a key, encrypts it with another key that
//! the server never sees, and stores the encrypted key on the server. Clients encrypt and decrypt
//! the properties of items themselves. Keys are never deleted, as in Azure Cosmos DB, since items
//! may be encrypted with them.

use std::sync::Arc;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use document::{Document, Value, doc};
use engine::Resource;

use super::{resource_feed, resources, shared};
use crate::{
    api::NoSqlApi,
    catalog::{self, Database, ROOT},
    failure::{Failure, Fault, Result},
    limits::MAX_CLIENT_KEYS,
    names,
    reply::Reply,
    representation::{self, SystemProperties},
    request::Request,
    rid::Rid,
};

/// Segment of catalog paths after the database and before the name of a client encryption key.
const SEGMENT: &str = "clientkey";

fn key_path<'a>(database: &'a Database, name: &'a str) -> [&'a str; 4] {
    [ROOT, &database.name, SEGMENT, name]
}

fn key_rid(database: &Database, held: &Resource) -> Rid {
    let number = catalog::resource_number(&held.body).unwrap_or_default();
    Rid::ClientKey { database: database.number, key: number }
}

/// Returns a client encryption key as responses represent it.
fn represent(database: &Database, held: &Resource) -> Document {
    let system = SystemProperties {
        rid: key_rid(database, held),
        owner: format!("dbs/{}/", database.rid().encode()),
        word: "clientencryptionkeys",
        stamp: held.stamp,
        ts: held.ts,
    };
    let mut body = resources::kept_body(held);
    body.remove("number");
    system.complete_body(body, &[])
}

/// Returns all client encryption keys of a database as responses represent them.
fn represent_all(api: &NoSqlApi, database: &Database) -> Vec<Document> {
    let all = resources::siblings_of(api, &key_path(database, ""));
    all.iter().map(|held| represent(database, held)).collect()
}

/// Finds the key that a link names, by name or resource id, and its database.
fn find_named(api: &NoSqlApi, request: &Request) -> Result<(Database, Arc<Resource>)> {
    let database = shared::find_database(api, request)?;
    let path = key_path(&database, request.name());
    let found = resources::find_resource(api, &path, |held| key_rid(&database, held));
    let found = found.ok_or_else(Failure::no_resource)?;
    Ok((database, found))
}

/// Refuses a container definition that uses a key which the database does not have.
pub(super) fn check_known(api: &NoSqlApi, database: &Database, keys: &[&str]) -> Result<()> {
    let is_unknown = |key: &&&str| api.engine.resource_at(&key_path(database, key)).is_none();
    match keys.iter().find(is_unknown) {
        None => Ok(()),
        Some(key) => Err(Failure::bad_request(format!(
            "ClientEncryptionKey with id '[{key}]' does not exist."
        ))),
    }
}

/// Validates the body of a write; returns the id and the stored properties.
fn read_body(body: &[u8]) -> Result<(String, Document)> {
    let body = shared::parse_document(body)?;
    let id = names::check_name(body.get("id"))?;
    let text = |fields: &Document, name: &str| {
        let text = fields.get(name).and_then(|value| value.as_ref().as_str());
        text.filter(|text| !text.is_empty()).map(str::to_owned).ok_or_else(|| {
            Failure::bad_request(format!("A client encryption key must have a string '{name}'."))
        })
    };
    let algorithm = text(&body, "encryptionAlgorithm")?;
    let wrapped = text(&body, "wrappedDataEncryptionKey")?;
    if STANDARD.decode(&wrapped).is_err() {
        return Err(Failure::bad_request("The string 'wrappedDataEncryptionKey' is not base64."));
    }
    let Some(Value::Document(given)) = body.get("keyWrapMetadata") else {
        return Err(Failure::bad_request(
            "A client encryption key must have an object 'keyWrapMetadata'.",
        ));
    };
    let mut metadata = Document::new();
    for name in ["type", "name", "value", "algorithm"] {
        metadata.push(name, Value::String(text(given, name)?));
    }
    let kept = doc! {
        "encryptionAlgorithm": Value::String(algorithm),
        "wrappedDataEncryptionKey": Value::String(wrapped),
        "keyWrapMetadata": metadata,
    };
    Ok((id, kept))
}

/// `POST /dbs/{db}/clientencryptionkeys`. 201; 409 if the name is in use, 403 if the database has
/// too many keys.
pub(crate) async fn create_key(api: &NoSqlApi, request: &Request, body: &[u8]) -> Result<Reply> {
    let (id, mut kept) = read_body(body)?;
    let database = shared::find_database(api, request)?;
    let path = key_path(&database, &id);
    if api.engine.resource_at(&path).is_some() {
        return Err(Failure::already_exists());
    }
    if MAX_CLIENT_KEYS <= resources::siblings_of(api, &path).len() {
        let text = format!("The database already has {MAX_CLIENT_KEYS} client encryption keys.");
        return Err(Failure::new(Fault::Forbidden, text));
    }
    let number = resources::next_number(api).await?;
    kept.push("number", Value::Int64(i64::from(number)));
    let (_, made) = resources::create_resource(api, request, &path, kept).await?;
    Ok(representation::resource_reply(201, &represent(&database, &made)))
}

/// `GET /dbs/{db}/clientencryptionkeys`, or `POST` with a query: lists client encryption keys.
pub(crate) fn list_keys(
    api: &NoSqlApi,
    request: &Request,
    query_body: Option<&[u8]>,
) -> Result<Reply> {
    resource_feed::list_in_database(api, request, query_body, "ClientEncryptionKeys", represent_all)
}

/// `GET /dbs/{db}/clientencryptionkeys/{k}`. 200, or 304 if the client already has this version.
pub(crate) fn read_key(api: &NoSqlApi, request: &Request) -> Result<Reply> {
    let (database, held) = find_named(api, request)?;
    if shared::is_known(request, held.stamp) {
        return Ok(Reply::empty(304));
    }
    Ok(representation::resource_reply(200, &represent(&database, &held)))
}

/// `PUT /dbs/{db}/clientencryptionkeys/{k}`: replaces the stored form of a key, for example after
/// the client has encrypted the key with a new key of its own. 200; the id cannot change.
pub(crate) async fn replace_key(api: &NoSqlApi, request: &Request, body: &[u8]) -> Result<Reply> {
    let (id, mut kept) = read_body(body)?;
    let (database, held) = find_named(api, request)?;
    if held.path.last() != Some(&id) {
        return Err(Failure::bad_request("The id of a client encryption key cannot be changed."));
    }
    if let Some(number) = held.body.get("number") {
        kept.push("number", number.clone());
    }
    let made = resources::replace_resource(api, request, &held, kept).await?;
    Ok(representation::resource_reply(200, &represent(&database, &made)))
}
