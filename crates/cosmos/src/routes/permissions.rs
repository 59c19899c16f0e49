//! Permissions of a user: each read of one gives a token for its resource.

use std::sync::Arc;

use auth::Token;
use document::{Document, doc};
use engine::{Resource, Store};

use super::{
    queries, resources, shared,
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

/// Part of the paths of permissions behind their user.
const WORD: &str = "permission";

struct PermissionFeed {
    database: Database,
    user: User,
}

impl PermissionFeed {
    fn find<S: Store>(door: &Door<S>, request: &Request) -> Result<Self> {
        let [_, name] = &request.link.owners;
        let database = shared::database(door, request)?;
        let user = users::find(door, &database, name).ok_or_else(Failure::no_owner)?;
        Ok(Self { database, user })
    }

    fn path<'a>(&'a self, name: &'a str) -> [&'a str; 6] {
        let [root, database, word, user] = users::path(&self.database, &self.user.name);
        [root, database, word, user, WORD, name]
    }

    fn rid(&self) -> String {
        self.user.rid(&self.database).encode()
    }

    fn all<S: Store>(&self, door: &Door<S>, request: &Request) -> Result<Vec<Document>> {
        resources::all(door, &self.path(""))
            .iter()
            .map(|held| self.show(door, request, held))
            .collect()
    }

    fn named<S: Store>(&self, door: &Door<S>, request: &Request) -> Result<Arc<Resource>> {
        let name = request.name();
        let found = resources::find(door, &self.path(name), |held| self.rid_of(held));
        found.ok_or_else(Failure::no_resource)
    }

    fn rid_of(&self, held: &Resource) -> Rid {
        Rid::Leaf {
            database: self.database.number,
            owner: self.user.number,
            number: held.birth,
            leaf: Leaf::Permission,
        }
    }

    fn show<S: Store>(
        &self,
        door: &Door<S>,
        request: &Request,
        held: &Resource,
    ) -> Result<Document> {
        let token = new_token(door, request, &permission::token(held))?;
        let system = SystemProperties {
            rid: self.rid_of(held),
            owner: format!("dbs/{}/users/{}/", self.database.rid().encode(), self.rid()),
            word: "permissions",
            stamp: held.stamp,
            ts: held.ts,
        };
        let mut shown = system.show(resources::body(held), &[]);
        shown.push("_token", token);
        Ok(shown)
    }
}

/// A token that lives as long as a request asks for.
fn new_token<S: Store>(door: &Door<S>, request: &Request, token: &Token) -> Result<String> {
    let asked = request.headers.expiry_seconds();
    let refused = || {
        Failure::bad(format!(
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
fn wanted<S: Store>(door: &Door<S>, request: &Request, body: &[u8]) -> Result<(String, Document)> {
    let wanted = read_body(door, body)?;
    new_token(door, request, &Token { permission: String::new(), version: 0 })?;
    Ok(wanted)
}

fn read_body<S: Store>(door: &Door<S>, body: &[u8]) -> Result<(String, Document)> {
    let body = shared::document(body)?;
    let id = names::check(body.get("id"))?;
    let permission = Permission::parse(&body)?;
    if permission.partition.is_none()
        && permission.path.needs_partition(&door.engine, &door.containers)
    {
        return Err(Failure::bad(
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

/// `POST /dbs/{db}/users/{u}/permissions`
pub(crate) async fn create<S: Store>(
    door: &Door<S>,
    request: &Request,
    body: &[u8],
) -> Result<Reply> {
    let (id, kept) = wanted(door, request, body)?;
    let owner = PermissionFeed::find(door, request)?;
    let (status, made) = resources::create(door, request, &owner.path(&id), kept).await?;
    Ok(representation::one(status, &owner.show(door, request, &made)?))
}

/// `PUT /dbs/{db}/users/{u}/permissions/{p}`
pub(crate) async fn replace<S: Store>(
    door: &Door<S>,
    request: &Request,
    body: &[u8],
) -> Result<Reply> {
    let (id, kept) = wanted(door, request, body)?;
    let owner = PermissionFeed::find(door, request)?;
    let held = owner.named(door, request)?;
    resources::check_id(&held, &id, "permission")?;
    let made = resources::replace(door, request, &held, kept).await?;
    Ok(representation::one(200, &owner.show(door, request, &made)?))
}

/// `GET /dbs/{db}/users/{u}/permissions`, or `POST` with a query
pub(crate) fn list<S: Store>(
    door: &Door<S>,
    request: &Request,
    asked: Option<&[u8]>,
) -> Result<Reply> {
    let owner = PermissionFeed::find(door, request)?;
    queries::list(door, request, asked, &owner.rid(), "Permissions", owner.all(door, request)?)
}

/// `GET /dbs/{db}/users/{u}/permissions/{p}`
pub(crate) fn read<S: Store>(door: &Door<S>, request: &Request) -> Result<Reply> {
    let owner = PermissionFeed::find(door, request)?;
    let held = owner.named(door, request)?;
    Ok(representation::one(200, &owner.show(door, request, &held)?))
}

/// `DELETE /dbs/{db}/users/{u}/permissions/{p}`
pub(crate) async fn delete<S: Store>(door: &Door<S>, request: &Request) -> Result<Reply> {
    let owner = PermissionFeed::find(door, request)?;
    resources::delete(door, request, &*owner.named(door, request)?).await
}
