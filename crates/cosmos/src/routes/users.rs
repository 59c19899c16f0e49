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
    fn of_resource(resource: Arc<Resource>) -> Option<Self> {
        let [_, _, word, name] = resource.path.as_slice() else { return None };
        if word != WORD {
            return None;
        }
        let number = catalog::resource_number(&resource.body)?;
        Some(Self { name: name.clone(), number, resource })
    }

    pub(super) fn rid(&self, database: &Database) -> Rid {
        Rid::User { database: database.number, user: self.number }
    }
}

/// The user of this name or resource id.
pub(super) fn find_user<S: Store>(door: &Door<S>, database: &Database, name: &str) -> Option<User> {
    if let Some(found) = door.engine.resource(&user_path(database, name)) {
        return User::of_resource(found);
    }
    let wanted = Rid::parse(name)?;
    all_users(door, database).into_iter().find(|user| user.rid(database) == wanted)
}

pub(super) fn user_path<'a>(database: &'a Database, name: &'a str) -> [&'a str; 4] {
    [ROOT, &database.name, WORD, name]
}

fn all_users<S: Store>(door: &Door<S>, database: &Database) -> Vec<User> {
    let all = door.engine.resources(&[ROOT, &database.name, WORD]);
    all.into_iter().filter_map(User::of_resource).collect()
}

fn represent(database: &Database, user: &User) -> Document {
    let system = SystemProperties {
        rid: user.rid(database),
        owner: format!("dbs/{}/", database.rid().encode()),
        word: "users",
        stamp: user.resource.stamp,
        ts: user.resource.ts,
    };
    system.complete_body(doc! { "id": user.name.as_str() }, &[("_permissions", "permissions/")])
}

fn represent_all<S: Store>(door: &Door<S>, database: &Database) -> Vec<Document> {
    all_users(door, database).iter().map(|user| represent(database, user)).collect()
}

fn find_named<S: Store>(door: &Door<S>, request: &Request) -> Result<(Database, User)> {
    let database = shared::find_database(door, request)?;
    let name = request.name();
    let user = find_user(door, &database, name).ok_or_else(Failure::no_resource)?;
    Ok((database, user))
}

async fn put_user<S: Store>(
    door: &Door<S>,
    database: &Database,
    name: &str,
    expect: Expect,
) -> Result<User> {
    let number = shared::next_number(door).await?;
    let body = doc! { "number": Value::Int64(i64::from(number)) };
    let resource = door.engine.put_resource(&user_path(database, name), body, expect).await?;
    Ok(User { name: name.to_owned(), number, resource })
}

/// `POST /dbs/{db}/users`
pub(crate) async fn create_user<S: Store>(
    door: &Door<S>,
    request: &Request,
    body: &[u8],
) -> Result<Reply> {
    let id = names::check_name(shared::parse_document(body)?.get("id"))?;
    let upsert = request.headers.is_upsert();
    let database = shared::find_database(door, request)?;
    match find_user(door, &database, &id) {
        Some(held) if upsert => {
            Ok(representation::resource_reply(200, &represent(&database, &held)))
        }
        Some(_) => Err(Failure::already_exists()),
        None => {
            let made = put_user(door, &database, &id, Expect::Absent).await?;
            Ok(representation::resource_reply(201, &represent(&database, &made)))
        }
    }
}

/// `GET /dbs/{db}/users`, or `POST` with a query
pub(crate) fn list_users<S: Store>(
    door: &Door<S>,
    request: &Request,
    asked: Option<&[u8]>,
) -> Result<Reply> {
    let database = shared::find_database(door, request)?;
    queries::list_resources(
        door,
        request,
        asked,
        &database.rid().encode(),
        "Users",
        represent_all(door, &database),
    )
}

/// `GET /dbs/{db}/users/{u}`
pub(crate) fn read_user<S: Store>(door: &Door<S>, request: &Request) -> Result<Reply> {
    let (database, user) = find_named(door, request)?;
    Ok(representation::resource_reply(200, &represent(&database, &user)))
}

/// `PUT /dbs/{db}/users/{u}`: the only property is the id, and another one is another user.
pub(crate) async fn replace_user<S: Store>(
    door: &Door<S>,
    request: &Request,
    body: &[u8],
) -> Result<Reply> {
    let id = names::check_name(shared::parse_document(body)?.get("id"))?;
    let (database, held) = find_named(door, request)?;
    resources::check_version(request, held.resource.stamp)?;
    if id == held.name {
        let body = held.resource.body.clone();
        let path = user_path(&database, &id);
        let resource = door.engine.put_resource(&path, body, Expect::Present).await?;
        return Ok(representation::resource_reply(
            200,
            &represent(&database, &User { resource, ..held }),
        ));
    }
    let made = put_user(door, &database, &id, Expect::Absent).await?;
    door.engine.remove_resource(&user_path(&database, &held.name), Expect::Present).await?;
    Ok(representation::resource_reply(200, &represent(&database, &made)))
}

/// `DELETE /dbs/{db}/users/{u}`
pub(crate) async fn delete_user<S: Store>(door: &Door<S>, request: &Request) -> Result<Reply> {
    let (_, user) = find_named(door, request)?;
    resources::delete_resource(door, request, &user.resource).await
}
