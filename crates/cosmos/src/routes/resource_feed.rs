//! Feeds of resources other than items, and queries over them. The resources are in memory, so a
//! page is a slice of a list, and a query runs over the whole list for each page.

use document::{DocRef, Document};
use engine::{Flow, ScanOrder};
use evaluation::OperationMemory;
use select::{functions::Surface, statement::Run};
use throughput::request_units::Work;

use super::{
    parsed_query::ParsedQuery,
    queries::{page_limit, page_reply, resume_query},
    shared,
};
use crate::{
    api::NoSqlApi, catalog::Database, failure::Result, reply::Reply, representation,
    request::Request,
};

/// Returns a page of a feed: of all resources, or of a query's results if there is a body. `rid`
/// and `name` are the feed's resource id and the name of its array.
pub(super) fn list_resources(
    api: &NoSqlApi,
    request: &Request,
    query_body: Option<&[u8]>,
    rid: &str,
    name: &str,
    resources: Vec<Document>,
) -> Result<Reply> {
    match query_body {
        None => representation::feed_page(api, request, rid, name, resources),
        Some(body) => query_resources(api, request, body, rid, name, resources),
    }
}

/// Returns a page of a feed of a database. `represent_all` returns the feed's resources. A missing
/// database is reported as a missing parent.
pub(super) fn list_in_database(
    api: &NoSqlApi,
    request: &Request,
    query_body: Option<&[u8]>,
    name: &str,
    represent_all: impl FnOnce(&NoSqlApi, &Database) -> Vec<Document>,
) -> Result<Reply> {
    let database = shared::find_database(api, request)?;
    let resources = represent_all(api, &database);
    list_resources(api, request, query_body, &database.rid().encode(), name, resources)
}

/// Runs a query over resources in memory, ordered by id.
fn query_resources(
    api: &NoSqlApi,
    request: &Request,
    body: &[u8],
    rid: &str,
    name: &str,
    mut resources: Vec<Document>,
) -> Result<Reply> {
    let parsed = ParsedQuery::compile_body(Surface::Earth, body)?;
    let about: [&[u8]; 3] = [rid.as_bytes(), name.as_bytes(), &parsed.text];
    let (_, resume) = resume_query(api, request, &about)?;
    resources.sort_by(|one, other| {
        representation::resource_id(one).cmp(representation::resource_id(other))
    });
    // Functions of the current time return zero in these queries, since the context has no time.
    let context = evaluation::Context {
        budget: shared::new_budget(api, request),
        operation_memory: OperationMemory::from_account(&api.settings.memory),
        ..evaluation::Context::default()
    };
    let mut run = Run::new(parsed.plan, context, resume, page_limit(api, request)?);
    let mut all = true;
    for resource in &resources {
        let flow =
            run.feed_row(representation::resource_id(resource).as_bytes(), DocRef::Tree(resource));
        let flow = flow.map_err(engine::Error::from)?;
        if flow == Flow::Enough {
            // The page is full, and the run of the query has the position of the next page.
            all = false;
            break;
        }
    }
    let page = run.finish_page(all).map_err(engine::Error::from)?;
    let reply = page_reply(api, &about, ScanOrder::ByKey, (rid, name), &page, None)?;
    let bytes = reply.body.len();
    Ok(reply.with_units(Work::Rows(resources.len() as u64), bytes))
}
