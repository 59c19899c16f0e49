//! Queries of items, page by page, and query plans, by which clients merge the pages of several
//! partition key ranges. With one partition key range the server can answer every query completely,
//! so clients may also send the query without a plan.
//!
//! A page takes four steps: the text is compiled, the part of the container to read is determined,
//! the engine's scan passes rows to a `Run` of the query, and the results of the `Run` become the
//! response. The engine chooses the access path by the tests and orders that indexes can serve
//! (`pushdown`), which affects the cost of a page but not its contents.
//!
//! A page ends at a number of items, at 4 MB, or, if the query can be continued after any row,
//! after a limit of work. Its continuation token contains the position of the last row in the order
//! of the results, which is all that the next page needs. If a query must be evaluated completely
//! for each page, the results after the page may be cached (`pages_ahead`); the next page has the
//! same contents with or without the cache.

use std::{cell::OnceCell, sync::Arc};

use clock::Instant;
use cosmos_sql::{Diagnostic, SqlError, plan_document};
use document::{DocBuf, DocRef, Value, json};
use engine::{CreationOrder, Flow, Item, ItemSink, Scan, ScanOrder, Scanned};
use evaluation::Budget;
use select::{
    eval::CompleteDocument,
    plan::Select,
    statement::{Output, Page, PageLimit, Resume, Run, SystemReads},
};
use throughput::request_units::Work;

use super::{
    container_part::{self, ContainerPart},
    indexes_used::IndexMetrics,
    page_order,
    parsed_query::{ParsedQuery, query_failure},
    pushdown,
    query_metrics::{QueryTimes, RowTimer, RowsRead},
    shared,
};
use crate::{
    api::NoSqlApi,
    catalog::Container,
    container::surface_of,
    failure::{Failure, Result},
    item::{ItemCutter, ItemRenderer},
    limits::{MAX_ANSWER_BYTES, PAGE_END, PAGE_ITEMS},
    pages_ahead::{PageAhead, PagesAhead},
    reply::Reply,
    representation,
    request::Request,
    session,
};

/// Returns the failure for a query whose ORDER BY needs a missing composite index, with Azure
/// Cosmos DB's code.
fn no_composite() -> Failure {
    query_failure(&SqlError::Invalid(vec![Diagnostic {
        code: "SC2104",
        message: "The order by query does not have a corresponding composite index that it can be \
                  served from."
            .to_owned(),
        start: 0,
        end: 0,
    }]))
}

/// Returns the limits of a page.
pub(super) fn page_limit(api: &NoSqlApi, request: &Request) -> Result<PageLimit> {
    let items = request.headers.page_items()?.unwrap_or(PAGE_ITEMS);
    Ok(PageLimit { items, bytes: shared::page_bytes(api) })
}

/// Returns the order of items in a request's pages and the position to resume from.
pub(super) fn resume_query(
    api: &NoSqlApi,
    request: &Request,
    about: &[&[u8]],
) -> Result<(CreationOrder, Option<Resume>)> {
    let (creation_order, bytes) = page_order::resume_page(api, request, about)?;
    let read = |bytes: Vec<u8>| {
        Resume::from_bytes(&bytes).ok_or_else(|| Failure::bad_request("Invalid Continuation Token"))
    };
    Ok((creation_order, bytes.map(read).transpose()?))
}

/// Builds the response with a page. `rid` and `name` are the resource id and the array name of the
/// queried feed. With a `cutter`, large items are truncated.
pub(super) fn page_reply(
    api: &NoSqlApi,
    about: &[&[u8]],
    scan_order: ScanOrder,
    (rid, name): (&str, &str),
    page: &Page,
    cutter: Option<ItemCutter<'_>>,
) -> Result<Reply> {
    // The page's values stay in memory while its text is written; the text is accounted here, the
    // values elsewhere.
    let mut feed = representation::Feed::new(rid, name, &api.settings.memory);
    for value in &page.values {
        feed.push_entry_or_start(|out| match cutter {
            Some(cutter) => cutter.write_value(value.as_ref(), out),
            None => {
                json::write(value.as_ref(), out);
                false
            }
        })?;
        // The size of a page is limited in stored bytes; escape sequences can make its text several
        // times as long.
        if MAX_ANSWER_BYTES < feed.bytes() {
            return Err(Failure::answer_too_large());
        }
    }
    let resume = page.resume.as_ref().map(Resume::to_bytes);
    let continuation = resume.map(|bytes| page_order::seal_page(api, about, scan_order, &bytes));
    Ok(Reply { continuation, ..feed.into_reply() })
}

/// `POST /dbs/{db}/colls/{c}/docs` with a query. 200 with a page, which may be empty even if
/// further pages follow; 400 with the position of the error if the text does not compile.
pub(crate) async fn query_items(api: &NoSqlApi, request: &Request, body: &[u8]) -> Result<Reply> {
    let container = request.container()?;
    let (parsed, mut times) = compile_query(request, body)?;
    // This check precedes that of the partition key, as in Azure Cosmos DB, so that its error takes
    // precedence.
    check_order(container, &parsed.plan)?;
    let part = container_part::of_query(container, request, parsed.plan.sarg())?;
    let range = part.range.clone();
    let about: [&[u8]; 3] = [container.rid.as_bytes(), &part.part_id, &parsed.text];
    let about = &[&about[..], page_order::order_mark(&parsed.plan)].concat();
    let (creation_order, resume) = resume_query(api, request, about)?;
    // A count of all items needs no scan: the engine maintains the number of live items.
    let all = range.is_all() && part.within.is_none();
    if parsed.plan.scalar_count_only() && all && resume.is_none() {
        return count_items(api, request, container, &parsed.plan, about, times).await;
    }
    let limit = page_limit(api, request)?;
    let ahead = (limit, times);
    let asked = (&*parsed.plan, part.partition);
    let metrics = IndexMetrics::if_requested(&request.headers, container, asked);
    let metrics = metrics.as_ref();
    if let Some(reply) = answer_from_ahead(api, request, container, about, metrics, ahead).await? {
        return Ok(reply);
    }
    // `sarg` contains only the tests that an index may serve; the `Run` evaluates the whole
    // condition for every row.
    let (sarg, order) = pushdown::stored_parts(&parsed.plan, part.partition);
    let context = shared::new_context(api, request).await?;
    let system = parsed.plan.system_reads();
    let shared = evaluation::Context::clone(&context);
    // Results are cached only from the second page on, since many clients request only the first.
    let pages_on = resume.is_some() && parsed.plan.is_repeatable();
    let mut run = Run::new(Arc::clone(&parsed.plan), shared, resume, limit);
    if let Some(most) = PagesAhead::<PageAhead>::limit(&api.settings.memory).filter(|_| pages_on) {
        run.keep_ahead(most);
    }
    // If the engine scans in the query's own order, a page can start within that order; otherwise
    // the scan starts after the last row of the previous page.
    let (after, seek) = (run.start_after(), run.seek_position().filter(|_| !order.is_empty()));
    let streams = parsed.plan.streams_rows();
    // The order in which items are read matters only if results are returned in this order.
    let creation_order = if streams { creation_order } else { CreationOrder::Never };
    let scan = Scan { sarg, after, creation_order, order, seek, ..Scan::of(range) };
    let (budget, part, scan_order) = (&context.budget, &part, ScanOrder::ByKey);
    let timer = RowTimer::new(request.headers.query_metrics());
    let mut rows = Rows { run, scan_order, streams, container, part, system, budget, timer };
    let scanned = api.engine.scan_items(&container.collection, &scan, &context, &mut rows).await;
    // Also after a failure, since a missing index may have caused it.
    keep_wanted_paths(api, container);
    let mut scanned = scanned?;
    session::check_seen(request.seen, scanned.seq)?;
    // The engine may have chosen another order than expected; the token is for the actual one.
    let scan_order = rows.scan_order;
    let evaluating = rows.timer.total();
    let mut page = rows.run.finish_page(scanned.ended).map_err(engine::Error::from)?;
    times.record_page(Some(evaluating));
    let (rest, basis) = (page.rest.take(), scanned.basis.take());
    let found = (&page, &scanned, times);
    let reply = reply_with_page(api, request, container, about, metrics, scan_order, found)?;
    if let (Some(rest), Some(basis), Some(token)) = (rest, basis, &reply.continuation) {
        let bytes = rest.memory_bytes();
        let ahead = PageAhead { rest, basis, scanned, scan_order };
        api.ahead.keep(&api.settings.memory, token, ahead, bytes);
    }
    Ok(reply)
}

/// Compiles a request's query and starts its measurement.
fn compile_query(request: &Request, body: &[u8]) -> Result<(ParsedQuery, QueryTimes)> {
    // Clients would mistake the results for the changes that match the condition.
    if request.headers.a_im().is_some() {
        return Err(Failure::unsupported("A change feed with a query"));
    }
    let mut times = QueryTimes::begin();
    let parsed = ParsedQuery::compile_body(surface_of(request.container()?.options()), body)?;
    times.record_compiled();
    Ok((parsed, times))
}

/// Returns the page from results that the previous page has cached. `None` if there are no such
/// results, or if they are outdated.
async fn answer_from_ahead(
    api: &NoSqlApi,
    request: &Request,
    container: &Container,
    about: &[&[u8]],
    metrics: Option<&IndexMetrics>,
    (limit, mut times): (PageLimit, QueryTimes),
) -> Result<Option<Reply>> {
    let token = request.headers.continuation().unwrap_or_default();
    let Some(ahead) = api.ahead.take(token) else { return Ok(None) };
    let PageAhead { rest, basis, mut scanned, scan_order } = ahead;
    let holds = api.engine.scan_holds(&container.collection, &basis).await?;
    let Some(seq) = holds.filter(|_| rest.has_page(limit)) else { return Ok(None) };
    session::check_seen(request.seen, seq)?;
    scanned.seq = seq;
    let page = rest.next_page(limit, api.settings.memory.share());
    let mut page = page.map_err(engine::Error::from)?;
    let rest = page.rest.take();
    times.record_page(None);
    let found = (&page, &scanned, times);
    let reply = reply_with_page(api, request, container, about, metrics, scan_order, found)?;
    if let (Some(rest), Some(token)) = (rest, &reply.continuation) {
        let bytes = rest.memory_bytes();
        let ahead = PageAhead { rest, basis, scanned, scan_order };
        api.ahead.keep(&api.settings.memory, token, ahead, bytes);
    }
    Ok(Some(reply))
}

/// Builds the response to a query with its charge and metrics.
fn reply_with_page(
    api: &NoSqlApi,
    request: &Request,
    container: &Container,
    about: &[&[u8]],
    metrics: Option<&IndexMetrics>,
    scan_order: ScanOrder,
    (page, scanned, times): (&Page, &Scanned, QueryTimes),
) -> Result<Reply> {
    let cutter = request.cuts.then(|| ItemCutter::new(container.key.paths()));
    let reply = page_reply(api, about, scan_order, (&container.rid, "Documents"), page, cutter)?;
    let bytes = reply.body.len();
    let read = RowsRead::of_page(scanned, page.values.len(), bytes);
    let mut reply = reply.with_units(Work::Rows(read.rows), bytes);
    reply.seq = scanned.seq;
    if request.headers.query_metrics() {
        let metrics = times.metrics_text(&read, page.values.len(), bytes);
        reply = reply.with_header("x-ms-documentdb-query-metrics", metrics);
    }
    if let Some(metrics) = metrics {
        let used = metrics.header(&request.headers, container, &scanned.indexes);
        reply = reply.with_header("x-ms-cosmos-index-utilization", used);
    }
    Ok(reply)
}

/// Returns the number of items of a container without a scan, as the result of a query that only
/// counts them. The response has the same headers as for any other query.
async fn count_items(
    api: &NoSqlApi,
    request: &Request,
    container: &Container,
    plan: &Select,
    about: &[&[u8]],
    mut times: QueryTimes,
) -> Result<Reply> {
    let seq = api.engine.store().published();
    session::check_seen(request.seen, seq)?;
    let live = api.engine.live_amount(&container.collection).await?;
    times.record_page(None);
    let values = vec![Output::Value(Value::Int64(live.documents))];
    let page = Page { values, ..Page::default() };
    let feed = (container.rid.as_str(), "Documents");
    let reply = page_reply(api, about, ScanOrder::ByKey, feed, &page, None)?;
    let bytes = reply.body.len();
    let mut reply = reply.with_units(Work::Rows(0), bytes);
    reply.seq = seq;
    if request.headers.query_metrics() {
        reply = reply.with_header(
            "x-ms-documentdb-query-metrics",
            times.metrics_text(&RowsRead::default(), 1, bytes),
        );
    }
    if let Some(metrics) = IndexMetrics::if_requested(&request.headers, container, (plan, &[])) {
        let used = metrics.header(&request.headers, container, &[]);
        reply = reply.with_header("x-ms-cosmos-index-utilization", used);
    }
    Ok(reply)
}

/// Starts building indexes on paths for which queries have read many items. The builds run in the
/// background; an interrupted build continues at the next start.
fn keep_wanted_paths(api: &NoSqlApi, container: &Container) {
    if !api.engine.wants_paths(&container.collection) {
        return;
    }
    let (engine, collection) = (api.engine.clone(), Arc::clone(&container.collection));
    tokio::spawn(async move {
        if let Err(error) = engine.keep_wanted_paths(&collection).await {
            tracing::warn!(%error, "cannot build the index of a path that queries use");
        }
    });
}

/// Feeds rows from the engine into a query.
struct Rows<'a> {
    run: Run,
    /// The order in which the engine yields the items.
    scan_order: ScanOrder,
    /// Whether results can be returned in the order of the items, without sorting.
    streams: bool,
    container: &'a Container,
    /// The part of the container that the request covers.
    part: &'a ContainerPart<'a>,
    /// Parts of the query that read properties that the server sets: nowhere, in results only, or
    /// also in conditions and orders.
    system: SystemReads,
    budget: &'a Budget,
    timer: RowTimer,
}

impl ItemSink for Rows<'_> {
    fn begin(&mut self, order: ScanOrder, at: Instant) -> std::result::Result<(), engine::Error> {
        self.scan_order = order;
        // A scan may restart if data changed during it: the results so far are discarded.
        self.run.start_over_at(at.ms);
        self.run.set_sorted(order == ScanOrder::AsRequested || self.streams);
        Ok(())
    }

    fn item(&mut self, item: &Item) -> std::result::Result<Flow, engine::Error> {
        if !self.part.contains_item(self.container, item) {
            return Ok(Flow::More);
        }
        let began = self.timer.begin_row();
        let renderer = &self.container.renderer;
        // The properties that the server sets are added to a copy of the item, which is made only
        // if the query reads them.
        let whole = LazyDocument { item, renderer, document: OnceCell::new() };
        // Rows with equal ORDER BY values are returned in the order of their `_rid`: clients that
        // continue a query skip rows up to the last `_rid` that they have received.
        let scan_order = if self.streams { self.scan_order } else { ScanOrder::ByCreation };
        let place = page_order::order_key(scan_order, item);
        let flow = match self.system {
            SystemReads::Nowhere => self.run.feed_row(&place, item.document())?,
            SystemReads::Everywhere => self.run.feed_row(&place, whole.whole())?,
            SystemReads::InResults => self.run.feed_row_with(&place, item.document(), &whole)?,
        };
        self.timer.end_row(began);
        Ok(if is_long(&self.run, self.budget) { Flow::Enough } else { flow })
    }

    fn pass_over(&mut self, item: &Item) -> std::result::Result<Flow, engine::Error> {
        // An item that an index would have excluded yields no result. If the work limit ends the
        // page here, the item is processed nevertheless, so that the next page continues after it.
        if is_long(&self.run, self.budget) { self.item(item) } else { Ok(Flow::More) }
    }
}

/// An item whose server-set properties are added only when a result needs them.
#[derive(Debug)]
struct LazyDocument<'a> {
    item: &'a Item,
    renderer: &'a ItemRenderer,
    document: OnceCell<DocBuf>,
}

impl CompleteDocument for LazyDocument<'_> {
    fn whole(&self) -> DocRef<'_> {
        self.document.get_or_init(|| self.renderer.complete_document(self.item)).as_ref()
    }
}

/// Returns whether the page ends here, because its work limit is used up and the query can be
/// continued.
fn is_long(run: &Run, budget: &Budget) -> bool {
    run.can_stop() && PAGE_END <= budget.spent()
}

/// Refuses an ORDER BY over several properties if the policy has no composite index with this order
/// or its reverse. The results could be sorted without an index, but Azure Cosmos DB refuses such a
/// query, and queries that work here must also work there.
fn check_order(container: &Container, plan: &Select) -> Result<()> {
    let Some(paths) = plan.order_paths().filter(|paths| 1 < paths.len()) else { return Ok(()) };
    let state = container.collection.state();
    let served = state.record.indexes.iter().any(|index| index.has_order(&paths));
    if served { Ok(()) } else { Err(no_composite()) }
}

/// `POST /dbs/{db}/colls/{c}/docs` for a query plan: a document that describes how to merge the
/// results of several ranges. The plan requires only features that the client has declared.
pub(crate) fn plan_query(request: &Request, body: &[u8]) -> Result<Reply> {
    request.container()?;
    let (text, parameters) = ParsedQuery::read_parts(body)?;
    let features = request.headers.features().unwrap_or_default();
    let features: Vec<&str> = features.split(',').map(str::trim).collect();
    let plan =
        plan_document(&text, &parameters, &features).map_err(|error| query_failure(&error))?;
    Ok(Reply::json(200, representation::resource_text(&plan)).with_units(Work::PointRead, 0))
}

#[cfg(test)]
mod tests {
    use cosmos_sql::compile;
    use select::functions::Surface;

    use super::*;

    #[test]
    fn a_page_that_takes_long_ends_where_the_next_one_can_go_on() {
        let item = json::parse_document(br#"{"n":1}"#, 9).unwrap().to_buf();
        for (text, ends) in [
            ("SELECT * FROM c WHERE c.n > 1", true),
            ("SELECT VALUE COUNT(1) FROM c WHERE c.n > 1", false),
            ("SELECT * FROM c WHERE c.n > 1 ORDER BY c.n", false),
        ] {
            let plan = Arc::new(compile(text, &[]).unwrap());
            let limit = PageLimit { items: 9, bytes: 1 << 20 };
            let mut run = Run::new(plan, evaluation::Context::default(), None, limit);
            let budget = Budget::default();
            run.feed_row(b"1", item.as_ref()).unwrap();
            assert!(!is_long(&run, &budget), "{text}");
            budget.spend(usize::try_from(PAGE_END).unwrap()).unwrap();
            assert_eq!(is_long(&run, &budget), ends, "{text}");
            assert_eq!(run.finish_page(!ends).unwrap().resume.is_some(), ends, "{text}");
        }
    }

    #[test]
    fn a_page_tells_the_instant_at_which_its_rows_live() {
        let item = json::parse_document(br#"{"n":1}"#, 9).unwrap().to_buf();
        for text in [
            "SELECT VALUE GetCurrentTimestamp() FROM c",
            "SELECT VALUE MAX(GetCurrentTimestamp()) FROM c",
            "SELECT VALUE t FROM (SELECT VALUE GetCurrentTimestamp() FROM c) t",
        ] {
            let plan = Arc::new(compile(text, &[]).unwrap());
            let limit = PageLimit { items: 9, bytes: 1 << 20 };
            // The request arrived at time 5; the snapshots that the scan reads are of times 6 and
            // 7.
            let context = evaluation::Context { now_ms: 5, ..evaluation::Context::default() };
            let mut run = Run::new(plan, context, None, limit);
            for now in [6, 7] {
                run.start_over_at(now);
                run.feed_row(b"1", item.as_ref()).unwrap();
            }
            let values = run.finish_page(true).unwrap().values;
            let values: Vec<_> = values.into_iter().map(Output::into_value).collect();
            assert_eq!(values, [Value::Int64(7)], "{text}");
        }
    }

    #[test]
    fn questions() {
        for (body, good) in [
            (r#"{"query":"SELECT * FROM c"}"#, true),
            (
                r#"{"query":"SELECT * FROM c WHERE c.n=@n","parameters":[{"name":"@n","value":1}]}"#,
                true,
            ),
            (r#"{"query":"SELECT * FROM c","parameters":{}}"#, false),
            (r#"{"query":"SELECT * FROM c","parameters":[1]}"#, false),
            (r#"{"query":"SELECT FROM"}"#, false),
            (r#"{"query":1}"#, false),
            ("{}", false),
            ("x", false),
        ] {
            let parsed = ParsedQuery::compile_body(Surface::Earth, body.as_bytes());
            assert_eq!(parsed.is_ok(), good, "{body}");
        }
    }
}
