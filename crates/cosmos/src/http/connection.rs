//! One client over a socket: what it speaks by how it begins, then one request after the other.
//!
//! The port serves TLS and plain text, HTTP/1 and HTTP/2. What a client speaks is told by its first
//! bytes, which are looked at and not taken where that is possible (`protocol`). Only a client
//! whose first bytes come one by one is read into a buffer that is put before the rest.
//!
//! A connection without TLS in HTTP/1 may rest: SDKs keep hundreds of them open for their next
//! request. While it rests nothing is kept for it but its socket and this future, so hyper's
//! connection with its buffers is taken apart and made anew when the next bytes come.
//!
//! ```text
//! serve -> Tls     -> serve_tls -> serve_http1 or http2::serve_http2, as agreed
//!       -> Http1   -> serve_resting: requests, rest, requests, rest ..
//!       -> Http2   -> http2::serve_http2
//!       -> Unclear -> serve_slow_start: reads until it is clear
//! ```

use std::{
    net::IpAddr,
    pin::Pin,
    sync::{Arc, atomic::Ordering},
};

use bytes::Bytes;
use engine::Store;
use hyper::{Request, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite},
    net::TcpStream,
    sync::watch,
};

use super::{
    active_requests::ActiveRequests,
    answers::{Answers, Lost, Pace},
    body::Body,
    http2,
    linger::Linger,
    protocol::Protocol,
    response_body::ResponseBody,
    stream::{FirstHead, Stream},
};
use crate::{
    door::Door,
    interrupt::{Client, StopOnDrop, StopReason},
    limits::{
        HANDSHAKE_TIMEOUT, HEAD_TIMEOUT, MAX_FIRST_BYTES, MAX_HEAD_BYTES, STOP_TIME, WINDOW_BYTES,
    },
    tls::{self, CurrentCertificate},
};

/// Serves a client of a door until it leaves or `stop` says so.
pub async fn serve<S: Store>(door: Arc<Door<S>>, stream: TcpStream, stop: watch::Receiver<bool>) {
    serve_answers(door, stream, stop).await;
}

/// Serves a client until it leaves or `stop` says so. It never fails: whatever goes wrong on a
/// connection is the client's to notice, and concerns no other one.
pub(super) async fn serve_answers<A: Answers>(
    answers: Arc<A>,
    stream: TcpStream,
    mut stop: watch::Receiver<bool>,
) {
    answers.opened().fetch_add(1, Ordering::Relaxed);
    let peer = stream.peer_addr().ok().map(|peer| peer.ip());
    let opening = tokio::select! {
        opening = Protocol::peek_protocol(&stream) => opening,
        _ = stop.changed() => None,
    };
    let first_head = FirstHead::default();
    let most = match opening {
        Some(Protocol::Http1) => MAX_FIRST_BYTES,
        // What belongs to a request is read before the request is told of.
        _ => MAX_FIRST_BYTES + WINDOW_BYTES as usize,
    };
    let share = || answers.strangers().share();
    let guard = |stream| Stream::of_stranger(stream, share(), &first_head, most);
    match (opening, answers.certificate()) {
        (None, _) => {}
        (Some(Protocol::Tls), Some(certificate)) => {
            Box::pin(serve_tls(&answers, peer, guard(stream), certificate, &first_head, stop))
                .await;
        }
        (Some(Protocol::Tls | Protocol::Http1), _) => {
            Box::pin(serve_resting(&answers, peer, guard(stream), &first_head, stop)).await;
        }
        (Some(Protocol::Http2), _) => {
            Box::pin(http2::serve_http2(&answers, peer, guard(stream), "http", &first_head, stop))
                .await;
        }
        (Some(Protocol::Unclear), _) => {
            Box::pin(serve_slow_start(&answers, peer, guard(stream), "http", &first_head, stop))
                .await
        }
    }
    answers.opened().fetch_sub(1, Ordering::Relaxed);
}

/// The result of a handshake, if it is finished in time and before the server stops. `None` where
/// it was not, and then there is nothing to say to the client: it may not speak TLS at all.
pub(super) async fn finish_handshake<T, E>(
    handshake: impl Future<Output = Result<T, E>>,
    stop: &mut watch::Receiver<bool>,
) -> Option<T> {
    tokio::select! {
        finished = tokio::time::timeout(HANDSHAKE_TIMEOUT, handshake) => finished.ok()?.ok(),
        _ = stop.changed() => None,
    }
}

/// Serves a client that speaks TLS, in which both versions of HTTP may be spoken. The certificate's
/// settings offer both, and the client chooses.
async fn serve_tls<A: Answers>(
    answers: &Arc<A>,
    peer: Option<IpAddr>,
    stream: Stream<TcpStream>,
    certificate: &CurrentCertificate,
    first_head: &FirstHead,
    mut stop: watch::Receiver<bool>,
) {
    let accepted = certificate.acceptor().accept(stream);
    // A client that does not finish a handshake speaks nothing that it could be told in.
    let Some(stream) = finish_handshake(accepted, &mut stop).await else { return };
    let agreed = stream.get_ref().1.alpn_protocol();
    match agreed == Some(tls::HTTP2) {
        true => {
            Box::pin(http2::serve_http2(answers, peer, stream, "https", first_head, stop)).await
        }
        false => Box::pin(serve_http1(answers, peer, stream, "https", first_head, stop)).await,
    }
}

/// Serves a client whose first bytes come one by one, or cannot be looked at without being taken. Those
/// that were taken are read again before the others.
pub(super) async fn serve_slow_start<A: Answers>(
    answers: &Arc<A>,
    peer: Option<IpAddr>,
    mut stream: Stream<impl AsyncRead + AsyncWrite + Unpin + Send + 'static>,
    scheme: &'static str,
    first_head: &FirstHead,
    mut stop: watch::Receiver<bool>,
) {
    let opening = tokio::select! {
        opening = Protocol::read_protocol(&mut stream) => opening,
        _ = stop.changed() => None,
    };
    let Some((opening, first)) = opening else { return };
    let (reader, writer) = tokio::io::split(stream);
    let stream = tokio::io::join(std::io::Cursor::new(first).chain(reader), writer);
    match opening {
        Protocol::Http2 => {
            http2::serve_http2(answers, peer, stream, scheme, first_head, stop).await
        }
        _ => serve_http1(answers, peer, stream, scheme, first_head, stop).await,
    }
}

/// Serves a client that may rest between its requests. It ends when the client leaves, or when
/// `stop` says so while it rests.
async fn serve_resting<A: Answers>(
    answers: &Arc<A>,
    peer: Option<IpAddr>,
    mut stream: Stream<TcpStream>,
    first_head: &FirstHead,
    mut stop: watch::Receiver<bool>,
) {
    let turns = ActiveRequests::default();
    let mut rests = true;
    loop {
        stream.report_to(&turns);
        let rest = rests.then_some(&turns);
        // In a place of its own, which is given up while the client rests.
        let talked =
            Box::pin(serve_requests(answers, (peer, "http", first_head), stream, &mut stop, rest))
                .await;
        let Some((io, read)) = talked else { return };
        stream = io;
        if !read.is_empty() {
            // It sends a head slowly: it goes on with what came, and has no further rest.
            stream.puts_back(read);
            rests = false;
            continue;
        }
        // It is empty, but holds on to the buffer that it was a part of.
        drop(read);
        let begun = tokio::select! {
            begun = Protocol::peek_protocol(stream.inner()) => begun,
            _ = stop.changed() => None,
        };
        if begun.is_none() {
            return;
        }
    }
}

/// Serves a client in HTTP/1 until it leaves. What it is read from cannot be put aside while it
/// rests.
async fn serve_http1<A: Answers>(
    answers: &Arc<A>,
    peer: Option<IpAddr>,
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    scheme: &'static str,
    first_head: &FirstHead,
    mut stop: watch::Receiver<bool>,
) {
    let _ = serve_requests(answers, (peer, scheme, first_head), stream, &mut stop, None).await;
}

/// Serves one request after the other until the client leaves. Where `rest` is given it also ends
/// when the client rests, and returns the stream with the bytes that were read of the next request:
/// there are some where the client sends a head slowly.
async fn serve_requests<A: Answers, T: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    answers: &Arc<A>,
    (peer, scheme, first_head): (Option<IpAddr>, &'static str, &FirstHead),
    stream: T,
    stop: &mut watch::Receiver<bool>,
    rest: Option<&ActiveRequests>,
) -> Option<(T, Bytes)> {
    let client = Arc::new(Client::from_peer(peer));
    // However this future ends, what the client's requests compute ends with it.
    let _presence = StopOnDrop(Arc::clone(&client));
    let service = service_fn(|request: Request<Incoming>| {
        let (answers, client) = (Arc::clone(answers), Arc::clone(&client));
        first_head.mark_seen();
        let turn = rest.map(ActiveRequests::begin_request);
        async move {
            let request = request.map(Body::Arriving);
            let response = answers.answer(client, Pace::Free, scheme, request).await?;
            Ok::<_, Lost>(ResponseBody::wrap_response(response, None, turn))
        }
    });
    let mut connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(MAX_HEAD_BYTES)
        // A client that closes its half has left: there is nobody to answer.
        .half_close(false)
        .serve_connection(TokioIo::new(Linger::new(stream, Arc::clone(&client))), service);
    tokio::select! {
        // Whatever ended it, there is nobody left to tell.
        _ = &mut connection => return None,
        () = ActiveRequests::wait_for_rest(rest) => {
            let parts = connection.into_parts();
            return Some((parts.io.into_inner().into_inner(), parts.read_buf));
        }
        _ = stop.changed() => {}
    }
    Pin::new(&mut connection).graceful_shutdown();
    if tokio::time::timeout(STOP_TIME, &mut connection).await.is_err() {
        client.stop_requests(StopReason::Stopping);
        // What is left then is a request that was sent by half.
        let _ = tokio::time::timeout(STOP_TIME, connection).await;
    }
    None
}
