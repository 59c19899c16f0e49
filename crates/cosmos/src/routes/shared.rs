//! What several routes do alike: find the database of a link, number resources, compare versions, and
//! bound what an operation may compute.

use std::sync::Arc;

use document::{Document, Value, doc, json};
use engine::{Expect, Kind, Match, Store};
use query::{
    Context,
    expr::{Effort, Holding},
};

use crate::{
    catalog::{self, Database},
    door::Door,
    etag,
    failure::{Failure, Fault, Result},
    interrupt::Interrupt,
    limits::{MAX_DEPTH, MAX_TRIES, PAGE_WORK},
    request::Request,
};

/// Path of the counter that small resources are numbered with.
const COUNTER: &[&str] = &["counter"];

/// The database that a link means or lies in.
pub(crate) fn find_database<S: Store>(door: &Door<S>, request: &Request) -> Result<Database> {
    let [owner, _] = &request.link.owners;
    let (name, missing): (_, fn() -> Failure) = match (&request.link.name, owner.is_empty()) {
        (Some(name), true) => (name, Failure::no_resource),
        _ => (owner, Failure::no_owner),
    };
    catalog::find_database(&door.engine, name).ok_or_else(missing)
}

/// Reads the body of a request about a resource that is no item.
pub(crate) fn parse_document(body: &[u8]) -> Result<Document> {
    Ok(json::parse_document(body, MAX_DEPTH)?)
}

/// A number that no other resource had or will have. Callers hold the door's lock of changes.
pub(crate) async fn next_number<S: Store>(door: &Door<S>) -> Result<u32> {
    for _ in 0..MAX_TRIES {
        let held = door.engine.resource(COUNTER);
        let (number, expect) = match &held {
            None => (1, Expect::Absent),
            Some(held) => {
                let number = catalog::resource_number(&held.body).unwrap_or(0);
                (number.saturating_add(1), Expect::Version(held.stamp))
            }
        };
        let body = doc! { "number": Value::Int64(i64::from(number)) };
        match door.engine.put_resource(COUNTER, body, expect).await {
            Ok(_) => return Ok(number),
            Err(error) if matches!(error.kind, Kind::Precondition | Kind::Exists(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(Failure::new(Fault::RetryWith, "Too many resources are made at once."))
}

/// Which version a write of an item is about.
pub(crate) fn if_match(header: Option<&str>) -> Match {
    match header.map(str::trim) {
        None | Some("" | "*") => Match::Any,
        Some(etag) => etag::parse_etag(etag).map_or(Match::Nothing, Match::Stamp),
    }
}

/// Which version a change of a resource is about.
pub(crate) fn expected_version(request: &Request) -> Expect {
    match if_match(request.headers.if_match()) {
        Match::Any => Expect::Present,
        Match::Stamp(stamp) => Expect::Version(stamp),
        // No version has this stamp.
        Match::Nothing => Expect::Version(u64::MAX),
    }
}

/// Whether a client has this version already.
pub(crate) fn is_known(request: &Request, stamp: u64) -> bool {
    let known = request.headers.if_none_match().filter(|etag| !etag.is_empty());
    known.is_some_and(|etag| etag.trim() == "*" || etag::parse_etag(etag) == Some(stamp))
}

/// What an operation may compute. Only what changes nothing ends with its client: half a change would
/// be left behind, and nobody would know.
pub(crate) fn new_effort<S: Store>(door: &Door<S>, request: &Request) -> Arc<Effort> {
    let client = if request.only_reads() { Arc::clone(&request.client) } else { Arc::default() };
    let interrupt = Interrupt::new(client, door.settings.give_way);
    Arc::new(Effort::watched(interrupt).bounded(PAGE_WORK))
}

/// What stays the same for a whole operation.
pub(crate) async fn new_context<S: Store>(door: &Door<S>, request: &Request) -> Arc<Context> {
    let now = door.engine.now().await;
    Arc::new(Context {
        now_ms: now.ms,
        random: query::expr::Random::new(fastrand::u64(..)),
        effort: new_effort(door, request),
        holding: Holding::of(&door.settings.memory),
        ..Context::default()
    })
}
