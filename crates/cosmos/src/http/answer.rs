//! One HTTP request, from a socket or from the portal: parses its head, reads its body and builds
//! the response. `exchange` executes it.

use std::{pin::pin, sync::Arc};

use bytes::Bytes;
use http::{HeaderValue, header, request::Parts};
use http_body_util::Full;
use hyper::Response;

use super::{
    body::{self, Body},
    head, respond,
    service::Schedule,
};
use crate::{
    api::{NoSqlApi, Settings},
    exchange::{Activity, Answer, Exchange, Head, Target, failure_reply},
    failure::{Failure, Fault, Result},
    interrupt::Client,
    link::{Link, Resource},
    operation::Task,
    pages::PageAnswer,
    reply::Reply,
    request::Request,
    sender::Sender,
    transport::Transport,
};

/// Data about a request that only the HTTP layer uses.
#[derive(Debug)]
struct Arrival {
    /// URL of the request, which a successful response about a resource reports.
    location: String,
    /// Whether the client sent the header `Expect`, and so waits for a reply before it sends the
    /// body.
    waits_to_send: bool,
    /// Whether the connection must be closed after the response, because the head was ambiguous and
    /// the start of the next request is unknown.
    closes: bool,
}

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
    if sender == Sender::Signs
        && let Some(page) = find_page(&api.settings, scheme, &parts)
    {
        api.counters.requests.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        return page.await.map(Full::new);
    }
    let link = Link::of_target(&parts.uri);
    let about_items = link.as_ref().is_ok_and(|link| link.kind == Resource::Documents);
    let head = read_head(api, &parts, about_items);
    let exchange = Exchange::begin(api, Arc::clone(&client), sender, head);
    let sound = head::check_head(&parts);
    let arrival = Arrival {
        location: request_address(api, scheme, &parts),
        waits_to_send: parts.headers.contains_key(header::EXPECT),
        closes: sound.is_err(),
    };
    let request = sound
        .and_then(|()| check_arrival(api, &parts, scheme, sender))
        .and(link)
        .and_then(|link| Request::parse(parts, link, scheme, Arc::clone(&client)));
    let task = request.as_ref().map_or(Task::Inline, |it| it.operation.row().task);
    let of = Arc::clone(api);
    // Boxed, so that an idle connection holds no memory for the future of a request.
    let served = Box::pin(async move {
        let served = pin!(serve_request(&of, client, request, exchange, (arrival, body)));
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

/// Returns the fields of a request's head that are recorded.
fn read_head(api: &NoSqlApi, parts: &Parts, about_items: bool) -> Head {
    let given = parts.headers.get("x-ms-activity-id").map(HeaderValue::to_str);
    Head {
        transport: Transport::Http,
        activity: Activity::of_client(given.and_then(Result::ok)),
        target: Target::Uri(parts.uri.clone()),
        agent: parts.headers.get(header::USER_AGENT).cloned(),
        parent: api.settings.tracer.as_ref().and(parts.headers.get("traceparent")).cloned(),
        about_items,
    }
}

/// Returns the request's URL without the query string.
fn request_address(api: &NoSqlApi, scheme: &str, parts: &Parts) -> String {
    let path = parts.uri.path();
    if let Some(endpoint) = &api.settings.endpoint {
        return [endpoint.trim_end_matches('/'), path].concat();
    }
    let host = parts.headers.get(header::HOST).and_then(|host| host.to_str().ok());
    // HTTP/2 has no host header: the host is in the URI.
    match host.or(parts.uri.authority().map(|authority| authority.as_str())) {
        Some(host) => [scheme, "://", host, path].concat(),
        None => path.to_owned(),
    }
}

/// Returns a response with this failure for a request whose head could not be parsed.
pub(super) fn refuse(failure: &Failure) -> Response<Full<Bytes>> {
    let reply = failure_reply(failure, Transport::Http, "", "");
    respond::build_response(Answer::of_reply(reply), None)
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

/// Executes a request whose head is parsed. Its sender is authorized before its body is read. Any
/// failure becomes a response.
async fn serve_request(
    api: &Arc<NoSqlApi>,
    client: Arc<Client>,
    request: Result<Request>,
    mut exchange: Exchange,
    (arrival, mut body): (Arrival, Body),
) -> Response<Full<Bytes>> {
    // A client that sent `Expect` sends its body only after the server starts to read it, so an
    // earlier failure leaves nothing to discard.
    let mut reading = !arrival.waits_to_send;
    let result: Result<Reply> = async {
        let request = exchange.admit(api, request)?;
        let most = api.settings.max_body_bytes;
        body::check_length(&body, most)?;
        reading = true;
        let body = body::read_body(&mut body, most, exchange.held()).await?;
        exchange.run(api, request, body).await
    }
    .await;
    let reply = match result {
        Ok(reply) => reply,
        Err(failure) => {
            if reading && !body::discard_body(&mut body).await {
                client.sends_on();
            }
            exchange.refuse(api, &failure)
        }
    };
    let reply = if arrival.closes { reply.with_header("connection", "close") } else { reply };
    let location = (reply.status < 400).then_some(arrival.location);
    respond::build_response(exchange.finish(api, reply), location)
}

/// Refuses plain text if TLS is required, and a host that does not belong to the server. Forwarded
/// requests are not checked, since the node at which they arrived has checked them.
fn check_arrival(api: &NoSqlApi, parts: &Parts, scheme: &str, sender: Sender) -> Result<()> {
    match sender {
        Sender::Signs => head::check_arrival(parts, scheme, &api.settings),
        Sender::Forwarded | Sender::Known(_) => Ok(()),
    }
}
