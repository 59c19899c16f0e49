//! One client: what it speaks by how it begins, then one request after the other.

use std::{convert::Infallible, net::IpAddr, pin::pin, sync::Arc, sync::atomic::Ordering};

use engine::Store;
use hyper::{Request, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite},
    net::TcpStream,
    sync::watch,
};

use super::{
    answer::{Sender, answer},
    body::Body,
    certificate, http2,
    linger::Linger,
    opening::Opening,
    sent::Sent,
    stream::{Known, Stream},
};
use crate::{
    door::Door,
    limits::{
        HANDSHAKE_TIMEOUT, HEAD_TIMEOUT, MAX_FIRST_BYTES, MAX_HEAD_BYTES, MAX_HEADERS, STOP_TIME,
        WINDOW_BYTES,
    },
    operation::{Client, Presence, Why},
};

/// Serves a client until it leaves or `stop` says so.
pub async fn serve<S: Store>(
    door: Arc<Door<S>>,
    stream: TcpStream,
    mut stop: watch::Receiver<bool>,
) {
    door.opened.fetch_add(1, Ordering::Relaxed);
    let peer = stream.peer_addr().ok().map(|peer| peer.ip());
    let opening = tokio::select! {
        opening = Opening::of(&stream) => opening,
        _ = stop.changed() => None,
    };
    let known = Known::default();
    let most = match opening {
        Some(Opening::Http1) => MAX_FIRST_BYTES,
        // What belongs to a request is read before the request is told of.
        _ => MAX_FIRST_BYTES + WINDOW_BYTES as usize,
    };
    let share = || door.settings.strangers.share();
    let guard = |stream| Stream::of_stranger(stream, share(), &known, most);
    match (opening, &door.settings.certificate) {
        (None, _) => {}
        (Some(Opening::Tls), Some(certificate)) => {
            let accepted = certificate.acceptor().accept(guard(stream));
            // Who does not finish a handshake has nobody to tell.
            if let Ok(Ok(stream)) = tokio::time::timeout(HANDSHAKE_TIMEOUT, accepted).await {
                let agreed = stream.get_ref().1.alpn_protocol();
                match agreed == Some(certificate::HTTP2) {
                    true => {
                        Box::pin(http2::converse(&door, peer, stream, "https", &known, stop)).await
                    }
                    false => converse(&door, peer, stream, "https", &known, stop).await,
                }
            }
        }
        (Some(Opening::Tls | Opening::Http1), _) => {
            converse(&door, peer, guard(stream), "http", &known, stop).await;
        }
        (Some(Opening::Http2), _) => {
            Box::pin(http2::converse(&door, peer, guard(stream), "http", &known, stop)).await;
        }
        (Some(Opening::Unclear), _) => {
            Box::pin(slow(&door, peer, guard(stream), &known, stop)).await
        }
    }
    door.opened.fetch_sub(1, Ordering::Relaxed);
}

/// A client whose first bytes come one by one.
async fn slow<S: Store>(
    door: &Arc<Door<S>>,
    peer: Option<IpAddr>,
    mut stream: Stream<TcpStream>,
    known: &Known,
    mut stop: watch::Receiver<bool>,
) {
    let opening = tokio::select! {
        opening = Opening::read(&mut stream) => opening,
        _ = stop.changed() => None,
    };
    let Some((opening, first)) = opening else { return };
    let (reader, writer) = tokio::io::split(stream);
    let stream = tokio::io::join(std::io::Cursor::new(first).chain(reader), writer);
    match opening {
        Opening::Http2 => http2::converse(door, peer, stream, "http", known, stop).await,
        _ => converse(door, peer, stream, "http", known, stop).await,
    }
}

async fn converse<S: Store>(
    door: &Arc<Door<S>>,
    peer: Option<IpAddr>,
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    scheme: &'static str,
    known: &Known,
    mut stop: watch::Receiver<bool>,
) {
    let client = Arc::new(Client::of(peer));
    // However it ends.
    let _presence = Presence(Arc::clone(&client));
    let service = service_fn(|request: Request<Incoming>| {
        let (door, client) = (Arc::clone(door), Arc::clone(&client));
        known.set();
        async move {
            let request = request.map(Body::Arriving);
            let response = answer(&door, client, Sender::Signs, scheme, request).await;
            Ok::<_, Infallible>(Sent::of(response, None, ()))
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(MAX_HEAD_BYTES)
        .max_headers(MAX_HEADERS)
        .half_close(false)
        .serve_connection(TokioIo::new(Linger::new(stream, Arc::clone(&client))), service);
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
