//! Permissions of a user: each read of one gives a token for its resource.

use std::sync::Arc;

use auth::Token;
use document::{Document, doc};
use engine::{Resource, Store};

use super::{
    common, queries, records,
    users::{self, User},
};
use crate::{
    call::Call,
    containers::Database,
    door::Door,
    failure::{Failure, Result},
    names,
    permission::{self, Permission},
    reply::Reply,
    rid::{Leaf, Rid},
    shown::{self, System},
};

/// Part of the paths of permissions behind their user.
const WORD: &str = "permission";

struct Owner {
    database: Database,
    user: User,
}

impl Owner {
    fn find<S: Store>(door: &Door<S>, call: &Call<'_>) -> Result<Self> {
        let [_, name] = &call.link.owners;
        let database = common::database(door, call)?;
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

    fn all<S: Store>(&self, door: &Door<S>, call: &Call<'_>) -> Result<Vec<Document>> {
        records::all(door, &self.path("")).iter().map(|held| self.show(door, call, held)).collect()
    }

    fn named<S: Store>(&self, door: &Door<S>, call: &Call<'_>) -> Result<Arc<Resource>> {
        let name = call.link.name.as_deref().unwrap_or_default();
        let found = records::find(door, &self.path(name), |held| self.rid_of(held));
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

    fn show<S: Store>(&self, door: &Door<S>, call: &Call<'_>, held: &Resource) -> Result<Document> {
        let token = new_token(door, call, &permission::token(held))?;
        let system = System {
            rid: self.rid_of(held),
            owner: format!("dbs/{}/users/{}/", self.database.rid().encode(), self.rid()),
            word: "permissions",
            stamp: held.stamp,
            ts: held.ts,
        };
        let mut shown = system.show(records::body(held), &[]);
        shown.push("_token", token);
        Ok(shown)
    }
}

/// A token that lives as long as a request asks for.
fn new_token<S: Store>(door: &Door<S>, call: &Call<'_>, token: &Token) -> Result<String> {
    let asked = call.headers.expiry_seconds;
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
fn wanted<S: Store>(door: &Door<S>, call: &Call<'_>, body: &[u8]) -> Result<(String, Document)> {
    let wanted = read_body(door, body)?;
    new_token(door, call, &Token { permission: String::new(), version: 0 })?;
    Ok(wanted)
}

fn read_body<S: Store>(door: &Door<S>, body: &[u8]) -> Result<(String, Document)> {
    let body = common::document(body)?;
    let id = names::check(body.get("id"))?;
    let permission = Permission::parse(&body)?;
    if permission.partition.is_none() && permission.place.needs_partition(door) {
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

/// `POST /dbs/{db}/users/{u}/permissions`, `PUT /dbs/{db}/users/{u}/permissions/{p}`
pub(crate) async fn write<S: Store>(door: &Door<S>, call: &Call<'_>, body: &[u8]) -> Result<Reply> {
    let (id, kept) = wanted(door, call, body)?;
    let _one = door.changing.lock().await;
    let owner = Owner::find(door, call)?;
    let (status, made) = match call.link.name {
        None => records::create(door, call, &owner.path(&id), kept).await?,
        Some(_) => {
            let held = owner.named(door, call)?;
            records::check_id(&held, &id, "permission")?;
            (200, records::replace(door, call, &held, kept).await?)
        }
    };
    Ok(shown::one(status, &owner.show(door, call, &made)?))
}

/// `GET /dbs/{db}/users/{u}/permissions`, or `POST` with a query
pub(crate) fn list<S: Store>(
    door: &Door<S>,
    call: &Call<'_>,
    asked: Option<&[u8]>,
) -> Result<Reply> {
    let owner = Owner::find(door, call)?;
    queries::list(door, call, asked, &owner.rid(), "Permissions", owner.all(door, call)?)
}

/// `GET /dbs/{db}/users/{u}/permissions/{p}`
pub(crate) fn read<S: Store>(door: &Door<S>, call: &Call<'_>) -> Result<Reply> {
    let owner = Owner::find(door, call)?;
    let held = owner.named(door, call)?;
    Ok(shown::one(200, &owner.show(door, call, &held)?))
}

/// `DELETE /dbs/{db}/users/{u}/permissions/{p}`
pub(crate) async fn delete<S: Store>(door: &Door<S>, call: &Call<'_>) -> Result<Reply> {
    let _one = door.changing.lock().await;
    let owner = Owner::find(door, call)?;
    records::delete(door, call, &*owner.named(door, call)?).await
}
