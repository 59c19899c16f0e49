//! Connections of the admin address: HTTP/1, one request at a time, with time limits.

use std::{net::SocketAddr, pin::pin, time::Duration};

use axum::{
    Router,
    body::Body,
    extract::{ConnectInfo, Request},
};
use cosmos::Stream;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::watch,
};
use tower_service::Service;

/// Maximum time between a response and the next request's head.
const HEAD_TIMEOUT: Duration = Duration::from_secs(60);

/// Time that a response in progress may take once the server stops; incomplete requests are
/// dropped. It is one second longer than the time of relayed calls (`relayed.rs`), so that their
/// response can still be sent.
const STOP_TIME: Duration = Duration::from_secs(2);

/// Serves a client until it disconnects, idles for too long, or `stop` changes. `peer` is its
/// address, which routes use for logging and throttling of logins.
pub async fn serve_stream(
    routes: Router,
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    peer: SocketAddr,
    mut stop: watch::Receiver<bool>,
) {
    // `Stream` ends a connection whose client does not read its response.
    let stream = Stream::new(stream);
    let service = service_fn(|request: Request<Incoming>| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(ConnectInfo(peer));
        // Called without waiting for readiness, since a router is always ready.
        routes.clone().call(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .half_close(false)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    tokio::select! {
        // No client is left to report an error to.
        _ = connection.as_mut() => return,
        _ = stop.changed() => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = tokio::time::timeout(STOP_TIME, connection).await;
}
