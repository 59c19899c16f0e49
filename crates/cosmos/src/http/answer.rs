//! One request, whoever brought it: counted, let in or not, dispatched, answered. How its bytes came
//! is not known here.

use std::{
    pin::pin,
    sync::{Arc, atomic::Ordering},
};

use auth::Right;
use bytes::Bytes;
use engine::Store;
use http_body_util::Full;
use hyper::{Method, Request, Response, http::request::Parts};
use memory::Share;

use super::{
    body::{self, Body},
    head,
    respond::{self, About},
};
use crate::{
    call::Call,
    dispatch,
    door::{Counters, Door},
    failure::{Failure, Fault, Result},
    limits::{LONG_BODY_BYTES, LONG_QUERY_BYTES, QUERY_BYTE_BYTES, SMALL_BODY_BYTES, VALUE_BYTES},
    link::{Link, Resource},
    operation::Client,
    pages::PageAnswer,
    reply::Reply,
};

/// How it is known what the sender of a request may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sender {
    /// By the signature or the token in its headers.
    Signs,
    /// Somebody else has found it out; headers are not asked.
    Known(Right),
}

/// Whether a request is computed at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pace {
    /// It is, until it turns out to be long.
    Free,
    /// It waits for its turn with what is long: its client asks much at the same time.
    InTurn,
}

/// Answers a request. A change of resources that takes several steps is finished although its
/// client has gone. A query may keep its thread for long: another one sees meanwhile whether its
/// client is still there.
pub(super) async fn answer<S: Store>(
    door: &Arc<Door<S>>,
    client: Arc<Client>,
    (sender, pace): (Sender, Pace),
    scheme: &'static str,
    request: Request<Body>,
) -> Response<Full<Bytes>> {
    let (parts, body) = request.into_parts();
    if let Some(page) = page(door, sender, &parts) {
        return page.await.map(Full::new);
    }
    let apart = has_steps(&parts) || is_query(&parts);
    let of = Arc::clone(door);
    // In a place of its own: a connection that asks nothing has no room for it.
    let handled = Box::pin(async move {
        let handled = pin!(handle(Arc::clone(&of), client, sender, scheme, parts, body));
        match pace {
            Pace::Free => of.engine.lanes().run(handled).await,
            Pace::InTurn => of.engine.lanes().run_long(handled).await,
        }
    });
    if !apart {
        return handled.await;
    }
    let finished = tokio::spawn(handled).await;
    finished.unwrap_or_else(|_| {
        let failure = Failure::new(Fault::Internal, "The request ended before it was answered.");
        respond::response(refused(&failure, "", ""), About::default(), Share::default())
    })
}

/// A page that is no resource, for one who came to this door himself.
fn page<S: Store>(door: &Door<S>, sender: Sender, parts: &Parts) -> Option<PageAnswer> {
    let pages = door.settings.pages.as_ref().filter(|_| sender == Sender::Signs)?;
    // Hardly any request is for one, which is told by its path alone.
    let page = pages.answer(parts)?;
    head::check(parts).ok()?;
    head::check_host(parts, door.settings.hosts.as_ref()).ok()?;
    door.counters.requests.fetch_add(1, Ordering::Relaxed);
    Some(page)
}

/// Whether it changes resources that are no items.
fn has_steps(parts: &Parts) -> bool {
    let reads = matches!(parts.method, Method::GET | Method::HEAD);
    !reads && Link::parse(parts.uri.path()).is_ok_and(|link| link.kind != Resource::Documents)
}

/// Whether it may be a query.
fn is_query(parts: &Parts) -> bool {
    let kind =
        parts.headers.get(http::header::CONTENT_TYPE).map_or(&b""[..], |kind| kind.as_bytes());
    let asks = b"application/query";
    parts.method == Method::POST
        && (parts.headers.contains_key("x-ms-documentdb-isquery")
            || kind.get(..asks.len()).is_some_and(|kind| kind.eq_ignore_ascii_case(asks)))
}

async fn handle<S: Store>(
    door: Arc<Door<S>>,
    client: Arc<Client>,
    sender: Sender,
    scheme: &'static str,
    parts: Parts,
    mut body: Body,
) -> Response<Full<Bytes>> {
    let began = clock::monotonic();
    let counters = &door.counters;
    counters.requests.fetch_add(1, Ordering::Relaxed);
    let given = parts.headers.get("x-ms-activity-id").and_then(|id| id.to_str().ok());
    let activity = given.filter(|id| id.len() <= 64).map_or_else(respond::uuid, str::to_owned);
    let sound = head::check(&parts);
    let known = check_host(&door, &parts, &sender);
    let ends = sound.is_err();
    let link = Link::parse(parts.uri.path());
    let items = link.as_ref().is_ok_and(|link| link.kind == Resource::Documents);
    let mut held = door.settings.memory.share();
    let mut only_reads = false;
    // Who waits to be asked for a body has not sent it.
    let mut reading = !parts.headers.contains_key(http::header::EXPECT);
    let result = async {
        sound?;
        known?;
        let call = Call::new(&door, &parts, link?, sender, scheme, Arc::clone(&client))?;
        only_reads = call.only_reads();
        body::check(&body)?;
        reading = true;
        let body = body::read(&mut body, &mut held).await?;
        held.grow(parsed(&parts, &body))?;
        if is_long(&parts, &body) {
            // From here on it has no worker to itself.
            (door.settings.give_way)();
        }
        counters.bytes_in.fetch_add(body.len() as u64, Ordering::Relaxed);
        dispatch::run(&door, call, body).await
    };
    let answered: Result<Reply> = result.await;
    let reply = match answered.and_then(|reply| counted(reply, &mut held, only_reads)) {
        Ok(reply) => reply,
        Err(failure) => {
            if reading && !body::discard(&mut body).await {
                client.sends_on();
            }
            note_failure(counters, failure.fault);
            refused(&failure, &activity, parts.uri.path())
        }
    };
    // Nobody can tell where the next request begins.
    let reply = if ends { reply.with("connection", "close") } else { reply };
    counters.bytes_out.fetch_add(reply.body.len() as u64, Ordering::Relaxed);
    counters.charge.fetch_add(reply.charge, Ordering::Relaxed);
    let about = About {
        activity,
        known: door.engine.store().published(),
        items,
        location: (reply.status < 400).then(|| address(&door, scheme, &parts)),
        took: clock::monotonic().saturating_sub(began),
    };
    respond::response(reply, about, held)
}

/// A reply that is held until it is read, instead of what asked for it.
fn counted(mut reply: Reply, held: &mut Share, only_reads: bool) -> Result<Reply> {
    let text = std::mem::take(&mut reply.held);
    if 0 < text.held() {
        *held = text;
    }
    match held.set(reply.body.capacity()) {
        Err(_) if only_reads => Err(Failure::busy()),
        // What was written is told in any case.
        _ => Ok(reply),
    }
}

/// The portal knows whom it lets in.
fn check_host<S: Store>(door: &Door<S>, parts: &Parts, sender: &Sender) -> Result<()> {
    match sender {
        Sender::Signs => head::check_host(parts, door.settings.hosts.as_ref()),
        Sender::Known(_) => Ok(()),
    }
}

fn note_failure(counters: &Counters, fault: Fault) {
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

/// The address that a request came to, without the query behind it.
fn address<S: Store>(door: &Door<S>, scheme: &str, parts: &Parts) -> String {
    let host = parts.headers.get(http::header::HOST).and_then(|host| host.to_str().ok());
    // HTTP/2 has no header for it.
    let host = host.or(parts.uri.authority().map(|authority| authority.as_str()));
    let path = parts.uri.path();
    match (&door.settings.endpoint, host) {
        (Some(endpoint), _) => format!("{}{path}", endpoint.trim_end_matches('/')),
        (None, Some(host)) => format!("{scheme}://{host}{path}"),
        (None, None) => path.to_owned(),
    }
}

/// About what a body takes once it is parsed.
fn parsed(parts: &Parts, body: &[u8]) -> usize {
    if body.len() < SMALL_BODY_BYTES {
        return 0;
    }
    let places = body.iter().filter(|byte| matches!(byte, b',' | b'[' | b'{' | b':')).count();
    let query = if is_query(parts) { body.len().saturating_mul(QUERY_BYTE_BYTES) } else { 0 };
    places.saturating_mul(VALUE_BYTES).saturating_add(query)
}

/// Whether others should not wait while a body is parsed.
fn is_long(parts: &Parts, body: &[u8]) -> bool {
    let long = if is_query(parts) { LONG_QUERY_BYTES } else { LONG_BODY_BYTES };
    long <= body.len()
}

fn refused(failure: &Failure, activity: &str, path: &str) -> Reply {
    let body = failure.body(activity, path);
    let mut reply = Reply::json(failure.fault.status(), body);
    // Who is only told to come again pays nothing.
    if !matches!(failure.fault, Fault::TooManyRequests | Fault::TooManyGuesses) {
        reply.charge = crate::charge::of_failure();
    }
    if let Some(ms) = failure.retry_ms {
        reply = reply.with("x-ms-retry-after-ms", ms.to_string());
    }
    match failure.fault.sub_status() {
        0 => reply,
        sub_status => reply.with("x-ms-substatus", sub_status.to_string()),
    }
}
