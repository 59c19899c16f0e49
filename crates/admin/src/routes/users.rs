//! Management of MongoDB users over HTTP, for `ebb admin user`: the API's commands in JSON.
//! Requests are authorized by the admin key, not by a user.
//!
//! ```text
//! GET    /_ebb/users                   {"users": [{"user": "ann", "database": "admin", ...}]}
//! POST   /_ebb/users                   {"user", "database", "password", "roles": [{"role", "db"}]}
//! PUT    /_ebb/users/{database}/{user} {"password"} or {"roles"} or both
//! DELETE /_ebb/users/{database}/{user}
//! ```

use axum::{
    Json,
    body::Bytes,
    extract::{Path, State},
};
use document::{DocBuf, DocRef, Document, Value as Bson, ValueRef, doc};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Shared,
    error::{Error, Result},
};

/// A role of a user.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct NamedRole {
    role: String,
    db: String,
}

/// Body of a request for a user; the password is plain text.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UserBody {
    user: Option<String>,
    database: Option<String>,
    password: Option<String>,
    roles: Option<Vec<NamedRole>>,
}

impl UserBody {
    fn parse(body: &Bytes) -> Result<Self> {
        serde_json::from_slice(body).map_err(|error| {
            Error::bad_request(format!(
                "the body must contain user, database, password and roles: {error}"
            ))
        })
    }

    /// Returns the arguments that `createUser` and `updateUser` have in common.
    fn arguments(&self) -> Document {
        let mut arguments = Document::new();
        if let Some(password) = &self.password {
            arguments.push("pwd", password.as_str());
        }
        if let Some(roles) = &self.roles {
            let role = |it: &NamedRole| Bson::Document(doc! { "role": &*it.role, "db": &*it.db });
            arguments.push("roles", Bson::Array(roles.iter().map(role).collect()));
        }
        arguments
    }
}

/// Runs a command on the MongoDB API and returns its reply. A failed command becomes a 400.
async fn run(shared: &Shared, database: &str, command: Document) -> Result<DocBuf> {
    let Some(api) = &shared.apis.mongo else {
        return Err(Error::not_found("the MongoDB API is off"));
    };
    let sender = mongo::Sender {
        right: mongo::Right::Write,
        peer: "the admin address".to_owned(),
        session: [0; 32],
    };
    let ran = api.relay(sender, database, command.to_buf().bytes()).await;
    let reply = ran.map_err(|error| Error::failed(error.to_string()))?;
    document::validate(&reply).map_err(|_| Error::failed("malformed reply"))?;
    let reply = DocRef::Raw(&reply).to_buf();
    match reply.get("errmsg").and_then(ValueRef::as_str) {
        Some(text) => Err(Error::bad_request(text)),
        None => Ok(reply),
    }
}

/// Builds a command from its name, the value of its first field, and its arguments.
fn command(name: &str, about: &str, arguments: Document) -> Document {
    let mut command = Document::new();
    command.push(name, about);
    for (name, value) in arguments {
        command.push(name, value);
    }
    command
}

pub(crate) async fn get_users(State(shared): State<Shared>) -> Result<Json<Value>> {
    let all = doc! { "usersInfo": doc! { "forAllDBs": true } };
    let reply = run(&shared, "admin", all).await?;
    let users = reply.get("users").and_then(ValueRef::as_array);
    let shown = users.into_iter().flat_map(|users| users.iter()).filter_map(ValueRef::as_document);
    let text = |user: DocRef<'_>, name: &str| {
        user.get(name).and_then(ValueRef::as_str).unwrap_or_default().to_owned()
    };
    let shown = shown.map(|user| {
        let roles = user.get("roles").and_then(ValueRef::as_array);
        let roles = roles.into_iter().flat_map(|roles| roles.iter());
        let roles = roles.filter_map(ValueRef::as_document);
        let roles = roles.map(|role| json!({ "role": text(role, "role"), "db": text(role, "db") }));
        json!({
            "user": text(user, "user"),
            "database": text(user, "db"),
            "roles": roles.collect::<Vec<_>>(),
        })
    });
    Ok(Json(json!({ "users": shown.collect::<Vec<_>>() })))
}

pub(crate) async fn add_user(State(shared): State<Shared>, body: Bytes) -> Result<Json<Value>> {
    let wanted = UserBody::parse(&body)?;
    let Some(user) = &wanted.user else { return Err(Error::bad_request("there is no user")) };
    let database = wanted.database.as_deref().unwrap_or("admin");
    let mut arguments = wanted.arguments();
    if wanted.roles.is_none() {
        arguments.push("roles", Bson::Array(Vec::new()));
    }
    run(&shared, database, command("createUser", user, arguments)).await?;
    Ok(Json(json!({ "user": user, "database": database })))
}

pub(crate) async fn change_user(
    State(shared): State<Shared>,
    Path((database, user)): Path<(String, String)>,
    body: Bytes,
) -> Result<Json<Value>> {
    let wanted = UserBody::parse(&body)?;
    if wanted.user.is_some() || wanted.database.is_some() {
        return Err(Error::bad_request("a user cannot be renamed"));
    }
    run(&shared, &database, command("updateUser", &user, wanted.arguments())).await?;
    Ok(Json(json!({ "user": user, "database": database })))
}

pub(crate) async fn remove_user(
    State(shared): State<Shared>,
    Path((database, user)): Path<(String, String)>,
) -> Result<Json<Value>> {
    run(&shared, &database, command("dropUser", &user, Document::new())).await?;
    Ok(Json(json!({ "user": user, "database": database })))
}
