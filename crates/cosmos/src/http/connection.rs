//! One client connection: detects the protocol, then serves one request after the other.
//!
//! The port serves TLS and plain text, HTTP/1 and HTTP/2. The protocol is detected by peeking at
//! the first bytes without consuming them (`protocol`). If they arrive one by one, they are read
//! into a buffer instead; later reads return the buffer before the rest of the stream.
//!
//! SDKs keep hundreds of idle connections open. An idle plain-text HTTP/1 connection holds only its
//! socket and this future; hyper's connection with its buffers is taken apart, and rebuilt when the
//! next bytes arrive.
//!
//! ```text
//! serve -> Tls     -> serve_tls -> serve_http1 or http2::serve_http2, as agreed
//!                                -> direct::serve_direct, by the first bytes
//!       -> Http1   -> serve_until_idle: requests, idle, requests, idle ..
//!       -> Http2   -> http2::serve_http2
//!       -> Unclear -> serve_slow_start: reads until it is clear
//! ```

use std::{
    net::IpAddr,
    pin::Pin,
    sync::{Arc, atomic::Ordering},
};

use bytes::{Bytes, BytesMut};
use hyper::{Request, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite},
    net::TcpStream,
    sync::watch,
};

use super::{
    active_requests::ActiveRequests,
    body::Body,
    http2,
    linger::Linger,
    protocol::{Protocol, begins_frame},
    response_body::ResponseBody,
    service::{FrameService, OutcomeUnknown, RequestService, Schedule},
    stream::{FirstHead, Stream},
};
use crate::{
    api::NoSqlApi,
    direct::serve_direct,
    interrupt::{Client, StopOnDrop, StopReason},
    limits::{
        HANDSHAKE_TIMEOUT, HEAD_TIMEOUT, MAX_FIRST_BYTES, MAX_HEAD_BYTES, STOP_TIME, WINDOW_BYTES,
    },
    tls::{self, CurrentCertificate},
};

/// Bytes that are read at once to distinguish frames from HTTP; a client's context is shorter.
const MAX_FIRST_READ: usize = 512;

/// Serves a client until it disconnects or `stop` is set.
pub async fn serve(api: Arc<NoSqlApi>, stream: TcpStream, stop: watch::Receiver<bool>) {
    serve_answers(api, stream, stop).await;
}

/// Serves a client until it disconnects or `stop` is set. Returns no error, since an error on a
/// connection concerns only its client.
pub(super) async fn serve_answers<A: RequestService>(
    service: Arc<A>,
    stream: TcpStream,
    mut stop: watch::Receiver<bool>,
) {
    service.opened().fetch_add(1, Ordering::Relaxed);
    let peer = stream.peer_addr().ok().map(|peer| peer.ip());
    let opening = tokio::select! {
        opening = Protocol::peek_protocol(&stream) => opening,
        _ = stop.changed() => None,
    };
    let first_head = FirstHead::default();
    let most = match opening {
        Some(Protocol::Http1) => MAX_FIRST_BYTES,
        // HTTP/2 clients may send body bytes up to the flow control window before their first
        // request is seen.
        _ => MAX_FIRST_BYTES + WINDOW_BYTES as usize,
    };
    let share = || service.unknown_clients().share();
    let guard = |stream| Stream::of_unknown_client(stream, share(), &first_head, most);
    match (opening, service.certificate()) {
        (None, _) => {}
        (Some(Protocol::Tls), Some(certificate)) => {
            Box::pin(serve_tls(&service, peer, guard(stream), certificate, &first_head, stop))
                .await;
        }
        (Some(Protocol::Tls | Protocol::Http1), _) => {
            Box::pin(serve_until_idle(&service, peer, guard(stream), &first_head, stop)).await;
        }
        (Some(Protocol::Http2), _) => {
            Box::pin(http2::serve_http2(&service, peer, guard(stream), "http", &first_head, stop))
                .await;
        }
        (Some(Protocol::Unclear), _) => {
            Box::pin(serve_slow_start(&service, peer, guard(stream), "http", &first_head, stop))
                .await
        }
    }
    service.opened().fetch_sub(1, Ordering::Relaxed);
}

/// Returns the result of a handshake if it finishes in time and before `stop` is set. Otherwise
/// returns `None` and sends nothing to the client, which may not use TLS at all.
pub(super) async fn finish_handshake<T, E>(
    handshake: impl Future<Output = Result<T, E>>,
    stop: &mut watch::Receiver<bool>,
) -> Option<T> {
    tokio::select! {
        finished = tokio::time::timeout(HANDSHAKE_TIMEOUT, handshake) => finished.ok()?.ok(),
        _ = stop.changed() => None,
    }
}

/// Serves a TLS client. The certificate's settings offer both HTTP versions, and the client
/// chooses.
async fn serve_tls<A: RequestService>(
    service: &Arc<A>,
    peer: Option<IpAddr>,
    stream: Stream<TcpStream>,
    certificate: &CurrentCertificate,
    first_head: &FirstHead,
    mut stop: watch::Receiver<bool>,
) {
    let accepted = certificate.acceptor().accept(stream);
    // Without a completed handshake no response can be sent to the client.
    let Some(stream) = finish_handshake(accepted, &mut stop).await else { return };
    let agreed = stream.get_ref().1.alpn_protocol();
    match agreed {
        Some(tls::HTTP2) => {
            Box::pin(http2::serve_http2(service, peer, stream, "https", first_head, stop)).await
        }
        // Clients in direct mode agree on no protocol.
        None if service.accepts_frames() => {
            Box::pin(serve_frames_or_http1(service, peer, stream, "https", first_head, stop)).await
        }
        _ => Box::pin(serve_http1(service, peer, stream, "https", first_head, stop)).await,
    }
}

/// Serves a client that speaks HTTP/1 or sends frames, as its first bytes tell: within TLS, or
/// forwarded by another node.
pub(super) async fn serve_frames_or_http1<A: RequestService>(
    service: &Arc<A>,
    peer: Option<IpAddr>,
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    scheme: &'static str,
    first_head: &FirstHead,
    mut stop: watch::Receiver<bool>,
) {
    let mut stream = Stream::new(stream);
    let mut first = BytesMut::with_capacity(MAX_FIRST_READ);
    let told = async {
        while let Ok(1..) = stream.read_buf(&mut first).await {
            let told = begins_frame(&first);
            if told.is_some() {
                return told;
            }
        }
        None
    };
    let told = tokio::select! {
        told = tokio::time::timeout(HEAD_TIMEOUT, told) => told.ok().flatten(),
        _ = stop.changed() => None,
    };
    let Some(sends_frames) = told else { return };
    stream.puts_back(first.freeze());
    if sends_frames {
        let executors = FrameService(service);
        let on_known = || first_head.mark_seen();
        return Box::pin(serve_direct(&executors, peer, stream, &on_known, stop)).await;
    }
    serve_http1(service, peer, stream, scheme, first_head, stop).await;
}

/// Serves a client whose first bytes arrive one by one or cannot be peeked at. Bytes that were
/// consumed to detect the protocol are read again first.
pub(super) async fn serve_slow_start<A: RequestService>(
    service: &Arc<A>,
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
            http2::serve_http2(service, peer, stream, scheme, first_head, stop).await
        }
        _ => serve_http1(service, peer, stream, scheme, first_head, stop).await,
    }
}

/// Serves a client whose connection releases its buffers while it is idle. Returns when the client
/// disconnects, or when `stop` is set while the connection is idle.
async fn serve_until_idle<A: RequestService>(
    service: &Arc<A>,
    peer: Option<IpAddr>,
    mut stream: Stream<TcpStream>,
    first_head: &FirstHead,
    mut stop: watch::Receiver<bool>,
) {
    let active_requests = ActiveRequests::default();
    let mut detects_idle = true;
    loop {
        stream.report_to(&active_requests);
        let until_idle = detects_idle.then_some(&active_requests);
        // Boxed, so that the memory of this future is released while the client is idle.
        let talked = Box::pin(serve_requests(
            service,
            (peer, "http", first_head),
            stream,
            &mut stop,
            until_idle,
        ))
        .await;
        let Some((io, read)) = talked else { return };
        stream = io;
        if !read.is_empty() {
            // The client sends a head slowly: continue with the bytes read so far and disable the
            // idle state.
            stream.puts_back(read);
            detects_idle = false;
            continue;
        }
        // Empty, but as a slice of hyper's read buffer it would keep that buffer allocated.
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

/// Serves an HTTP/1 client until it disconnects. The buffers stay allocated while the client is
/// idle.
async fn serve_http1<A: RequestService>(
    service: &Arc<A>,
    peer: Option<IpAddr>,
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    scheme: &'static str,
    first_head: &FirstHead,
    mut stop: watch::Receiver<bool>,
) {
    let _ = serve_requests(service, (peer, scheme, first_head), stream, &mut stop, None).await;
}

/// Serves requests until the client disconnects. If `until_idle` is given, also returns when the
/// client becomes idle. The result is then the stream, and bytes that were read from it but not
/// processed: the start of a head that the client sends slowly.
async fn serve_requests<A: RequestService, T: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    service: &Arc<A>,
    (peer, scheme, first_head): (Option<IpAddr>, &'static str, &FirstHead),
    stream: T,
    stop: &mut watch::Receiver<bool>,
    until_idle: Option<&ActiveRequests>,
) -> Option<(T, Bytes)> {
    let client = Arc::new(Client::from_peer(peer));
    // When this future ends or is dropped, the computations of the client's requests are cancelled.
    let _presence = StopOnDrop(Arc::clone(&client));
    let service = service_fn(|request: Request<Incoming>| {
        let (service, client) = (Arc::clone(service), Arc::clone(&client));
        first_head.mark_seen();
        let turn = until_idle.map(ActiveRequests::begin_request);
        async move {
            let request = request.map(Body::Arriving);
            let response = service.answer(client, Schedule::Now, scheme, request).await?;
            Ok::<_, OutcomeUnknown>(ResponseBody::wrap_response(response, None, turn))
        }
    });
    let mut connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(MAX_HEAD_BYTES)
        // A client that closes its sending half counts as disconnected.
        .half_close(false)
        .serve_connection(TokioIo::new(Linger::new(stream, Arc::clone(&client))), service);
    tokio::select! {
        // Errors cannot be reported to the client any more.
        _ = &mut connection => return None,
        () = ActiveRequests::wait_until_idle(until_idle) => {
            let parts = connection.into_parts();
            return Some((parts.io.into_inner().into_inner(), parts.read_buf));
        }
        _ = stop.changed() => {}
    }
    Pin::new(&mut connection).graceful_shutdown();
    if tokio::time::timeout(STOP_TIME, &mut connection).await.is_err() {
        client.stop_requests(StopReason::Stopping);
        // Only a request that the client has not sent completely can remain.
        let _ = tokio::time::timeout(STOP_TIME, connection).await;
    }
    None
}
