//! Containers of the database that everything happens in: their links, how they come and go.

use serde_json::{Value, json};

use super::{
    call::{Call, Verb},
    link::Link,
};
use crate::error::{Error, Result};

/// The database, which is deleted at the end.
const DATABASE: &str = "ebb_bench";
/// Status of a deletion of what is not there.
const NOT_FOUND: i32 = 404;
/// Status of a creation of what is there.
const CONFLICT: i32 = 409;
/// The header of requests with a JSON body.
const JSON: (&str, &str) = ("content-type", "application/json");

/// A container that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Container {
    /// Its path, `dbs/D/colls/C`.
    pub(crate) link: String,
    /// The resource id, which SDKs repeat in each request.
    pub(crate) rid: String,
}

impl Container {
    /// Makes an empty container of this name in place of any that was there, with a default time to live in
    /// seconds or without. Its partition key is `/pk`.
    pub(crate) async fn create_container(
        link: &mut Link,
        name: &str,
        ttl: Option<i64>,
    ) -> Result<Self> {
        let database = json!({ "id": DATABASE }).to_string();
        let call = Call {
            verb: Verb::Post,
            kind: "dbs",
            operation: "Create",
            link: "",
            under: "dbs",
            headers: &[JSON],
            body: database.as_bytes(),
        };
        accept_status(CONFLICT, link.call_accepted(&call).await.map(|_| ()))?;
        Self::delete_container(link, name).await?;
        let mut body = json!({
            "id": name,
            "partitionKey": { "paths": ["/pk"], "kind": "Hash", "version": 2 },
        });
        if let Some(ttl) = ttl {
            body["defaultTtl"] = ttl.into();
        }
        let (owner, body) = (format!("dbs/{DATABASE}"), body.to_string());
        let call = Call {
            verb: Verb::Post,
            kind: "colls",
            operation: "Create",
            link: &owner,
            under: "/colls/",
            headers: &[JSON, ("x-ms-offer-throughput", "400")],
            body: body.as_bytes(),
        };
        let made = link.call_accepted(&call).await?.parse_json()?;
        let rid = made.get("_rid").and_then(Value::as_str);
        let rid = rid.ok_or_else(|| Error::Answer("a container without _rid".to_owned()))?;
        // It becomes part of headers.
        if !rid.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(Error::Answer(format!("a container with the _rid {rid:?}")));
        }
        Ok(Self { link: format!("{owner}/colls/{name}"), rid: rid.to_owned() })
    }

    /// Deletes a container, if it is there.
    pub(crate) async fn delete_container(link: &mut Link, name: &str) -> Result<()> {
        delete_resource(link, "colls", &format!("dbs/{DATABASE}/colls/{name}")).await
    }

    /// Deletes everything, if it is there.
    pub(crate) async fn delete_all(link: &mut Link) -> Result<()> {
        delete_resource(link, "dbs", &format!("dbs/{DATABASE}")).await
    }
}

/// Deletes a resource, if it is there.
async fn delete_resource(link: &mut Link, kind: &'static str, of: &str) -> Result<()> {
    let operation = "Delete";
    let call = Call { verb: Verb::Delete, kind, operation, link: of, under: "/", ..Call::ROOT };
    accept_status(NOT_FOUND, link.call_accepted(&call).await.map(|_| ()))
}

/// Counts a refusal with this status as success.
fn accept_status(status: i32, outcome: Result<()>) -> Result<()> {
    match outcome {
        Err(Error::Server { code, .. }) if code == status => Ok(()),
        other => other,
    }
}
