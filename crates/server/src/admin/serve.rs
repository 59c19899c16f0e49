//! Connections of the admin address: HTTP/1, one request after the other, with limits of time. Routes
//! are not its business.

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

/// A request's head has to arrive within this long after the answer before it.
const HEAD_TIMEOUT: Duration = Duration::from_secs(60);

/// How long the answer under way may take once the server stops; half a request is not waited for.
/// A second longer than relayed requests get (`relayed.rs`), so that their answer can still be sent.
const STOP_TIME: Duration = Duration::from_secs(2);

/// Serves a client until it leaves, is silent for too long, or `stop` changes. `peer` is its address,
/// which routes read for the log and the throttle of logins.
pub(crate) async fn serve_stream(
    routes: Router,
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    peer: SocketAddr,
    mut stop: watch::Receiver<bool>,
) {
    // `Stream` ends a connection whose client does not read what it asked for.
    let stream = Stream::new(stream);
    let service = service_fn(|request: Request<Incoming>| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(ConnectInfo(peer));
        // A router is always ready.
        routes.clone().call(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .half_close(false)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    tokio::select! {
        // Whatever ended it, there is nobody left to tell.
        _ = connection.as_mut() => return,
        _ = stop.changed() => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = tokio::time::timeout(STOP_TIME, connection).await;
}
