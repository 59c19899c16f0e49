//! Queries: of items, over the engine; of other resources, over what is in memory. With one
//! partition key range the server answers every query whole.

use std::{cell::OnceCell, sync::Arc};

use cosmos_sql::{SqlError, compile, plan_document};
use document::{DocBuf, DocRef, Document, Value, json};
use engine::{Births, Comes, Flow, Item, Scan, Scanned, Sink, Store};
use query::{
    expr::{Effort, Holding},
    json::select::{Output, Page, PageLimit, Resume, Run, Select, System, Whole},
};

use super::{container_part, indexes_used, page_order, pushdown, shared};
use crate::{
    catalog::Container,
    door::Door,
    failure::{Failure, Result},
    item::ItemRenderer,
    limits::{MAX_ANSWER_BYTES, MAX_DEPTH, MAX_PAGE_BYTES, PAGE_END, PAGE_ITEMS},
    reply::Reply,
    representation,
    request::Request,
    request_units::Work,
    session,
};

/// What a client asks.
struct ParsedQuery {
    plan: Arc<Select>,
    /// What a continuation of it is good for.
    text: Vec<u8>,
}

/// The text of a query, and its parameters.
type Asked = (String, Vec<(String, Value)>);

impl ParsedQuery {
    fn read_parts(body: &[u8]) -> Result<Asked> {
        let mut fields = json::parse_document(body, MAX_DEPTH)?;
        let Some(Value::String(text)) = fields.remove("query") else {
            return Err(Failure::bad_request("The body of a query has no text 'query'."));
        };
        let parameters = match fields.remove("parameters") {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(parameters)) => {
                parameters.into_iter().map(read_parameter).collect::<Result<_>>()?
            }
            Some(_) => {
                return Err(Failure::bad_request("The 'parameters' of a query are no array."));
            }
        };
        Ok((text, parameters))
    }

    fn compile_body(body: &[u8]) -> Result<Self> {
        let (text, parameters) = Self::read_parts(body)?;
        let plan = compile(&text, &parameters).map_err(|error| query_failure(&error))?;
        let mut about = text.into_bytes();
        for (name, value) in &parameters {
            about.push(0);
            about.extend_from_slice(name.as_bytes());
            json::write(value.as_ref(), &mut about);
        }
        Ok(Self { plan: Arc::new(plan), text: about })
    }
}

fn read_parameter(value: Value) -> Result<(String, Value)> {
    let wrong = || Failure::bad_request("A parameter of a query has a text 'name' and a 'value'.");
    let Value::Document(mut fields) = value else { return Err(wrong()) };
    let Some(Value::String(name)) = fields.remove("name") else { return Err(wrong()) };
    Ok((name, fields.remove("value").unwrap_or(Value::Undefined)))
}

/// A query that cannot be run, as clients expect to be told.
pub(super) fn query_failure(error: &SqlError) -> Failure {
    let (code, message, start, end) = match error {
        SqlError::Unsupported { what } => return Failure::unsupported(what),
        SqlError::Invalid { code, message, start, end } => (code, message, start, end),
    };
    let mut errors = b"{\"errors\":[{\"severity\":\"Error\",".to_vec();
    errors.extend_from_slice(
        format!(
            "\"location\":{{\"start\":{start},\"end\":{end}}},\"code\":\"{code}\",\"message\":"
        )
        .as_bytes(),
    );
    json::write_string(message, &mut errors);
    errors.extend_from_slice(b"}]}");
    Failure::invalid_query(String::from_utf8(errors).unwrap_or_default())
}

/// A query whose ORDER BY needs an index that is not there.
fn no_composite() -> Failure {
    query_failure(&SqlError::Invalid {
        code: "SC2104",
        message: "The order by query does not have a corresponding composite index that it can be \
                  served from."
            .to_owned(),
        start: 0,
        end: 0,
    })
}

fn page_limit(request: &Request) -> Result<PageLimit> {
    let items = request.headers.page_items()?.unwrap_or(PAGE_ITEMS);
    Ok(PageLimit { items, bytes: MAX_PAGE_BYTES })
}

/// In which order a request is answered, and where it goes on.
fn resume_query<S: Store>(
    door: &Door<S>,
    request: &Request,
    about: &[&[u8]],
) -> Result<(Births, Option<Resume>)> {
    let (births, bytes) = page_order::resume_page(door, request, about)?;
    let read = |bytes: Vec<u8>| {
        Resume::from_bytes(&bytes).ok_or_else(|| Failure::bad_request("Invalid Continuation Token"))
    };
    Ok((births, bytes.map(read).transpose()?))
}

fn page_reply<S: Store>(
    door: &Door<S>,
    about: &[&[u8]],
    comes: Comes,
    (rid, name): (&str, &str),
    page: &Page,
) -> Result<Reply> {
    // The page is there beside its text, and counts for itself.
    let mut feed = representation::Feed::new(rid, name, &door.settings.memory);
    for value in &page.values {
        feed.push_entry(|out| json::write(value.as_ref(), out))?;
        if MAX_ANSWER_BYTES < feed.bytes() {
            return Err(Failure::answer_too_large());
        }
    }
    let resume = page.resume.as_ref().map(Resume::to_bytes);
    let continuation = resume.map(|bytes| page_order::seal_page(door, about, comes, &bytes));
    Ok(Reply { continuation, ..feed.into_reply() })
}

/// A page of a feed of resources: of all, or of what a query makes of them.
pub(super) fn list_resources<S: Store>(
    door: &Door<S>,
    request: &Request,
    asked: Option<&[u8]>,
    rid: &str,
    name: &str,
    resources: Vec<Document>,
) -> Result<Reply> {
    match asked {
        None => representation::feed_page(door, request, rid, name, resources),
        Some(body) => query_resources(door, request, body, rid, name, resources),
    }
}

/// A query over resources in memory.
fn query_resources<S: Store>(
    door: &Door<S>,
    request: &Request,
    body: &[u8],
    rid: &str,
    name: &str,
    mut resources: Vec<Document>,
) -> Result<Reply> {
    let question = ParsedQuery::compile_body(body)?;
    let about: [&[u8]; 3] = [rid.as_bytes(), name.as_bytes(), &question.text];
    let (_, resume) = resume_query(door, request, &about)?;
    let id = |resource: &Document| match resource.get("id") {
        Some(Value::String(id)) => id.clone(),
        _ => String::new(),
    };
    resources.sort_by_key(id);
    let context = query::Context {
        effort: shared::new_effort(door, request),
        holding: Holding::of(&door.settings.memory),
        ..query::Context::default()
    };
    let mut run = Run::new(question.plan, context, resume, page_limit(request)?);
    let mut all = true;
    for resource in &resources {
        let flow = run.row(id(resource).as_bytes(), DocRef::Tree(resource));
        let flow = flow.map_err(engine::Error::from)?;
        if flow == Flow::Enough {
            all = false;
            break;
        }
    }
    let page = run.finish(all).map_err(engine::Error::from)?;
    let reply = page_reply(door, &about, Comes::ByKey, (rid, name), &page)?;
    let bytes = reply.body.len();
    Ok(reply.with_units(Work::Rows(resources.len() as u64), bytes))
}

/// `POST /dbs/{db}/colls/{c}/docs` with a query
pub(crate) async fn query_items<S: Store>(
    door: &Door<S>,
    request: &Request,
    body: &[u8],
) -> Result<Reply> {
    let container = request.container()?;
    let question = ParsedQuery::compile_body(body)?;
    check_order(container, &question.plan)?;
    let part = container_part::of_query(container, request, question.plan.sarg())?;
    let range = part.range.clone();
    let about: [&[u8]; 3] = [container.rid.as_bytes(), &part.mark, &question.text];
    let (births, resume) = resume_query(door, request, &about)?;
    let all = range.is_all() && part.within.is_none();
    if question.plan.scalar_count_only() && all && resume.is_none() {
        return count_items(door, request, container, &about).await;
    }
    let context = shared::new_context(door, request).await;
    let system = question.plan.system();
    let sarg = pushdown::stored_condition(question.plan.sarg(), part.partition);
    let shared = query::Context::clone(&context);
    let run = Run::new(Arc::clone(&question.plan), shared, resume, page_limit(request)?);
    let order = pushdown::stored_order(&question.plan);
    let (after, seek) = (run.start_after(), run.seek().filter(|_| !order.is_empty()));
    let streams = question.plan.streams();
    let births = if streams { births } else { Births::Never };
    let scan = Scan { sarg, after, births, order, seek, ..Scan::of(range) };
    let effort = &context.effort;
    let (container, part, comes) = (&*container, &part, Comes::ByKey);
    let mut rows = Rows { run, comes, streams, container, part, system, effort };
    let scanned = door.engine.scan(&container.collection, &scan, &context, &mut rows).await?;
    session::check_seen(request.seen, scanned.seq)?;
    let comes = rows.comes;
    let page = rows.run.finish(scanned.ended).map_err(engine::Error::from)?;
    let reply = page_reply(door, &about, comes, (&container.rid, "Documents"), &page)?;
    let bytes = reply.body.len();
    let mut reply = reply.with_units(Work::Rows(scanned.items), bytes);
    reply.seq = scanned.seq;
    if request.headers.query_metrics() {
        let metrics = metrics_text(&scanned, page.values.len(), bytes);
        reply = reply.with_header("x-ms-documentdb-query-metrics", metrics);
    }
    if let Some(used) =
        indexes_used::utilization_header(&request.headers, container, &scanned.indexes)
    {
        reply = reply.with_header("x-ms-cosmos-index-utilization", used);
    }
    Ok(reply)
}

/// How many items a container has: that is known without looking at them.
async fn count_items<S: Store>(
    door: &Door<S>,
    request: &Request,
    container: &Container,
    about: &[&[u8]],
) -> Result<Reply> {
    let seq = door.engine.store().published();
    session::check_seen(request.seen, seq)?;
    let live = door.engine.live(&container.collection).await?;
    let values = vec![Output::Value(Value::Int64(live.documents))];
    let page = Page { values, ..Page::default() };
    let reply = page_reply(door, about, Comes::ByKey, (&container.rid, "Documents"), &page)?;
    let bytes = reply.body.len();
    let mut reply = reply.with_units(Work::Rows(0), bytes);
    reply.seq = seq;
    if request.headers.query_metrics() {
        reply = reply.with_header(
            "x-ms-documentdb-query-metrics",
            metrics_text(&Scanned::default(), 1, bytes),
        );
    }
    if let Some(used) = indexes_used::utilization_header(&request.headers, container, &[]) {
        reply = reply.with_header("x-ms-cosmos-index-utilization", used);
    }
    Ok(reply)
}

/// What a query did. Times are left at zero: the machine's clock says nothing about the query.
fn metrics_text(scanned: &Scanned, results: usize, bytes: usize) -> String {
    format!(
        "totalExecutionTimeInMs=0.00;queryCompileTimeInMs=0.00;\
         queryLogicalPlanBuildTimeInMs=0.00;queryPhysicalPlanBuildTimeInMs=0.00;\
         queryOptimizationTimeInMs=0.00;VMExecutionTimeInMs=0.00;indexLookupTimeInMs=0.00;\
         documentLoadTimeInMs=0.00;systemFunctionExecuteTimeInMs=0.00;\
         userFunctionExecuteTimeInMs=0.00;retrievedDocumentCount={};retrievedDocumentSize={};\
         outputDocumentCount={results};outputDocumentSize={bytes};writeOutputTimeInMs=0.00;\
         indexUtilizationRatio=1.00",
        scanned.items, scanned.bytes
    )
}

/// Rows from the engine into a query.
struct Rows<'a> {
    run: Run,
    comes: Comes,
    /// Whether its results come in the order of items.
    streams: bool,
    container: &'a Container,
    part: &'a container_part::ContainerPart<'a>,
    /// Where the query reads what the server sets.
    system: System,
    effort: &'a Effort,
}

impl Sink for Rows<'_> {
    fn begin(&mut self, comes: Comes) -> std::result::Result<(), engine::Error> {
        self.comes = comes;
        self.run.begin();
        self.run.set_sorted(comes == Comes::AsAsked || self.streams);
        Ok(())
    }

    fn item(&mut self, item: &Item) -> std::result::Result<Flow, engine::Error> {
        if !self.part.contains_item(self.container, item) {
            return Ok(Flow::More);
        }
        let renderer = &self.container.renderer;
        let whole = Completed { item, renderer, document: OnceCell::new() };
        let place = page_order::order_key(self.comes, item);
        let flow = match self.system {
            System::Nowhere => self.run.row(&place, item.document())?,
            System::Everywhere => self.run.row(&place, whole.whole())?,
            System::InResults => self.run.row_with(&place, item.document(), &whole)?,
        };
        Ok(if is_long(&self.run, self.effort) { Flow::Enough } else { flow })
    }
}

/// An item that is completed when it makes a result.
#[derive(Debug)]
struct Completed<'a> {
    item: &'a Item,
    renderer: &'a ItemRenderer,
    document: OnceCell<DocBuf>,
}

impl Whole for Completed<'_> {
    fn whole(&self) -> DocRef<'_> {
        self.document.get_or_init(|| self.renderer.complete_document(self.item)).as_ref()
    }
}

/// Whether the page has taken so long that it ends here; the next one goes on.
fn is_long(run: &Run, effort: &Effort) -> bool {
    run.can_stop() && PAGE_END <= effort.done()
}

/// ORDER BY over several properties needs an index that has them in this order, or turned round.
fn check_order(container: &Container, plan: &Select) -> Result<()> {
    let Some(paths) = plan.order_paths().filter(|paths| 1 < paths.len()) else { return Ok(()) };
    let state = container.collection.state();
    let served = state.record.indexes.iter().any(|index| index.has_order(&paths));
    if served { Ok(()) } else { Err(no_composite()) }
}

/// `POST /dbs/{db}/colls/{c}/docs` for a plan
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
    use super::*;

    #[test]
    fn refused_queries_say_where() {
        let error =
            SqlError::Invalid { code: "SC1001", message: "near '\"'".to_owned(), start: 7, end: 8 };
        let want = concat!(
            r#"{"errors":[{"severity":"Error","location":{"start":7,"end":8},"code":"SC1001","#,
            r#""message":"near '\"'"}]}"#
        );
        assert_eq!(query_failure(&error).errors.as_deref(), Some(want));
        let unsupported = SqlError::Unsupported { what: "RRF".to_owned() };
        assert_eq!(query_failure(&unsupported).fault.status(), 501);
    }

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
            let mut run = Run::new(plan, query::Context::default(), None, limit);
            let effort = Effort::default();
            run.row(b"1", item.as_ref()).unwrap();
            assert!(!is_long(&run, &effort), "{text}");
            effort.pass(usize::try_from(PAGE_END).unwrap()).unwrap();
            assert_eq!(is_long(&run, &effort), ends, "{text}");
            assert_eq!(run.finish(!ends).unwrap().resume.is_some(), ends, "{text}");
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
            assert_eq!(ParsedQuery::compile_body(body.as_bytes()).is_ok(), good, "{body}");
        }
    }
}
