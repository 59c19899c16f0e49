//! Permissions of a user: each read of one gives a token for its resource.

use std::sync::Arc;

use auth::{Scope, TokenMode};
use document::{Document, Value, doc};
use engine::{Expect, Resource, Store};

use super::{
    common, queries,
    users::{self, User},
};
use crate::{
    call::Call,
    charge::Work,
    containers::Database,
    door::Door,
    failure::{Failure, Result},
    names,
    partition_key::Component,
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

    fn held<S: Store>(&self, door: &Door<S>) -> Vec<Arc<Resource>> {
        let [root, database, word, user] = users::path(&self.database, &self.user.name);
        door.engine.resources(&[root, database, word, user, WORD])
    }

    fn all<S: Store>(&self, door: &Door<S>, call: &Call<'_>) -> Result<Vec<Document>> {
        self.held(door).iter().map(|held| self.show(door, call, held)).collect()
    }

    fn named<S: Store>(&self, door: &Door<S>, call: &Call<'_>) -> Result<Arc<Resource>> {
        let name = call.link.name.as_deref().unwrap_or_default();
        let found = door.engine.resource(&self.path(name));
        let by_id = || self.held(door).into_iter().find(|held| self.rid_of(held).encode() == name);
        found.or_else(by_id).ok_or_else(Failure::no_resource)
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
        let seconds = match call.headers.expiry_seconds {
            None => None,
            Some(text) => Some(text.trim().parse::<i64>().map_err(|_| bad_seconds(text))?),
        };
        let text = |name: &str| {
            let value = held.body.get(name).and_then(|value| value.as_ref().as_str());
            value.unwrap_or_default().to_owned()
        };
        let mode = match text("permissionMode").as_str() {
            "Read" => TokenMode::Read,
            _ => TokenMode::All,
        };
        let partition = held.body.get("resourcePartitionKey").and_then(header);
        let scope =
            Scope { resource: text("resource").trim_matches('/').to_owned(), partition, mode };
        let now_s = clock::wall_ms().div_euclid(1000);
        let token = scope.issue(&door.secret, now_s, seconds);
        let token =
            token.ok_or_else(|| bad_seconds(call.headers.expiry_seconds.unwrap_or_default()))?;
        let system = System {
            rid: self.rid_of(held),
            owner: format!("dbs/{}/users/{}/", self.database.rid().encode(), self.rid()),
            word: "permissions",
            stamp: held.stamp,
            ts: held.ts,
        };
        let id = held.path.last().map_or("", String::as_str);
        let mut body = doc! { "id": id };
        for (name, value) in held.body.fields() {
            body.push(name.clone(), value.clone());
        }
        let mut shown = system.show(body, &[]);
        shown.push("_token", token);
        Ok(shown)
    }
}

fn bad_seconds(text: &str) -> Failure {
    Failure::bad(format!(
        "A token lives from {} to {} seconds; '{text}' was asked for.",
        auth::limits::MIN_TOKEN_SECONDS,
        auth::limits::MAX_TOKEN_SECONDS
    ))
}

/// A partition key of a permission as it stands in a header of a request.
fn header(value: &Value) -> Option<String> {
    let values = match value {
        Value::Array(values) => values.as_slice(),
        one => std::slice::from_ref(one),
    };
    let components: Vec<Component> =
        values.iter().map(|value| Component::of(Some(value.as_ref()))).collect();
    let mut out = Vec::new();
    Component::write_all(&components, &mut out);
    String::from_utf8(out).ok()
}

/// What is kept of a permission.
fn read_body(body: &[u8]) -> Result<(String, Document)> {
    let body = common::document(body)?;
    let id = names::check(body.get("id"))?;
    let text = |name: &str| body.get(name).and_then(|value| value.as_ref().as_str());
    let mode = match text("permissionMode") {
        Some(mode) if mode.eq_ignore_ascii_case("read") => "Read",
        Some(mode) if mode.eq_ignore_ascii_case("all") => "All",
        _ => return Err(Failure::bad("The permissionMode of a permission is Read or All.")),
    };
    let resource = text("resource").filter(|link| link.starts_with("dbs/"));
    let resource = resource.ok_or_else(|| {
        Failure::bad("The resource of a permission is a link that begins with 'dbs/'.")
    })?;
    let mut kept = doc! { "permissionMode": mode, "resource": resource };
    match body.get("resourcePartitionKey") {
        None | Some(Value::Null) => {}
        Some(key @ Value::Array(_)) => kept.push("resourcePartitionKey", key.clone()),
        Some(_) => {
            return Err(Failure::bad("The resourcePartitionKey of a permission is an array."));
        }
    }
    Ok((id, kept))
}

/// `POST /dbs/{db}/users/{u}/permissions`
pub(crate) async fn create<S: Store>(
    door: &Door<S>,
    call: &Call<'_>,
    body: &[u8],
) -> Result<Reply> {
    let (id, kept) = read_body(body)?;
    let _one = door.changing.lock().await;
    let owner = Owner::find(door, call)?;
    let path = owner.path(&id);
    let (status, expect) = match door.engine.resource(&path) {
        Some(_) if call.headers.is_upsert => (200, Expect::Present),
        _ => (201, Expect::Absent),
    };
    let made = door.engine.put_resource(&path, kept, expect).await?;
    Ok(shown::one(status, &owner.show(door, call, &made)?))
}

/// `GET /dbs/{db}/users/{u}/permissions`
pub(crate) fn list<S: Store>(door: &Door<S>, call: &Call<'_>) -> Result<Reply> {
    let owner = Owner::find(door, call)?;
    shown::page(door, call, &owner.rid(), "Permissions", owner.all(door, call)?)
}

/// `POST /dbs/{db}/users/{u}/permissions` with a query
pub(crate) fn query<S: Store>(door: &Door<S>, call: &Call<'_>, body: &[u8]) -> Result<Reply> {
    let owner = Owner::find(door, call)?;
    queries::over(door, call, body, &owner.rid(), "Permissions", owner.all(door, call)?)
}

/// `GET /dbs/{db}/users/{u}/permissions/{p}`
pub(crate) fn read<S: Store>(door: &Door<S>, call: &Call<'_>) -> Result<Reply> {
    let owner = Owner::find(door, call)?;
    let held = owner.named(door, call)?;
    Ok(shown::one(200, &owner.show(door, call, &held)?))
}

/// `PUT /dbs/{db}/users/{u}/permissions/{p}`
pub(crate) async fn replace<S: Store>(
    door: &Door<S>,
    call: &Call<'_>,
    body: &[u8],
) -> Result<Reply> {
    let (id, kept) = read_body(body)?;
    let _one = door.changing.lock().await;
    let owner = Owner::find(door, call)?;
    let held = owner.named(door, call)?;
    if held.path.last() != Some(&id) {
        return Err(Failure::bad("The id of a permission cannot be changed."));
    }
    let made = door.engine.put_resource(&owner.path(&id), kept, common::expect(call)).await?;
    Ok(shown::one(200, &owner.show(door, call, &made)?))
}

/// `DELETE /dbs/{db}/users/{u}/permissions/{p}`
pub(crate) async fn delete<S: Store>(door: &Door<S>, call: &Call<'_>) -> Result<Reply> {
    let _one = door.changing.lock().await;
    let owner = Owner::find(door, call)?;
    let held = owner.named(door, call)?;
    let path: Vec<&str> = held.path.iter().map(String::as_str).collect();
    door.engine.remove_resource(&path, common::expect(call)).await?;
    Ok(Reply::empty(204).charged(Work::Write, 0))
}
