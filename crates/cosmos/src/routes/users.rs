//! Users of a database: names that permissions hang on.

use std::sync::Arc;

use document::{Document, Value, doc};
use engine::{Expect, Resource, Store};

use super::{queries, resources, shared};
use crate::{
    catalog::{self, Database, ROOT},
    door::Door,
    failure::{Failure, Result},
    names,
    reply::Reply,
    representation::{self, SystemProperties},
    request::Request,
    rid::Rid,
};

/// Part of the paths of users behind their database.
const WORD: &str = "user";

/// A user.
#[derive(Clone, Debug)]
pub(super) struct User {
    pub(super) name: String,
    pub(super) number: u32,
    resource: Arc<Resource>,
}

impl User {
    fn of(resource: Arc<Resource>) -> Option<Self> {
        let [_, _, word, name] = resource.path.as_slice() else { return None };
        if word != WORD {
            return None;
        }
        let number = catalog::number(&resource.body)?;
        Some(Self { name: name.clone(), number, resource })
    }

    pub(super) fn rid(&self, database: &Database) -> Rid {
        Rid::User { database: database.number, user: self.number }
    }
}

/// The user of this name or resource id.
pub(super) fn find<S: Store>(door: &Door<S>, database: &Database, name: &str) -> Option<User> {
    if let Some(found) = door.engine.resource(&path(database, name)) {
        return User::of(found);
    }
    let wanted = Rid::parse(name)?;
    users(door, database).into_iter().find(|user| user.rid(database) == wanted)
}

pub(super) fn path<'a>(database: &'a Database, name: &'a str) -> [&'a str; 4] {
    [ROOT, &database.name, WORD, name]
}

fn users<S: Store>(door: &Door<S>, database: &Database) -> Vec<User> {
    let all = door.engine.resources(&[ROOT, &database.name, WORD]);
    all.into_iter().filter_map(User::of).collect()
}

fn show(database: &Database, user: &User) -> Document {
    let system = SystemProperties {
        rid: user.rid(database),
        owner: format!("dbs/{}/", database.rid().encode()),
        word: "users",
        stamp: user.resource.stamp,
        ts: user.resource.ts,
    };
    system.show(doc! { "id": user.name.as_str() }, &[("_permissions", "permissions/")])
}

fn all<S: Store>(door: &Door<S>, database: &Database) -> Vec<Document> {
    users(door, database).iter().map(|user| show(database, user)).collect()
}

fn named<S: Store>(door: &Door<S>, request: &Request) -> Result<(Database, User)> {
    let database = shared::database(door, request)?;
    let name = request.name();
    let user = find(door, &database, name).ok_or_else(Failure::no_resource)?;
    Ok((database, user))
}

async fn put<S: Store>(
    door: &Door<S>,
    database: &Database,
    name: &str,
    expect: Expect,
) -> Result<User> {
    let number = shared::next_number(door).await?;
    let body = doc! { "number": Value::Int64(i64::from(number)) };
    let resource = door.engine.put_resource(&path(database, name), body, expect).await?;
    Ok(User { name: name.to_owned(), number, resource })
}

/// `POST /dbs/{db}/users`
pub(crate) async fn create<S: Store>(
    door: &Door<S>,
    request: &Request,
    body: &[u8],
) -> Result<Reply> {
    let id = names::check(shared::document(body)?.get("id"))?;
    let upsert = request.headers.is_upsert();
    let database = shared::database(door, request)?;
    match find(door, &database, &id) {
        Some(held) if upsert => Ok(representation::one(200, &show(&database, &held))),
        Some(_) => Err(Failure::exists()),
        None => {
            let made = put(door, &database, &id, Expect::Absent).await?;
            Ok(representation::one(201, &show(&database, &made)))
        }
    }
}

/// `GET /dbs/{db}/users`, or `POST` with a query
pub(crate) fn list<S: Store>(
    door: &Door<S>,
    request: &Request,
    asked: Option<&[u8]>,
) -> Result<Reply> {
    let database = shared::database(door, request)?;
    queries::list(door, request, asked, &database.rid().encode(), "Users", all(door, &database))
}

/// `GET /dbs/{db}/users/{u}`
pub(crate) fn read<S: Store>(door: &Door<S>, request: &Request) -> Result<Reply> {
    let (database, user) = named(door, request)?;
    Ok(representation::one(200, &show(&database, &user)))
}

/// `PUT /dbs/{db}/users/{u}`: the only property is the id, and another one is another user.
pub(crate) async fn replace<S: Store>(
    door: &Door<S>,
    request: &Request,
    body: &[u8],
) -> Result<Reply> {
    let id = names::check(shared::document(body)?.get("id"))?;
    let (database, held) = named(door, request)?;
    resources::check_version(request, held.resource.stamp)?;
    if id == held.name {
        let body = held.resource.body.clone();
        let path = path(&database, &id);
        let resource = door.engine.put_resource(&path, body, Expect::Present).await?;
        return Ok(representation::one(200, &show(&database, &User { resource, ..held })));
    }
    let made = put(door, &database, &id, Expect::Absent).await?;
    door.engine.remove_resource(&path(&database, &held.name), Expect::Present).await?;
    Ok(representation::one(200, &show(&database, &made)))
}

/// `DELETE /dbs/{db}/users/{u}`
pub(crate) async fn delete<S: Store>(door: &Door<S>, request: &Request) -> Result<Reply> {
    let (_, user) = named(door, request)?;
    resources::delete(door, request, &user.resource).await
}
