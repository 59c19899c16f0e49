//! HTTP/2 connections: many concurrent requests, with the same limits per request as HTTP/1.
//!
//! Limits that hyper lacks are enforced here: on the number of headers, on the concurrency of one
//! client (`FREE_STREAMS`), on the time in which a client sends no request, and on the time in
//! which it does not read its responses (`UnsentResponses`).

use std::{net::IpAddr, pin::pin, sync::Arc};

use bytes::Bytes;
use http_body_util::Full;
use hyper::{
    Request, Response, StatusCode, body::Incoming, server::conn::http2, service::service_fn,
};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::watch,
};

use super::{
    body::Body as Given,
    response_body::{ResponseBody, UnsentResponses},
    service::{OutcomeUnknown, RequestService, Schedule},
    stream::FirstHead,
};
use crate::{
    interrupt::{Client, StopOnDrop, StopReason},
    limits::{
        FREE_STREAMS, HEAD_TIMEOUT, MAX_HEAD_BYTES, MAX_HEADERS, MAX_STREAMS, STOP_TIME,
        WINDOW_BYTES,
    },
};

/// Counts a request until its response has been sent.
struct Running(Arc<watch::Sender<usize>>);

impl Running {
    /// Counts a request until the returned value is dropped.
    fn begin(count: &Arc<watch::Sender<usize>>) -> Self {
        count.send_modify(|count| *count += 1);
        Self(Arc::clone(count))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

/// Serves requests until the client disconnects, sends no request for long, or `stop` is set. After
/// `stop`, running requests get `STOP_TIME` to finish; in the other cases they may take longer.
pub(super) async fn serve_http2<A: RequestService>(
    service: &Arc<A>,
    peer: Option<IpAddr>,
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    scheme: &'static str,
    first_head: &FirstHead,
    mut stop: watch::Receiver<bool>,
) {
    let (count, running) = watch::channel(0);
    let count = Arc::new(count);
    let client = Arc::new(Client::from_peer(peer));
    let unsent = UnsentResponses::default();
    // When this future ends or is dropped, the computations of the client's requests are cancelled.
    let _presence = StopOnDrop(Arc::clone(&client));
    let service = service_fn(|request: Request<Incoming>| {
        let (service, running) = (Arc::clone(service), Running::begin(&count));
        let schedule =
            if FREE_STREAMS < *count.borrow() { Schedule::Queued } else { Schedule::Now };
        let (client, unsent) = (Arc::clone(&client), unsent.clone());
        first_head.mark_seen();
        async move {
            let response = match request.headers().len() <= MAX_HEADERS {
                true => {
                    let request = request.map(Given::Arriving);
                    service.answer(client, schedule, scheme, request).await?
                }
                false => too_many_headers(),
            };
            Ok::<_, OutcomeUnknown>(ResponseBody::wrap_response(response, Some(&unsent), running))
        }
    });
    let connection = http2::Builder::new(TokioExecutor::new())
        .max_header_list_size(u32::try_from(MAX_HEAD_BYTES).unwrap_or(u32::MAX))
        .max_concurrent_streams(MAX_STREAMS)
        .initial_stream_window_size(WINDOW_BYTES / 2)
        .initial_connection_window_size(WINDOW_BYTES)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    tokio::select! {
        // Errors cannot be reported to the client any more.
        _ = connection.as_mut() => return,
        // The client does not read its responses.
        () = unsent.wait_until_stalled() => return,
        () = wait_until_quiet(running.clone()) => {}
        _ = stop.changed() => {}
    }
    connection.as_mut().graceful_shutdown();
    if tokio::time::timeout(STOP_TIME, connection.as_mut()).await.is_ok() {
        return;
    }
    if *stop.borrow() {
        client.stop_requests(StopReason::Stopping);
        // Only requests that the client has not sent completely can remain.
        let _ = tokio::time::timeout(STOP_TIME, connection).await;
        return;
    }
    tokio::select! {
        _ = connection => {}
        () = unsent.wait_until_stalled() => {}
        // The client ignores the GOAWAY frame: close the connection once no request runs.
        () = wait_until_quiet(running) => {}
    }
}

/// Waits until no request has run or started during a whole head timeout. Returns early if the
/// connection has ended.
async fn wait_until_quiet(mut running: watch::Receiver<usize>) {
    loop {
        let ended = running.wait_for(|count| *count == 0).await.is_err();
        let begun = tokio::time::timeout(HEAD_TIMEOUT, running.changed()).await;
        if ended || begun.is_err() {
            return;
        }
    }
}

/// Returns the response to a request with more headers than HTTP/1 permits. hyper only limits their
/// total size.
fn too_many_headers() -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::default());
    *response.status_mut() = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
    response
}
