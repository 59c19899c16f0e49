//! Users of a database: names that own permissions. Users have no credentials: an application
//! obtains the tokens of a user's permissions and passes them on to the person.

use std::sync::Arc;

use document::{Document, doc};
use engine::{Expected, Resource};

use super::{resource_feed, resources, shared};
use crate::{
    api::NoSqlApi,
    catalog::{self, Database, ROOT},
    failure::{Failure, Result},
    names,
    reply::Reply,
    representation::{self, SystemProperties},
    request::Request,
    rid::Rid,
};

/// Segment of catalog paths after the database and before the name of a user.
const SEGMENT: &str = "user";

#[derive(Clone, Debug)]
pub(super) struct User {
    /// Unique name within the database.
    pub(super) name: String,
    /// The number in the resource id.
    pub(super) number: u32,
    /// The stored resource with its version.
    resource: Arc<Resource>,
}

impl User {
    /// Converts a stored resource; returns `None` if it is not a user.
    fn of_resource(resource: Arc<Resource>) -> Option<Self> {
        let [_, _, segment, name] = resource.path.as_slice() else { return None };
        if segment != SEGMENT {
            return None;
        }
        let number = catalog::resource_number(&resource.body)?;
        Some(Self { name: name.clone(), number, resource })
    }

    pub(super) fn rid(&self, database: &Database) -> Rid {
        Rid::User { database: database.number, user: self.number }
    }
}

/// Finds a user by name or resource id.
pub(super) fn find_user(api: &NoSqlApi, database: &Database, name: &str) -> Option<User> {
    if let Some(found) = api.engine.resource_at(&user_path(database, name)) {
        return User::of_resource(found);
    }
    let wanted = Rid::parse(name)?;
    all_users(api, database).into_iter().find(|user| user.rid(database) == wanted)
}

pub(super) fn user_path<'a>(database: &'a Database, name: &'a str) -> [&'a str; 4] {
    [ROOT, &database.name, SEGMENT, name]
}

fn all_users(api: &NoSqlApi, database: &Database) -> Vec<User> {
    let all = api.engine.resources_below(&[ROOT, &database.name, SEGMENT]);
    all.into_iter().filter_map(User::of_resource).collect()
}

/// Returns a user as responses represent it.
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

/// Returns all users of a database as responses represent them.
fn represent_all(api: &NoSqlApi, database: &Database) -> Vec<Document> {
    all_users(api, database).iter().map(|user| represent(database, user)).collect()
}

/// Finds the user that the request's path names, and the user's database.
fn find_named(api: &NoSqlApi, request: &Request) -> Result<(Database, User)> {
    let database = shared::find_database(api, request)?;
    let name = request.name();
    let user = find_user(api, &database, name).ok_or_else(Failure::no_resource)?;
    Ok((database, user))
}

/// Creates a user with this name. If `of` is given, removes this user in the same commit.
async fn put_user(
    api: &NoSqlApi,
    database: &Database,
    name: &str,
    of: Option<&User>,
) -> Result<User> {
    let (path, of) = (user_path(database, name), of.map(|user| &*user.resource));
    let (number, resource) = resources::create_instead(api, &path, of).await?;
    Ok(User { name: name.to_owned(), number, resource })
}

/// `POST /dbs/{db}/users`. 201; if the name is in use 409, or 200 for an upsert.
pub(crate) async fn create_user(api: &NoSqlApi, request: &Request, body: &[u8]) -> Result<Reply> {
    let id = names::check_name(shared::parse_document(body)?.get("id"))?;
    let upsert = request.headers.is_upsert();
    let database = shared::find_database(api, request)?;
    match find_user(api, &database, &id) {
        // A user has no property but the name, so an upsert of an existing user changes nothing.
        Some(held) if upsert => {
            Ok(representation::resource_reply(200, &represent(&database, &held)))
        }
        Some(_) => Err(Failure::already_exists()),
        None => {
            let made = put_user(api, &database, &id, None).await?;
            Ok(representation::resource_reply(201, &represent(&database, &made)))
        }
    }
}

/// `GET /dbs/{db}/users`, or `POST` with a query: lists users.
pub(crate) fn list_users(
    api: &NoSqlApi,
    request: &Request,
    query_body: Option<&[u8]>,
) -> Result<Reply> {
    resource_feed::list_in_database(api, request, query_body, "Users", represent_all)
}

/// Handles `GET /dbs/{db}/users/{u}`, which reads a user.
pub(crate) fn read_user(api: &NoSqlApi, request: &Request) -> Result<Reply> {
    let (database, user) = find_named(api, request)?;
    Ok(representation::resource_reply(200, &represent(&database, &user)))
}

/// `PUT /dbs/{db}/users/{u}`. A user has no property but its id; if the id in the body differs, a
/// new user without permissions replaces this one. 409 if the new id is in use.
pub(crate) async fn replace_user(api: &NoSqlApi, request: &Request, body: &[u8]) -> Result<Reply> {
    let id = names::check_name(shared::parse_document(body)?.get("id"))?;
    let (database, held) = find_named(api, request)?;
    resources::check_version(request, held.resource.stamp)?;
    if id == held.name {
        let body = held.resource.body.clone();
        let path = user_path(&database, &id);
        let resource = api.engine.put_resource(&path, body, Expected::Present).await?;
        return Ok(representation::resource_reply(
            200,
            &represent(&database, &User { resource, ..held }),
        ));
    }
    let made = put_user(api, &database, &id, Some(&held)).await?;
    Ok(representation::resource_reply(200, &represent(&database, &made)))
}

/// `DELETE /dbs/{db}/users/{u}`. 204. The user's permissions are removed too, which invalidates
/// their tokens.
pub(crate) async fn delete_user(api: &NoSqlApi, request: &Request) -> Result<Reply> {
    let (_, user) = find_named(api, request)?;
    resources::delete_resource(api, request, &user.resource).await
}
