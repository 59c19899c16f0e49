//! Clients that come to one node of a cluster and are answered by another. TLS ends where they came
//! to; what is said within goes on as it is, and is served here as if the client had come to this
//! node. How it gets from one to the other is not known here.

use std::{
    net::IpAddr,
    sync::{Arc, atomic::Ordering},
};

use engine::Store;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    sync::watch,
};

use super::{
    connection::{finish_handshake, serve_slow_start},
    protocol::Protocol,
    stream::{FirstHead, Stream},
};
use crate::{
    door::Door,
    limits::{MAX_FIRST_BYTES, WINDOW_BYTES},
    tls::Certificate,
};

/// Both directions of a connection, whatever it is made of.
pub trait Duplex: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Duplex for T {}

/// Waits for a client to begin and ends its TLS, if it speaks that: what it says within, and the scheme
/// of its addresses. `None` where it leaves before, or does not finish its handshake in time.
pub async fn open_forwarded(
    stream: TcpStream,
    certificate: Option<&Certificate>,
    mut stop: watch::Receiver<bool>,
) -> Option<(Box<dyn Duplex>, &'static str)> {
    let opening = tokio::select! {
        opening = Protocol::peek_protocol(&stream) => opening?,
        _ = stop.changed() => return None,
    };
    match (opening, certificate) {
        (Protocol::Tls, Some(certificate)) => {
            let accepted = certificate.acceptor().accept(stream);
            let stream = finish_handshake(accepted, &mut stop).await?;
            Some((Box::new(stream), "https"))
        }
        _ => Some((Box::new(stream), "http")),
    }
}

/// Serves a client that came to another node, from this address and by this scheme.
pub async fn serve_forwarded<S: Store>(
    door: Arc<Door<S>>,
    stream: Box<dyn Duplex>,
    peer: Option<IpAddr>,
    scheme: &'static str,
    stop: watch::Receiver<bool>,
) {
    door.opened.fetch_add(1, Ordering::Relaxed);
    let first_head = FirstHead::default();
    let most = MAX_FIRST_BYTES + WINDOW_BYTES as usize;
    let share = door.settings.strangers.share();
    let stream = Stream::of_stranger(stream, share, &first_head, most);
    Box::pin(serve_slow_start(&door, peer, stream, scheme, &first_head, stop)).await;
    door.opened.fetch_sub(1, Ordering::Relaxed);
}
