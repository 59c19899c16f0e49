//! One client: what it speaks by how it begins, then one request after the other.

use std::{convert::Infallible, pin::pin, sync::Arc, sync::atomic::Ordering};

use bytes::Bytes;
use engine::Store;
use http_body_util::Full;
use hyper::{
    Method, Request, Response, body::Incoming, http::request::Parts, server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite},
    net::TcpStream,
    sync::watch,
};

use super::{body, certificate, head, http2, opening::Opening, respond};
use crate::{
    call::Call,
    dispatch,
    door::Door,
    failure::{Failure, Fault},
    limits::{HANDSHAKE_TIMEOUT, HEAD_TIMEOUT, MAX_HEAD_BYTES, MAX_HEADERS, STOP_TIME},
    link::{Link, Resource},
    operation::{Client, Presence, Why},
};

/// Serves a client until it leaves or `stop` says so.
pub async fn serve<S: Store>(
    door: Arc<Door<S>>,
    stream: TcpStream,
    mut stop: watch::Receiver<bool>,
) {
    door.opened.fetch_add(1, Ordering::Relaxed);
    let opening = tokio::select! {
        opening = Opening::of(&stream) => opening,
        _ = stop.changed() => None,
    };
    match (opening, &door.settings.certificate) {
        (None, _) => {}
        (Some(Opening::Tls), Some(certificate)) => {
            let accepted = certificate.acceptor().accept(stream);
            // Who does not finish a handshake has nobody to tell.
            if let Ok(Ok(stream)) = tokio::time::timeout(HANDSHAKE_TIMEOUT, accepted).await {
                let agreed = stream.get_ref().1.alpn_protocol();
                match agreed == Some(certificate::HTTP2) {
                    true => Box::pin(http2::converse(&door, stream, "https", stop)).await,
                    false => converse(&door, stream, "https", stop).await,
                }
            }
        }
        (Some(Opening::Tls | Opening::Http1), _) => converse(&door, stream, "http", stop).await,
        (Some(Opening::Http2), _) => {
            Box::pin(http2::converse(&door, stream, "http", stop)).await;
        }
        (Some(Opening::Unclear), _) => Box::pin(slow(&door, stream, stop)).await,
    }
    door.opened.fetch_sub(1, Ordering::Relaxed);
}

/// A client whose first bytes come one by one.
async fn slow<S: Store>(
    door: &Arc<Door<S>>,
    mut stream: TcpStream,
    mut stop: watch::Receiver<bool>,
) {
    let opening = tokio::select! {
        opening = Opening::read(&mut stream) => opening,
        _ = stop.changed() => None,
    };
    let Some((opening, first)) = opening else { return };
    let (reader, writer) = stream.into_split();
    let stream = tokio::io::join(std::io::Cursor::new(first).chain(reader), writer);
    match opening {
        Opening::Http2 => http2::converse(door, stream, "http", stop).await,
        _ => converse(door, stream, "http", stop).await,
    }
}

async fn converse<S: Store>(
    door: &Arc<Door<S>>,
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    scheme: &'static str,
    mut stop: watch::Receiver<bool>,
) {
    let client = Arc::new(Client::default());
    // However it ends.
    let _presence = Presence(Arc::clone(&client));
    let service = service_fn(|request| {
        let (door, client) = (Arc::clone(door), Arc::clone(&client));
        async move { Ok::<_, Infallible>(answer(&door, client, scheme, request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(MAX_HEAD_BYTES)
        .max_headers(MAX_HEADERS)
        .half_close(false)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    tokio::select! {
        // Whatever ended it, there is nobody left to tell.
        _ = connection.as_mut() => return,
        _ = stop.changed() => {}
    }
    connection.as_mut().graceful_shutdown();
    if tokio::time::timeout(STOP_TIME, connection.as_mut()).await.is_err() {
        client.stop(Why::Stopping);
        let _ = connection.await;
    }
}

/// Answers a request. A change of resources that takes several steps is finished although its
/// client has gone. A query may keep its thread for long: another one sees meanwhile whether its
/// client is still there.
pub(super) async fn answer<S: Store>(
    door: &Arc<Door<S>>,
    client: Arc<Client>,
    scheme: &'static str,
    request: Request<Incoming>,
) -> Response<Full<Bytes>> {
    let (parts, body) = request.into_parts();
    let apart = has_steps(&parts) || is_query(&parts);
    let handled = handle(Arc::clone(door), client, scheme, parts, body);
    if !apart {
        return handled.await;
    }
    let finished = tokio::spawn(handled).await;
    finished.unwrap_or_else(|_| {
        let failure = Failure::new(Fault::Internal, "The request ended before it was answered.");
        respond::response(refused(&failure, "", ""), String::new(), 0)
    })
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
    scheme: &'static str,
    parts: Parts,
    body: Incoming,
) -> Response<Full<Bytes>> {
    let counters = &door.counters;
    counters.requests.fetch_add(1, Ordering::Relaxed);
    let given = parts.headers.get("x-ms-activity-id").and_then(|id| id.to_str().ok());
    let activity = given.filter(|id| id.len() <= 64).map_or_else(respond::uuid, str::to_owned);
    let sound = head::check(&parts);
    let ends = sound.is_err();
    let result = async {
        sound?;
        let call = Call::new(&door, &parts, scheme, client)?;
        let body = body::read(body).await?;
        counters.bytes_in.fetch_add(body.len() as u64, Ordering::Relaxed);
        dispatch::run(&door, call, body).await
    };
    let reply = match result.await {
        Ok(reply) => reply,
        Err(failure) => {
            counters.failures.fetch_add(1, Ordering::Relaxed);
            match failure.fault {
                Fault::Unauthorized => _ = counters.denied.fetch_add(1, Ordering::Relaxed),
                Fault::TooManyRequests => _ = counters.throttled.fetch_add(1, Ordering::Relaxed),
                _ => {}
            }
            refused(&failure, &activity, parts.uri.path())
        }
    };
    // Nobody can tell where the next request begins.
    let reply = if ends { reply.with("connection", "close") } else { reply };
    counters.bytes_out.fetch_add(reply.body.len() as u64, Ordering::Relaxed);
    counters.charge.fetch_add(reply.charge, Ordering::Relaxed);
    let known = door.engine.store().published();
    respond::response(reply, activity, known)
}

fn refused(failure: &Failure, activity: &str, path: &str) -> crate::reply::Reply {
    let body = failure.body(activity, path);
    let mut reply = crate::reply::Reply::json(failure.fault.status(), body);
    // Who is only told to come again pays nothing.
    if failure.fault != Fault::TooManyRequests {
        reply.charge = crate::charge::of_failure();
    }
    if let Some(ms) = failure.retry_ms {
        reply = reply.with("x-ms-retry-after-ms", ms.to_string());
    }
    reply.with("x-ms-substatus", failure.fault.sub_status().to_string())
}
