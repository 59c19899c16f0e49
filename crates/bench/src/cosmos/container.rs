//! Creation and deletion of the containers in the benchmark's database.

use serde_json::{Value, json};

use super::{
    call::{Call, Verb},
    link::Link,
};
use crate::error::{Error, Result};

/// The database, which is deleted at the end.
const DATABASE: &str = "ebb_bench";
/// Status of deleting a resource that does not exist.
const NOT_FOUND: i32 = 404;
/// Status when creating a resource that exists.
const CONFLICT: i32 = 409;
/// The header of requests with a JSON body.
const JSON: (&str, &str) = ("content-type", "application/json");

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Container {
    /// Path of the container, `dbs/D/colls/C`.
    pub(crate) link: String,
    /// Resource id, which SDKs repeat in each request.
    pub(crate) rid: String,
}

impl Container {
    /// Creates an empty container of this name, replacing an existing one, with an optional default
    /// TTL in seconds. Its partition key is `/pk`.
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
        // The id becomes part of headers, so it must be printable ASCII.
        if !rid.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(Error::Answer(format!("the container has an invalid _rid: {rid:?}")));
        }
        Ok(Self { link: format!("{owner}/colls/{name}"), rid: rid.to_owned() })
    }

    /// Deletes a container if it exists.
    pub(crate) async fn delete_container(link: &mut Link, name: &str) -> Result<()> {
        delete_resource(link, "colls", &format!("dbs/{DATABASE}/colls/{name}")).await
    }

    /// Deletes the database if it exists.
    pub(crate) async fn delete_all(link: &mut Link) -> Result<()> {
        delete_resource(link, "dbs", &format!("dbs/{DATABASE}")).await
    }
}

/// Deletes a resource if it exists.
async fn delete_resource(link: &mut Link, kind: &'static str, of: &str) -> Result<()> {
    let operation = "Delete";
    let call = Call { verb: Verb::Delete, kind, operation, link: of, under: "/", ..Call::ROOT };
    accept_status(NOT_FOUND, link.call_accepted(&call).await.map(|_| ()))
}

/// Treats a refusal with this status as success.
fn accept_status(status: i32, outcome: Result<()>) -> Result<()> {
    match outcome {
        Err(Error::Server { code, .. }) if code == status => Ok(()),
        other => other,
    }
}
