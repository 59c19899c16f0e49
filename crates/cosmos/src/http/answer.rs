//! One request, from a socket or from the portal: parses and authorizes it, reads its body, runs
//! it, builds the response and counts it. It is independent of the transport.

use std::{
    pin::pin,
    sync::{Arc, atomic::Ordering},
};

use bytes::Bytes;
use http::{HeaderValue, request::Parts};
use http_body_util::Full;
use hyper::Response;
use memory::Share;
use throughput::request_units;
use traces::MAX_QUERY_BYTES;

use super::{
    audited::record_request,
    body::{self, Body},
    exchange::Exchange,
    head,
    respond::{self, RequestSummary},
    service::Schedule,
};
use crate::{
    api::{Counters, NoSqlApi, Settings},
    authorize::authorize,
    dispatch,
    failure::{Failure, Fault, Result},
    headers::Headers,
    interrupt::Client,
    limits::{LONG_BODY_BYTES, LONG_QUERY_BYTES, QUERY_BYTE_BYTES, SMALL_BODY_BYTES, VALUE_BYTES},
    link::{Link, Resource},
    operation::Task,
    pages::PageAnswer,
    reply::Reply,
    request::Request,
    routes::batches,
    sender::Sender,
    session,
    slow::{FinishedRequest, report_end},
};

/// Returns the response to a request. Two kinds of operations run in a separate task: changes of
/// resources in several steps, which must be completed even if the client disconnects, and queries,
/// which block their thread while the connection's task must detect a disconnect.
pub(super) async fn answer_request(
    api: &Arc<NoSqlApi>,
    client: Arc<Client>,
    (sender, schedule): (Sender, Schedule),
    scheme: &'static str,
    request: http::Request<Body>,
) -> Response<Full<Bytes>> {
    let (parts, body) = request.into_parts();
    api.counters.requests.fetch_add(1, Ordering::Relaxed);
    if sender == Sender::Signs
        && let Some(page) = find_page(&api.settings, scheme, &parts)
    {
        return page.await.map(Full::new);
    }
    let link = Link::of_target(&parts.uri);
    let about_items = link.as_ref().is_ok_and(|link| link.kind == Resource::Documents);
    let mut exchange = Exchange::begin(api, scheme, &parts, about_items);
    let sound = head::check_head(&parts);
    exchange.closes = sound.is_err();
    let request = sound
        .and_then(|()| check_arrival(api, &parts, scheme, sender))
        .and(link)
        .and_then(|link| Request::parse(parts, link, scheme, Arc::clone(&client)));
    let task = request.as_ref().map_or(Task::Inline, |it| it.operation.row().task);
    let of = Arc::clone(api);
    // Boxed, so that an idle connection holds no memory for the future of a request.
    let served = Box::pin(async move {
        let served = pin!(serve_request(&of, client, sender, request, exchange, body));
        match schedule {
            Schedule::Now => of.engine.lanes().run(served).await,
            Schedule::Queued => of.engine.lanes().run_long(served).await,
        }
    });
    if task == Task::Inline {
        return served.await;
    }
    tokio::spawn(served).await.unwrap_or_else(|_| {
        refuse(&Failure::new(Fault::Internal, "The request ended before it was answered."))
    })
}

/// Returns a response with this failure for a request whose head could not be parsed.
pub(super) fn refuse(failure: &Failure) -> Response<Full<Bytes>> {
    let about = RequestSummary::default();
    respond::build_response(failure_reply(failure, "", ""), about, Share::default())
}

/// Returns a static page, if the request is for one. Only clients of this endpoint get these pages;
/// the portal has its own.
pub(super) fn find_page(settings: &Settings, scheme: &str, parts: &Parts) -> Option<PageAnswer> {
    // The path is checked first, since hardly any request is for a page.
    let page = settings.pages.as_ref()?.answer(parts)?;
    head::check_head(parts).ok()?;
    head::check_arrival(parts, scheme, settings).ok()?;
    Some(page)
}

/// Executes a request whose head is parsed. Its sender is authorized before its body is read, so
/// that an unauthenticated client cannot make the server allocate memory for it. Any failure
/// becomes a response, and all responses are counted and measured.
async fn serve_request(
    api: &Arc<NoSqlApi>,
    client: Arc<Client>,
    sender: Sender,
    request: Result<Request>,
    exchange: Exchange,
    mut body: Body,
) -> Response<Full<Bytes>> {
    let counters = &api.counters;
    let mut held = api.settings.memory.share();
    let only_reads = request.as_ref().is_ok_and(Request::only_reads);
    let operation = request.as_ref().ok().map(|request| request.operation);
    let mut unread_row = request.as_ref().is_ok_and(batches::has_one_row_if_too_large);
    let is_told = api.settings.slow.is_some() || api.settings.tracer.is_some();
    let stats = request.as_ref().ok().filter(|_| is_told).map(|it| Arc::clone(&it.stats));
    // A client that sent `Expect` sends its body only after the server starts to read it, so an
    // earlier failure leaves nothing to discard.
    let (mut reading, mut who, mut query) = (!exchange.waits_to_send, None, None);
    let result = async {
        let mut request = request?;
        authorize(api, &mut request, sender, &mut who)?;
        request.seen = session::parse_tokens(request.headers.session())?;
        check_values(&request.headers)?;
        body::check_length(&body, api.settings.max_body_bytes)?;
        reading = true;
        let body = body::read_body(&mut body, api.settings.max_body_bytes, &mut held).await?;
        unread_row = false;
        let is_query = request.operation.row().task == Task::ForQuery;
        held.grow(parsed_bytes(is_query, &body))?;
        query = Some(body.clone()).filter(|it| is_told && is_query && it.len() <= MAX_QUERY_BYTES);
        let long = is_long(is_query, &body);
        counters.bytes_in.fetch_add(body.len() as u64, Ordering::Relaxed);
        let run = pin!(dispatch::run_request(api, request, body));
        match long {
            true => engine::poll_in_place(api.settings.block_in_place, run).await,
            false => run.await,
        }
    };
    let answered: Result<Reply> = result.await;
    let reply = match answered.and_then(|reply| hold_reply(reply, &mut held, only_reads)) {
        Ok(reply) => reply,
        Err(failure) => {
            if reading && !body::discard_body(&mut body).await {
                client.sends_on();
            }
            count_failure(counters, failure.fault);
            refuse_request(&failure, unread_row, &exchange)
        }
    };
    let reply = close_if_unclear(reply, &exchange);
    counters.bytes_out.fetch_add(reply.body.len() as u64, Ordering::Relaxed);
    counters.request_units.fetch_add(reply.request_units, Ordering::Relaxed);
    let by = (sender, who.as_ref());
    record_request(api, &client, by, (operation, exchange.path()), reply.status);
    if let Some(stats) = &stats {
        let ended = FinishedRequest {
            operation,
            path: exchange.path(),
            stats,
            agent: text_of(&exchange.agent).unwrap_or_default(),
            parent: text_of(&exchange.parent),
            activity: &exchange.activity,
            relayed: matches!(sender, Sender::Known(_)),
            query: query.as_deref(),
            took: clock::monotonic_time().saturating_sub(exchange.began),
            reply: &reply,
        };
        report_end(api, &ended);
    }
    let about = exchange.end(reply.status, api.engine.store().published());
    respond::build_response(reply, about, held)
}

/// Returns the response to a failed request. `unread_row` is true for a bulk request (a non-atomic
/// batch) whose body was not read, but is known to have a single operation.
fn refuse_request(failure: &Failure, unread_row: bool, exchange: &Exchange) -> Reply {
    match failure.fault {
        Fault::TooLarge if unread_row => batches::refuse_row(failure),
        _ => failure_reply(failure, &exchange.activity, exchange.path()),
    }
}

/// Closes the connection after an ambiguous head, because the start of the next request is unknown.
fn close_if_unclear(reply: Reply, exchange: &Exchange) -> Reply {
    if exchange.closes { reply.with_header("connection", "close") } else { reply }
}

/// Returns a header as text if it is valid text.
fn text_of(header: &Option<HeaderValue>) -> Option<&str> {
    header.as_ref()?.to_str().ok()
}

/// Replaces the memory reservation of the request by that of its response, which is held until the
/// response is sent.
fn hold_reply(mut reply: Reply, held: &mut Share, only_reads: bool) -> Result<Reply> {
    let text = std::mem::take(&mut reply.held);
    if 0 < text.held_bytes() {
        *held = text;
    }
    match held.set(reply.body.capacity()) {
        Err(_) if only_reads => Err(Failure::out_of_memory()),
        // The outcome of a write is reported in any case: a client that retried would write twice.
        _ => Ok(reply),
    }
}

/// Refuses plain text if TLS is required, and a host that does not belong to the server. Forwarded
/// requests are not checked, since the node at which they arrived has checked them.
fn check_arrival(api: &NoSqlApi, parts: &Parts, scheme: &str, sender: Sender) -> Result<()> {
    match sender {
        Sender::Signs => head::check_arrival(parts, scheme, &api.settings),
        Sender::Forwarded | Sender::Known(_) => Ok(()),
    }
}

/// Counts a failure; refused senders and exhausted throughput also have counters of their own.
fn count_failure(counters: &Counters, fault: Fault) {
    counters.failures.fetch_add(1, Ordering::Relaxed);
    match fault {
        Fault::Unauthorized | Fault::TooManyGuesses => {
            counters.denied.fetch_add(1, Ordering::Relaxed);
        }
        Fault::TooManyRequests => {
            counters.throttled.fetch_add(1, Ordering::Relaxed);
        }
        _ => {}
    }
}

/// Estimates the memory of a parsed body in the worst case: a value at each position in JSON where
/// one may start, and the syntax tree of a query. The memory is reserved before parsing, because
/// parsers cannot be interrupted.
fn parsed_bytes(is_query: bool, body: &[u8]) -> usize {
    if body.len() < SMALL_BODY_BYTES {
        return 0;
    }
    let places = body.iter().filter(|byte| matches!(byte, b',' | b'[' | b'{' | b':')).count();
    let query = if is_query { body.len().saturating_mul(QUERY_BYTE_BYTES) } else { 0 };
    places.saturating_mul(VALUE_BYTES).saturating_add(query)
}

/// Refuses header values that Azure Cosmos DB refuses in every request.
fn check_values(headers: &Headers) -> Result<()> {
    session::check_level(headers.consistency())?;
    headers.check_values()
}

/// Returns whether parsing the body would occupy the thread for so long that other requests are
/// delayed.
fn is_long(is_query: bool, body: &[u8]) -> bool {
    let long = if is_query { LONG_QUERY_BYTES } else { LONG_BODY_BYTES };
    long <= body.len()
}

/// Returns the response to a refused or failed request. SDKs use its headers for retries: the
/// sub-status distinguishes failures with the same status, and the retry time is the time to wait.
pub(super) fn failure_reply(failure: &Failure, activity: &str, path: &str) -> Reply {
    let body = failure.error_body(activity, path);
    let mut reply = Reply { seq: failure.seq, ..Reply::json(failure.fault.status(), body) };
    // A throttled request is not charged.
    if !matches!(failure.fault, Fault::TooManyRequests | Fault::TooManyGuesses) {
        reply.request_units = request_units::of_failure();
    }
    if let Some(ms) = failure.retry_ms {
        reply = reply.with_header("x-ms-retry-after-ms", ms.to_string());
    }
    match failure.fault.sub_status() {
        0 => reply,
        sub_status => reply.with_header("x-ms-substatus", sub_status.to_string()),
    }
}
