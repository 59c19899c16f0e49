//! Helpers of several routes: they look up the database of a link, compare versions, and limit the
//! work of an operation.

use std::sync::Arc;

use document::{Document, json};
use engine::{Expected, VersionMatch};
use evaluation::{Budget, Context, OperationMemory};

use crate::{
    api::NoSqlApi,
    catalog::{self, Database},
    etag,
    failure::{Failure, Result},
    interrupt::Interrupt,
    limits::{MAX_DEPTH, MAX_PAGE_BYTES, PAGE_WORK},
    request::Request,
};

/// Returns the database that a link names or that contains the link's resource. If the database
/// does not exist, fails with 404, and with sub-status 1003 if the link names a resource in it.
pub(crate) fn find_database(api: &NoSqlApi, request: &Request) -> Result<Database> {
    let [owner, _] = &request.link.owners;
    let (name, missing): (_, fn() -> Failure) = match (&request.link.name, owner.is_empty()) {
        (Some(name), true) => (name, Failure::no_resource),
        _ => (owner, Failure::no_owner),
    };
    catalog::find_database(&api.engine, name).ok_or_else(missing)
}

/// Parses the body of a request about a resource other than an item.
pub(crate) fn parse_document(body: &[u8]) -> Result<Document> {
    Ok(json::parse_document(body, MAX_DEPTH)?)
}

/// Returns the version condition of a write to an item. A text that is not an etag matches no
/// version.
pub(crate) fn if_match(header: Option<&str>) -> VersionMatch {
    match header.map(str::trim) {
        None | Some("" | "*") => VersionMatch::Any,
        Some(etag) => etag::parse_etag(etag).map_or(VersionMatch::Nothing, VersionMatch::Stamp),
    }
}

/// Returns the version condition that the request's headers set for the resource.
pub(crate) fn expected_version(request: &Request) -> Expected {
    match if_match(request.headers.if_match()) {
        VersionMatch::Any => Expected::Present,
        VersionMatch::Stamp(stamp) => Expected::Version(stamp),
        // No resource has version `u64::MAX`.
        VersionMatch::Nothing => Expected::Version(u64::MAX),
    }
}

/// Returns the maximum size of a page in bytes: the same limit as in Azure Cosmos DB, or less if
/// the memory account is small.
pub(crate) fn page_bytes(api: &NoSqlApi) -> usize {
    MAX_PAGE_BYTES.min(api.settings.memory.answer_bytes())
}

/// Returns whether a client already has this version of a resource, so that a 304 suffices.
pub(crate) fn is_known(request: &Request, stamp: u64) -> bool {
    let known = request.headers.if_none_match().filter(|etag| !etag.is_empty());
    known.is_some_and(|etag| etag.trim() == "*" || etag::parse_etag(etag) == Some(stamp))
}

/// Returns the budget of an operation. Only read operations are cancelled when the client
/// disconnects, since a change must be completed once it has started.
pub(crate) fn new_budget(api: &NoSqlApi, request: &Request) -> Arc<Budget> {
    let client = if request.only_reads() { Arc::clone(&request.client) } else { Arc::default() };
    let interrupt = Interrupt::new(client, api.settings.give_way);
    let interrupt = interrupt.with_stats(Arc::clone(&request.stats));
    // A change has no time limit, since it must be completed once it has started.
    let most = api.settings.max_time.filter(|_| request.only_reads());
    let interrupt = interrupt.within(most);
    Arc::new(Budget::watched(interrupt).with_limit(PAGE_WORK))
}

/// Returns the evaluation context of an operation: its time, its random numbers, its budget and its
/// memory. Functions of the current time return the same value for a whole page.
pub(crate) async fn new_context(api: &NoSqlApi, request: &Request) -> Result<Arc<Context>> {
    let now = api.engine.now().await?;
    Ok(Arc::new(Context {
        now_ms: now.ms,
        random: evaluation::Random::new(fastrand::u64(..)),
        budget: new_budget(api, request),
        operation_memory: OperationMemory::from_account(&api.settings.memory),
        ..Context::default()
    }))
}
