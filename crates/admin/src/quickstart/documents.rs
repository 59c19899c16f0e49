//! Writes the sample through the MongoDB API, by commands:
//!
//! ```text
//! createIndexes   the TTL index on _ts, which also creates the collection; or collMod, if changed
//! update          one upsert per session, in one command
//! ebbExpiry       expiration of each session
//! ```

use auth::Right;
use bytes::Bytes;
use clock::Instant;
use document::{DocRef, Document, Number, Value, array, doc};
use portal::{Apis, Refused, Sender};

use super::{
    COLLECTION, DATABASE, DEFAULT_TTL, Failure, Filled, Result,
    sample::{Session, sample_sessions},
};
use crate::relayed::Relayed;

/// MongoDB's error code for an index that exists with other options (`IndexOptionsConflict`).
const OTHER_OPTIONS: i64 = 85;

/// Fills the collection, creating it if missing; returns the number of documents and the last
/// expiration, or `None` if the API is off.
pub(super) async fn fill_collection(apis: &Relayed, now: Instant) -> Result<Option<Filled>> {
    let pattern = || doc! { "_ts": 1 };
    let index = doc! { "key": pattern(), "name": "_ts_1", "expireAfterSeconds": DEFAULT_TTL };
    let make = doc! { "createIndexes": COLLECTION, "indexes": array![index] };
    let Some(reply) = run_command(apis, make).await? else { return Ok(None) };
    // The sample's default was changed: restore it.
    if find_number(&reply, "code") == Some(OTHER_OPTIONS) {
        let index = doc! { "keyPattern": pattern(), "expireAfterSeconds": DEFAULT_TTL };
        expect_success(run_command(apis, doc! { "collMod": COLLECTION, "index": index }).await?)?;
    } else {
        expect_success(Some(reply))?;
    }
    let all = sample_sessions(now);
    let ids: Vec<Value> = all.iter().map(|session| session.id.as_str().into()).collect();
    let statements = all.iter().map(|session| {
        let filter = doc! { "_id": session.id.as_str() };
        Value::Document(doc! { "q": filter, "u": session_document(session), "upsert": true })
    });
    let updates = Value::Array(statements.collect());
    let reply = expect_success(
        run_command(apis, doc! { "update": COLLECTION, "updates": updates }).await?,
    )?;
    if let Some(failed) = reply.get("writeErrors") {
        return Err(Failure::Refused(format!("the MongoDB API returned write errors: {failed:?}")));
    }
    // Requested from the server instead of calculated: the server defines when a document expires.
    let fates = doc! { "ebbExpiry": COLLECTION, "ids": Value::Array(ids) };
    let last_dies = last_death(&expect_success(run_command(apis, fates).await?)?).unwrap_or(now);
    Ok(Some(Filled { count: all.len(), last_dies }))
}

/// Returns a session of the sample as a document, in which its start is a date.
fn session_document(session: &Session) -> Document {
    let Session { id, user, device, city, page, started, ttl } = session;
    let mut document = doc! {
        "_id": id.as_str(),
        "user": *user,
        "device": *device,
        "city": *city,
        "page": *page,
        "started": Value::DateTime(started.ms),
    };
    if let Some(ttl) = ttl.and_then(|ttl| i32::try_from(ttl).ok()) {
        document.push("ttl", ttl);
    }
    document
}

/// Returns the last expiration in a reply of `ebbExpiry`, if any.
fn last_death(fates: &Document) -> Option<Instant> {
    let Some(Value::Array(documents)) = fates.get("documents") else { return None };
    let death = |fate: &Value| match fate.as_ref().as_document()?.get("diesAt")?.to_value() {
        Value::DateTime(ms) => Some(Instant::from_ms(ms)),
        _ => None,
    };
    documents.iter().filter_map(death).max()
}

/// Returns an integer field of a reply, of any BSON number type.
fn find_number(reply: &Document, name: &str) -> Option<i64> {
    Number::of(reply.get(name)?.as_ref())?.to_i64_exact()
}

/// Returns a successful reply; converts any other to a failure with the server's text.
fn expect_success(reply: Option<Document>) -> Result<Document> {
    let reply = reply.ok_or(Failure::NoApi)?;
    if find_number(&reply, "ok") == Some(1) {
        return Ok(reply);
    }
    let why = reply.get("errmsg").and_then(|text| text.as_ref().as_str()).unwrap_or_default();
    Err(Failure::Refused(format!("the MongoDB API returned an error: {why}")))
}

/// Runs a command in the sample's database with write access; `None` if the API is off.
async fn run_command(apis: &Relayed, command: Document) -> Result<Option<Document>> {
    let command = Bytes::copy_from_slice(command.to_buf().bytes());
    let sender = Sender { right: Right::Write, peer: None, session: [0; 32] };
    match apis.mongo(sender, DATABASE.to_owned(), command).await {
        Ok(reply) => Ok(Some(DocRef::Raw(&reply).to_tree())),
        Err(Refused::ApiDisabled) => Ok(None),
        Err(Refused::Malformed(why) | Refused::TooLarge(why) | Refused::Ended(why)) => {
            Err(Failure::Refused(format!("the MongoDB API did not execute the command: {why}")))
        }
    }
}
