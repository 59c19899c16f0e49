//! Writes the sample through the NoSQL API, by REST requests:
//!
//! ```text
//! POST /dbs                                       409: exists, continue
//! POST /dbs/quickstart/colls                      409: exists, read it, and replace it if changed
//! POST /dbs/quickstart/colls/sessions/docs        one upsert per session
//! ```

use auth::Right;
use axum::http::{Method, Request, StatusCode};
use bytes::Bytes;
use clock::Instant;
use http_body_util::{BodyExt, Limited};
use portal::Apis;
use serde_json::{Value, json};

use super::{
    COLLECTION, DATABASE, DEFAULT_TTL, Failure, Filled, Result, refused,
    sample::{Session, sample_sessions},
};
use crate::relayed::Relayed;

/// Maximum bytes read of a response: definitions and sessions are small.
const MAX_ANSWER_BYTES: usize = 1024 * 1024;
const KEY: &str = "/user";
/// Name of the API in error texts.
const API: &str = "NoSQL";

/// Fills the container, creating it if missing; returns the number of items and the last
/// expiration, or `None` if the API is off.
pub(super) async fn fill_container(apis: &Relayed, now: Instant) -> Result<Option<Filled>> {
    let database = json!({ "id": DATABASE }).to_string();
    let Some(made) = send_request(apis, Method::POST, "/dbs", &[], database).await? else {
        return Ok(None);
    };
    made.or_there_already()?;
    make_container(apis).await?;
    let items = format!("/dbs/{DATABASE}/colls/{COLLECTION}/docs");
    let mut last_dies = now;
    let all = sample_sessions(now);
    for session in &all {
        let key = json!([session.user]).to_string();
        let headers = [("x-ms-documentdb-partitionkey", key.as_str()), UPSERT];
        let answer = send_request(apis, Method::POST, &items, &headers, item_text(session)).await?;
        let written = answer.ok_or(Failure::NoApi)?.expect_success()?;
        if let Some(seconds) = session.ttl.or(Some(DEFAULT_TTL)).filter(|ttl| 0 < *ttl) {
            // The time to live counts from the `_ts` assigned by the server.
            let ts = written["_ts"].as_i64().unwrap_or(now.seconds());
            last_dies = last_dies.max(Instant::from_seconds(ts.saturating_add(seconds)));
        }
    }
    Ok(Some(Filled { count: all.len(), last_dies }))
}

/// Header that makes a POST replace an existing item.
const UPSERT: (&str, &str) = ("x-ms-documentdb-is-upsert", "true");

/// Creates the container, or restores its default time to live. A container with another partition
/// key is not the sample and is left unchanged.
async fn make_container(apis: &Relayed) -> Result<()> {
    let wanted = json!({
        "id": COLLECTION,
        "partitionKey": { "paths": [KEY], "kind": "Hash", "version": 2 },
        "defaultTtl": DEFAULT_TTL,
    });
    let all = format!("/dbs/{DATABASE}/colls");
    let one = format!("{all}/{COLLECTION}");
    let made = send_request(apis, Method::POST, &all, &[], wanted.to_string()).await?;
    if made.ok_or(Failure::NoApi)?.or_there_already()?.is_some() {
        return Ok(());
    }
    let read = send_request(apis, Method::GET, &one, &[], String::new()).await?;
    let mut held = read.ok_or(Failure::NoApi)?.expect_success()?;
    if held["partitionKey"]["paths"] != json!([KEY]) {
        return Err(Failure::Taken(format!(
            "the container {COLLECTION} of the database {DATABASE} has a partition key other than \
             {KEY}: it is not the sample; delete it first"
        )));
    }
    if held["defaultTtl"] != json!(DEFAULT_TTL) {
        held["defaultTtl"] = json!(DEFAULT_TTL);
        let replaced = send_request(apis, Method::PUT, &one, &[], held.to_string()).await?;
        replaced.ok_or(Failure::NoApi)?.expect_success()?;
    }
    Ok(())
}

/// Returns a session as the JSON of an item; its start is a string.
fn item_text(session: &Session) -> String {
    let Session { id, user, device, city, page, started, ttl } = session;
    let started = jiff::Timestamp::from_millisecond(started.ms).unwrap_or_default();
    let mut item = json!({
        "id": id,
        "user": user,
        "device": device,
        "city": city,
        "page": page,
        "started": format!("{started:.3}"),
    });
    if let Some(ttl) = ttl {
        item["ttl"] = json!(ttl);
    }
    item.to_string()
}

/// A response of the API.
struct Answer {
    status: StatusCode,
    body: Bytes,
}

impl Answer {
    /// Returns the body of a successful response; converts any other to a failure with its message.
    fn expect_success(self) -> Result<Value> {
        let body: Value = serde_json::from_slice(&self.body).unwrap_or_default();
        if self.status.is_success() {
            return Ok(body);
        }
        Err(refused(API, self.status, body["message"].as_str().unwrap_or_default()))
    }

    /// Checks a response as `expect_success` does, but returns `None` if the resource exists
    /// already (409).
    fn or_there_already(self) -> Result<Option<Value>> {
        match self.status {
            StatusCode::CONFLICT => Ok(None),
            _ => self.expect_success().map(Some),
        }
    }
}

/// Sends a request with write access; `None` if the API is off.
async fn send_request(
    apis: &Relayed,
    method: Method,
    path: &str,
    headers: &[(&str, &str)],
    body: String,
) -> Result<Option<Answer>> {
    let mut request = Request::builder().method(method).uri(path).header("host", "localhost");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let wrong = |error: &dyn std::fmt::Display| Failure::Refused(error.to_string());
    let request = request.body(Bytes::from(body)).map_err(|error| wrong(&error))?;
    let Some(response) = apis.nosql(Right::Write, request).await else { return Ok(None) };
    let status = response.status();
    let body = Limited::new(response.into_body(), MAX_ANSWER_BYTES).collect().await;
    Ok(Some(Answer { status, body: body.map_err(|error| wrong(&error))?.to_bytes() }))
}
