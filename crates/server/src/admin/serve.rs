//! Connections of the admin address: one request after the other, within times. Routes are not its
//! business.

use std::{net::SocketAddr, pin::pin, time::Duration};

use axum::{
    Router,
    body::Body,
    extract::{ConnectInfo, Request},
};
use cosmos::Stream;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{net::TcpStream, sync::watch};
use tower_service::Service;

/// A head has to arrive within this long after the answer before it.
const HEAD_TIMEOUT: Duration = Duration::from_secs(60);

/// How long an answer may take once the server stops; half a request is not waited for.
const STOP_TIME: Duration = Duration::from_secs(2);

/// Serves a client until it leaves or `stop` says so.
pub(super) async fn serve_connection(
    routes: Router,
    stream: TcpStream,
    peer: SocketAddr,
    mut stop: watch::Receiver<bool>,
) {
    // A client that is silent has no buffers; what it begins is looked at, not taken.
    let mut first = [0];
    let begun = tokio::select! {
        begun = tokio::time::timeout(HEAD_TIMEOUT, stream.peek(&mut first)) => begun,
        _ = stop.changed() => return,
    };
    if !matches!(begun, Ok(Ok(1..))) {
        return;
    }
    // One that does not read what it asked for is given up.
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
