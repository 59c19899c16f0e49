//! Permissions of a user: each read of one gives a token for its resource.
//!
//! A token is not kept: it is made for the response and lives as long as the request asks for. So
//! reading is as much as being given the right, and needs a key that may do everything.

use std::sync::Arc;

use auth::Token;
use document::{Document, doc};
use engine::{Resource, Store};

use super::{
    resource_feed, resources, shared,
    users::{self, User},
};
use crate::{
    catalog::Database,
    door::Door,
    failure::{Failure, Result},
    names,
    permission::{self, Permission},
    reply::Reply,
    representation::{self, SystemProperties},
    request::Request,
    rid::{Leaf, Rid},
};

/// Part of the paths of permissions after their user.
const WORD: &str = "permission";

/// The permissions of one user.
struct PermissionFeed {
    database: Database,
    user: User,
}

impl PermissionFeed {
    /// The feed that a link means or lies in.
    fn find_feed<S: Store>(door: &Door<S>, request: &Request) -> Result<Self> {
        let [_, name] = &request.link.owners;
        let database = shared::find_database(door, request)?;
        let user = users::find_user(door, &database, name).ok_or_else(Failure::no_owner)?;
        Ok(Self { database, user })
    }

    /// The path of the permission of this name.
    fn path_of<'a>(&'a self, name: &'a str) -> [&'a str; 6] {
        let [root, database, word, user] = users::user_path(&self.database, &self.user.name);
        [root, database, word, user, WORD, name]
    }

    /// The resource id of the user.
    fn user_rid(&self) -> String {
        self.user.rid(&self.database).encode()
    }

    /// All of them as clients see them, each with a new token.
    fn represent_all<S: Store>(&self, door: &Door<S>, request: &Request) -> Result<Vec<Document>> {
        resources::siblings_of(door, &self.path_of(""))
            .iter()
            .map(|held| self.represent(door, request, held))
            .collect()
    }

    /// The permission at the end of a link, by name or resource id.
    fn find_named<S: Store>(&self, door: &Door<S>, request: &Request) -> Result<Arc<Resource>> {
        let name = request.name();
        let found = resources::find_resource(door, &self.path_of(name), |held| self.rid_of(held));
        found.ok_or_else(Failure::no_resource)
    }

    /// The resource id of a permission, which is made of the commit of its birth.
    fn rid_of(&self, held: &Resource) -> Rid {
        Rid::Leaf {
            database: self.database.number,
            owner: self.user.number,
            number: held.birth,
            leaf: Leaf::Permission,
        }
    }

    /// A permission as clients see it, with a token.
    fn represent<S: Store>(
        &self,
        door: &Door<S>,
        request: &Request,
        held: &Resource,
    ) -> Result<Document> {
        let token = new_token(door, request, &permission::token_of(held))?;
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

/// A token that lives for as long as a request asks for, or for the default time where it does not
/// say.
fn new_token<S: Store>(door: &Door<S>, request: &Request, token: &Token) -> Result<String> {
    let asked = request.headers.expiry_seconds();
    let refused = || {
        Failure::bad_request(format!(
            "A token lives from {} to {} seconds; '{}' was asked for.",
            auth::limits::MIN_TOKEN_SECONDS,
            auth::limits::MAX_TOKEN_SECONDS,
            asked.unwrap_or_default()
        ))
    };
    let seconds = asked.map(|text| text.trim().parse::<i64>().map_err(|_| refused()));
    let now_s = clock::wall_ms().div_euclid(1000);
    token.issue(&door.secret, now_s, seconds.transpose()?).ok_or_else(refused)
}

/// The id that a write is about and what it keeps. A request whose token could not be made is
/// refused before it changes anything.
fn read_request<S: Store>(
    door: &Door<S>,
    request: &Request,
    body: &[u8],
) -> Result<(String, Document)> {
    let wanted = read_body(door, body)?;
    new_token(door, request, &Token { permission: String::new(), version: 0 })?;
    Ok(wanted)
}

/// Reads and checks the body of a write.
fn read_body<S: Store>(door: &Door<S>, body: &[u8]) -> Result<(String, Document)> {
    let body = shared::parse_document(body)?;
    let id = names::check_name(body.get("id"))?;
    let permission = Permission::parse(&body)?;
    if permission.partition.is_none()
        && permission.path.needs_partition(&door.engine, &door.containers)
    {
        return Err(Failure::bad_request(
            "A permission for an item that is named by its id has the item's partition key in \
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

/// `POST /dbs/{db}/users/{u}/permissions`. 201 with a token; where the name is taken 409, or 200
/// for an upsert.
pub(crate) async fn create_permission<S: Store>(
    door: &Door<S>,
    request: &Request,
    body: &[u8],
) -> Result<Reply> {
    let (id, kept) = read_request(door, request, body)?;
    let owner = PermissionFeed::find_feed(door, request)?;
    let (status, made) =
        resources::create_resource(door, request, &owner.path_of(&id), kept).await?;
    Ok(representation::resource_reply(status, &owner.represent(door, request, &made)?))
}

/// `PUT /dbs/{db}/users/{u}/permissions/{p}`. 200 with a token. Tokens that were given out before
/// end, because they are for the version before. Another id makes it another permission; 409 where that is
/// taken.
pub(crate) async fn replace_permission<S: Store>(
    door: &Door<S>,
    request: &Request,
    body: &[u8],
) -> Result<Reply> {
    let (id, kept) = read_request(door, request, body)?;
    let owner = PermissionFeed::find_feed(door, request)?;
    let held = owner.find_named(door, request)?;
    let made = resources::replace_named(door, request, &held, &owner.path_of(&id), kept).await?;
    Ok(representation::resource_reply(200, &owner.represent(door, request, &made)?))
}

/// `GET /dbs/{db}/users/{u}/permissions`, or `POST` with a query. Each permission comes with a new
/// token.
pub(crate) fn list_permissions<S: Store>(
    door: &Door<S>,
    request: &Request,
    asked: Option<&[u8]>,
) -> Result<Reply> {
    let owner = PermissionFeed::find_feed(door, request)?;
    resource_feed::list_resources(
        door,
        request,
        asked,
        &owner.user_rid(),
        "Permissions",
        owner.represent_all(door, request)?,
    )
}

/// `GET /dbs/{db}/users/{u}/permissions/{p}`. It is how an application gets a token for its user.
pub(crate) fn read_permission<S: Store>(door: &Door<S>, request: &Request) -> Result<Reply> {
    let owner = PermissionFeed::find_feed(door, request)?;
    let held = owner.find_named(door, request)?;
    Ok(representation::resource_reply(200, &owner.represent(door, request, &held)?))
}

/// `DELETE /dbs/{db}/users/{u}/permissions/{p}`. 204. Its tokens are 403 from then on.
pub(crate) async fn delete_permission<S: Store>(
    door: &Door<S>,
    request: &Request,
) -> Result<Reply> {
    let owner = PermissionFeed::find_feed(door, request)?;
    resources::delete_resource(door, request, &*owner.find_named(door, request)?).await
}
