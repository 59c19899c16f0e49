//! Permissions of a user; each read of a permission returns a token for its resource.
//!
//! Tokens are not stored: they are issued for the response, with the lifetime that the request asks
//! for. Reading a permission therefore gives access to its resource, and requires a full account
//! key.

use std::sync::Arc;

use auth::Token;
use document::{Document, doc};
use engine::Resource;

use super::{
    resource_feed, resources, shared,
    users::{self, User},
};
use crate::{
    api::NoSqlApi,
    catalog::Database,
    failure::{Failure, Result},
    names,
    permission::{self, Permission},
    reply::Reply,
    representation::{self, SystemProperties},
    request::Request,
    rid::{Leaf, Rid},
};

/// Segment of catalog paths after the user and before the name of a permission.
const SEGMENT: &str = "permission";

struct PermissionFeed {
    database: Database,
    user: User,
}

impl PermissionFeed {
    /// Returns the user whose permissions the request's path denotes, or to whom the permission in
    /// the path belongs.
    fn find_feed(api: &NoSqlApi, request: &Request) -> Result<Self> {
        let [_, name] = &request.link.owners;
        let database = shared::find_database(api, request)?;
        let user = users::find_user(api, &database, name).ok_or_else(Failure::no_owner)?;
        Ok(Self { database, user })
    }

    fn path_of<'a>(&'a self, name: &'a str) -> [&'a str; 6] {
        let [root, database, segment, user] = users::user_path(&self.database, &self.user.name);
        [root, database, segment, user, SEGMENT, name]
    }

    fn user_rid(&self) -> String {
        self.user.rid(&self.database).encode()
    }

    /// Returns all permissions of the user as responses represent them, each with a new token.
    fn represent_all(&self, api: &NoSqlApi, request: &Request) -> Result<Vec<Document>> {
        resources::siblings_of(api, &self.path_of(""))
            .iter()
            .map(|held| self.represent(api, request, held))
            .collect()
    }

    /// Finds the permission that the request's path names, by name or resource id.
    fn find_named(&self, api: &NoSqlApi, request: &Request) -> Result<Arc<Resource>> {
        let name = request.name();
        let found = resources::find_resource(api, &self.path_of(name), |held| self.rid_of(held));
        found.ok_or_else(Failure::no_resource)
    }

    /// Returns the resource id of a permission, derived from the commit that created it.
    fn rid_of(&self, held: &Resource) -> Rid {
        Rid::Leaf {
            database: self.database.number,
            owner: self.user.number,
            number: held.creation_stamp,
            leaf: Leaf::Permission,
        }
    }

    /// Returns a permission as responses represent it, with a new token.
    fn represent(&self, api: &NoSqlApi, request: &Request, held: &Resource) -> Result<Document> {
        let token = new_token(api, request, &permission::token_of(held))?;
        let system = SystemProperties {
            rid: self.rid_of(held),
            owner: format!("dbs/{}/users/{}/", self.database.rid().encode(), self.user_rid()),
            word: "permissions",
            stamp: held.stamp,
            ts: held.ts,
        };
        let mut shown = system.complete_body(resources::kept_body(held), &[]);
        shown.push("_token", token);
        Ok(shown)
    }
}

/// Issues a token with the requested lifetime, or the default one.
fn new_token(api: &NoSqlApi, request: &Request, token: &Token) -> Result<String> {
    let expiry = request.headers.expiry_seconds();
    let refused = || {
        Failure::bad_request(format!(
            "The lifetime of a token must be {} to {} seconds, not '{}'.",
            auth::MIN_TOKEN_SECONDS,
            auth::MAX_TOKEN_SECONDS,
            expiry.map_or_else(String::new, |expiry| expiry.to_string())
        ))
    };
    let seconds = expiry.map(|number| number.parse().ok_or_else(refused));
    let now_s = clock::wall_ms().div_euclid(1000);
    token.issue(&api.secret, now_s, seconds.transpose()?).ok_or_else(refused)
}

/// Parses a request that creates or replaces a permission; returns the permission's id and the
/// stored properties. A request for which no token could be issued is refused here, before it
/// changes anything.
fn read_request(api: &NoSqlApi, request: &Request, body: &[u8]) -> Result<(String, Document)> {
    let wanted = read_body(api, body)?;
    new_token(api, request, &Token { permission: String::new(), version: 0 })?;
    Ok(wanted)
}

/// Validates the body of a write.
fn read_body(api: &NoSqlApi, body: &[u8]) -> Result<(String, Document)> {
    let body = shared::parse_document(body)?;
    let id = names::check_name(body.get("id"))?;
    let permission = Permission::parse(&body)?;
    if permission.partition.is_none()
        && permission.path.needs_partition(&api.engine, &api.containers)
    {
        return Err(Failure::bad_request(
            "A permission for an item named by its id must have the item's partition key in \
             'resourcePartitionKey'.",
        ));
    }
    let text = |name: &str| body.get(name).and_then(|text| text.as_ref().as_str());
    let [mode, resource] =
        ["permissionMode", "resource"].map(|name| text(name).unwrap_or_default());
    let mut kept = doc! { "permissionMode": mode, "resource": resource };
    if permission.partition.is_some()
        && let Some(key) = body.get("resourcePartitionKey")
    {
        kept.push("resourcePartitionKey", key.clone());
    }
    Ok((id, kept))
}

/// `POST /dbs/{db}/users/{u}/permissions`. 201 with a token; if the name is in use 409, or 200 for
/// an upsert.
pub(crate) async fn create_permission(
    api: &NoSqlApi,
    request: &Request,
    body: &[u8],
) -> Result<Reply> {
    let (id, kept) = read_request(api, request, body)?;
    let owner = PermissionFeed::find_feed(api, request)?;
    let (status, made) =
        resources::create_resource(api, request, &owner.path_of(&id), kept).await?;
    Ok(representation::resource_reply(status, &owner.represent(api, request, &made)?))
}

/// `PUT /dbs/{db}/users/{u}/permissions/{p}`. 200 with a token. Tokens issued before become
/// invalid, because they name the previous version. If the body has another id, a permission with
/// this id replaces the old one; 409 if the id is in use.
pub(crate) async fn replace_permission(
    api: &NoSqlApi,
    request: &Request,
    body: &[u8],
) -> Result<Reply> {
    let (id, kept) = read_request(api, request, body)?;
    let owner = PermissionFeed::find_feed(api, request)?;
    let held = owner.find_named(api, request)?;
    let made = resources::replace_named(api, request, &held, &owner.path_of(&id), kept).await?;
    Ok(representation::resource_reply(200, &owner.represent(api, request, &made)?))
}

/// `GET /dbs/{db}/users/{u}/permissions`, or `POST` with a query. Each permission is returned with
/// a new token.
pub(crate) fn list_permissions(
    api: &NoSqlApi,
    request: &Request,
    query_body: Option<&[u8]>,
) -> Result<Reply> {
    let owner = PermissionFeed::find_feed(api, request)?;
    resource_feed::list_resources(
        api,
        request,
        query_body,
        &owner.user_rid(),
        "Permissions",
        owner.represent_all(api, request)?,
    )
}

/// `GET /dbs/{db}/users/{u}/permissions/{p}`. Applications use it to get a token for a user.
pub(crate) fn read_permission(api: &NoSqlApi, request: &Request) -> Result<Reply> {
    let owner = PermissionFeed::find_feed(api, request)?;
    let held = owner.find_named(api, request)?;
    Ok(representation::resource_reply(200, &owner.represent(api, request, &held)?))
}

/// `DELETE /dbs/{db}/users/{u}/permissions/{p}`. 204. From then on requests with the permission's
/// tokens fail with 403.
pub(crate) async fn delete_permission(api: &NoSqlApi, request: &Request) -> Result<Reply> {
    let owner = PermissionFeed::find_feed(api, request)?;
    resources::delete_resource(api, request, &*owner.find_named(api, request)?).await
}
