//! What several routes do alike: find the database of a link, number resources, compare versions, and
//! bound what an operation may compute.

use std::sync::Arc;

use document::{Document, json};
use engine::{Expected, Store, VersionMatch};
use evaluation::{Budget, Context, Holding};

use crate::{
    catalog::{self, Database},
    door::Door,
    etag,
    failure::{Failure, Result},
    interrupt::Interrupt,
    limits::{MAX_DEPTH, MAX_PAGE_BYTES, PAGE_WORK},
    request::Request,
};

/// The database that a link means or lies in. Which failure says that it is missing depends on
/// that: 404 for itself, 404 with sub-status 1003 for what it should hold.
pub(crate) fn find_database<S: Store>(door: &Door<S>, request: &Request) -> Result<Database> {
    let [owner, _] = &request.link.owners;
    let (name, missing): (_, fn() -> Failure) = match (&request.link.name, owner.is_empty()) {
        (Some(name), true) => (name, Failure::no_resource),
        _ => (owner, Failure::no_owner),
    };
    catalog::find_database(&door.engine, name).ok_or_else(missing)
}

/// Reads the body of a request about a resource other than an item.
pub(crate) fn parse_document(body: &[u8]) -> Result<Document> {
    Ok(json::parse_document(body, MAX_DEPTH)?)
}

/// Which version a write of an item is about. A text that is not an etag is that of no version, so
/// the condition is not met.
pub(crate) fn if_match(header: Option<&str>) -> VersionMatch {
    match header.map(str::trim) {
        None | Some("" | "*") => VersionMatch::Any,
        Some(etag) => etag::parse_etag(etag).map_or(VersionMatch::Nothing, VersionMatch::Stamp),
    }
}

/// Which version a change of a resource is about.
pub(crate) fn expected_version(request: &Request) -> Expected {
    match if_match(request.headers.if_match()) {
        VersionMatch::Any => Expected::Present,
        VersionMatch::Stamp(stamp) => Expected::Version(stamp),
        // No version has this stamp.
        VersionMatch::Nothing => Expected::Version(u64::MAX),
    }
}

/// Bytes of a page after which it ends: the service's figure, and no more of the memory for operations
/// than lets many read at once. The client asks for the rest with the page's continuation.
pub(crate) fn page_bytes<S: Store>(door: &Door<S>) -> usize {
    MAX_PAGE_BYTES.min(door.settings.memory.answer_bytes())
}

/// Whether a client has this version already, so that 304 is enough.
pub(crate) fn is_known(request: &Request, stamp: u64) -> bool {
    let known = request.headers.if_none_match().filter(|etag| !etag.is_empty());
    known.is_some_and(|etag| etag.trim() == "*" || etag::parse_etag(etag) == Some(stamp))
}

/// What an operation may compute. Only what changes nothing ends with its client: half a change
/// would be left, and nobody would know.
pub(crate) fn new_budget<S: Store>(door: &Door<S>, request: &Request) -> Arc<Budget> {
    let client = if request.only_reads() { Arc::clone(&request.client) } else { Arc::default() };
    let interrupt = Interrupt::new(client, door.settings.give_way);
    let interrupt = interrupt.noting(Arc::clone(&request.looked));
    // Half a change would be left if one that writes were ended early.
    let most = door.settings.max_time.filter(|_| request.only_reads());
    let interrupt = interrupt.within(most);
    Arc::new(Budget::watched(interrupt).with_limit(PAGE_WORK))
}

/// What stays the same for a whole operation: its time, its random numbers, what it may compute and
/// the memory that it may take. Functions of the current time return one value in all of a page.
pub(crate) async fn new_context<S: Store>(
    door: &Door<S>,
    request: &Request,
) -> Result<Arc<Context>> {
    let now = door.engine.now().await?;
    Ok(Arc::new(Context {
        now_ms: now.ms,
        random: evaluation::Random::new(fastrand::u64(..)),
        budget: new_budget(door, request),
        holding: Holding::from_account(&door.settings.memory),
        ..Context::default()
    }))
}
