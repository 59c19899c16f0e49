//! Stored procedures, triggers and user-defined functions as resources: they are stored and
//! returned, but never executed. Tools that create scripts work; requests that would execute a
//! script fail with an explicit error.

use std::sync::Arc;

use document::{Document, Value, doc};
use engine::{Expected, Resource};

use super::{containers, resource_feed, resources, shared};
use crate::{
    api::NoSqlApi,
    catalog::Container,
    failure::{Failure, Fault, Result},
    limits::{MAX_SCRIPTS, MAX_UDFS},
    link, names,
    reply::Reply,
    representation::{self, SystemProperties},
    request::Request,
    rid::{Leaf, Rid},
};

/// The properties of the three kinds of scripts.
struct Kind {
    /// Segment of the scripts in request paths.
    word: &'static str,
    /// Name of the array of scripts in a feed response.
    feed: &'static str,
    /// Type of the scripts in resource ids.
    leaf: Leaf,
    /// Maximum number of scripts of this kind per container.
    max_count: usize,
}

/// Returns the kind of script that the request's path denotes.
fn script_kind(request: &Request) -> Kind {
    let word = request.link.kind.path_word();
    let (feed, leaf, max_count) = match request.link.kind {
        link::Resource::Triggers => ("Triggers", Leaf::Trigger, MAX_SCRIPTS),
        link::Resource::Udfs => ("UserDefinedFunctions", Leaf::Udf, MAX_UDFS),
        _ => ("StoredProcedures", Leaf::Procedure, MAX_SCRIPTS),
    };
    Kind { word, feed, leaf, max_count }
}

struct ScriptFeed {
    container: Arc<Container>,
    path: [String; 4],
    kind: Kind,
}

impl ScriptFeed {
    /// Returns the scripts that the request's path denotes: their kind, and the container to which
    /// they belong.
    fn find_feed(request: &Request) -> Result<Self> {
        let container = Arc::clone(request.container()?);
        Ok(Self {
            path: containers::resource_path(&container),
            container,
            kind: script_kind(request),
        })
    }

    fn path_of<'a>(&'a self, name: &'a str) -> [&'a str; 6] {
        let [root, database, word, id] = self.path.each_ref().map(String::as_str);
        [root, database, word, id, self.kind.word, name]
    }

    /// Returns all scripts of a container as responses represent them.
    fn represent_all(&self, api: &NoSqlApi) -> Vec<Document> {
        resources::siblings_of(api, &self.path_of(""))
            .iter()
            .map(|held| self.represent(held))
            .collect()
    }

    /// Finds the script that the request's path names, by name or resource id.
    fn find_named(&self, api: &NoSqlApi, request: &Request) -> Result<Arc<Resource>> {
        let name = request.name();
        let found =
            resources::find_resource(api, &self.path_of(name), |held| self.script_rid(held));
        found.ok_or_else(Failure::no_entity)
    }

    /// Returns the resource id of a script, derived from the commit that created it.
    fn script_rid(&self, held: &Resource) -> Rid {
        let container = self.container.collection.id;
        Rid::in_container(
            self.container.database_number,
            container,
            held.creation_stamp,
            self.kind.leaf,
        )
    }

    /// Returns a script as responses represent it.
    fn represent(&self, held: &Resource) -> Document {
        let database = Rid::Database(self.container.database_number).encode();
        let system = SystemProperties {
            rid: self.script_rid(held),
            owner: format!("dbs/{database}/colls/{}/", self.container.rid),
            word: self.kind.word,
            stamp: held.stamp,
            ts: held.ts,
        };
        system.complete_body(resources::kept_body(held), &[])
    }

    /// Validates the body of a request that creates or replaces a script; returns the id and the
    /// stored properties.
    fn read_body(&self, body: &[u8]) -> Result<(String, Document)> {
        let body = shared::parse_document(body)?;
        let id = names::check_name(body.get("id"))?;
        let text = |name: &str| body.get(name).and_then(|value| value.as_ref().as_str());
        let code = text("body")
            .ok_or_else(|| Failure::bad_request("A script must have a string 'body'."))?;
        let mut kept = doc! { "body": code };
        if self.kind.leaf == Leaf::Trigger {
            for (name, known, usual) in [
                ("triggerType", &["Pre", "Post"][..], "Pre"),
                (
                    "triggerOperation",
                    &["All", "Create", "Update", "Delete", "Replace", "Upsert"],
                    "All",
                ),
            ] {
                let given = match body.get(name) {
                    None | Some(Value::Null) => usual,
                    Some(given) => given.as_ref().as_str().unwrap_or_default(),
                };
                if !known.iter().any(|known| known.eq_ignore_ascii_case(given)) {
                    let text =
                        format!("The property '{name}' must be one of {}.", known.join(", "));
                    return Err(Failure::bad_request(text));
                }
                kept.push(name, Value::String(given.to_owned()));
            }
        }
        Ok((id, kept))
    }

    /// Creates a script unless the container has reached the limit.
    async fn create_within_limit(
        &self,
        api: &NoSqlApi,
        request: &Request,
        id: &str,
        kept: Document,
    ) -> Result<(u16, Arc<Resource>)> {
        if self.kind.max_count <= resources::siblings_of(api, &self.path_of("")).len() {
            let text = format!("The container already has {} of these.", self.kind.max_count);
            return Err(Failure::new(Fault::Forbidden, text));
        }
        // Dropping a container removes the resource at its path and the resources below it, so a
        // resource must be created at this path, too.
        let parent = self.path.each_ref().map(String::as_str);
        if api.engine.resource_at(&parent).is_none() {
            api.engine.put_resource(&parent, Document::new(), Expected::Absent).await?;
        }
        resources::create_resource(api, request, &self.path_of(id), kept).await
    }
}

/// `POST /dbs/{db}/colls/{c}/sprocs`, or the path of triggers or functions. 201; if the name is in
/// use 409, or 200 for an upsert; 403 if the container has too many scripts.
pub(crate) async fn create_script(api: &NoSqlApi, request: &Request, body: &[u8]) -> Result<Reply> {
    let owner = ScriptFeed::find_feed(request)?;
    let (id, kept) = owner.read_body(body)?;
    let (status, made) = owner.create_within_limit(api, request, &id, kept).await?;
    Ok(representation::resource_reply(status, &owner.represent(&made)))
}

/// `PUT /dbs/{db}/colls/{c}/sprocs/{s}`, or the path of a trigger or function. 200; 409 if the new
/// id is in use.
pub(crate) async fn replace_script(
    api: &NoSqlApi,
    request: &Request,
    body: &[u8],
) -> Result<Reply> {
    let owner = ScriptFeed::find_feed(request)?;
    let (id, kept) = owner.read_body(body)?;
    let held = owner.find_named(api, request)?;
    let made = resources::replace_named(api, request, &held, &owner.path_of(&id), kept).await?;
    Ok(representation::resource_reply(200, &owner.represent(&made)))
}

/// `GET /dbs/{db}/colls/{c}/sprocs`, or `POST` with a query: lists scripts of one kind. The paths
/// of triggers and functions have other segments than `sprocs`.
pub(crate) fn list_scripts(
    api: &NoSqlApi,
    request: &Request,
    query_body: Option<&[u8]>,
) -> Result<Reply> {
    let owner = ScriptFeed::find_feed(request)?;
    resource_feed::list_resources(
        api,
        request,
        query_body,
        &owner.container.rid,
        owner.kind.feed,
        owner.represent_all(api),
    )
}

/// `GET /dbs/{db}/colls/{c}/sprocs/{s}`, or the path of a trigger or function: reads a script.
pub(crate) fn read_script(api: &NoSqlApi, request: &Request) -> Result<Reply> {
    let owner = ScriptFeed::find_feed(request)?;
    let held = owner.find_named(api, request)?;
    Ok(representation::resource_reply(200, &owner.represent(&held)))
}

/// `DELETE /dbs/{db}/colls/{c}/sprocs/{s}`, or the path of a trigger or function. 204.
pub(crate) async fn delete_script(api: &NoSqlApi, request: &Request) -> Result<Reply> {
    let owner = ScriptFeed::find_feed(request)?;
    resources::delete_resource(api, request, &*owner.find_named(api, request)?).await
}
