//! Accepts a client of a listener: detects its protocol by the first bytes, and performs the TLS
//! handshake if it starts one.
//!
//! ```text
//! 16 03 01..04    a TLS handshake
//! a method        HTTP, useless at the MongoDB API: the reply gives the portal's address
//! anything else   the listener's protocol without TLS
//! ```
//!
//! A MongoDB message starts with its length, so a message of 22 or 278 bytes also starts with byte
//! 16. If its first three bytes were those of a handshake, its length would be above 66,000, more
//! than a first message may have.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use memory::Account;
use tokio::{net::TcpStream, sync::watch};

use super::{Listener, Tls, limited::Limited, refusals::Refusals, socket::Socket, subject};
use crate::{
    config::TlsMode,
    misdirected::{PortalAddress, answer_http},
    sleep,
};

/// Time limit of a handshake after its first byte.
const HANDSHAKE_TIME: Duration = Duration::from_secs(20);
/// Time limit for a client's first byte, on listeners that have such a limit.
const FIRST_BYTE_TIME: Duration = Duration::from_secs(60);
/// Initial polling interval while bytes arrive one by one; doubles each time.
const FIRST_PAUSE: Duration = Duration::from_millis(5);
/// First byte of a TLS handshake: the record type.
const HANDSHAKE: u8 = 0x16;
/// Second byte of a TLS handshake: the major version.
const VERSION: u8 = 3;
/// First bytes of HTTP requests. Read as the length of a MongoDB message, each is more than five
/// megabytes.
const METHODS: [&[u8; 3]; 7] = [b"GET", b"POS", b"HEA", b"PUT", b"DEL", b"OPT", b"PAT"];

/// Accepts clients of one listener.
#[derive(Clone)]
pub struct ClientAcceptor(Arc<Inner>);

struct Inner {
    listener: Listener,
    mode: TlsMode,
    tls: Option<Arc<Tls>>,
    /// Account for the memory of handshakes.
    strangers: Account,
    refusals: Refusals,
    /// Address of the portal; `None` if it is off.
    portal: Option<PortalAddress>,
}

/// A client that was accepted, after its TLS handshake if it made one.
#[derive(Debug)]
pub struct Opened {
    /// The plain or TLS socket.
    pub socket: Socket,
    /// Subject of the client's verified certificate, in the form of RFC 2253.
    pub certificate_subject: Option<String>,
    /// Local address of the connection.
    pub reached_at: Option<IpAddr>,
    /// The server name that the client sent in the TLS handshake.
    pub reached_name: Option<String>,
}

impl Opened {
    fn plain(stream: TcpStream) -> Self {
        let reached_at = own_address(&stream);
        let socket = Socket::Plain(stream);
        Self { socket, certificate_subject: None, reached_at, reached_name: None }
    }

    /// Returns the client's identity for the MongoDB API.
    pub fn peer(&self, peer: SocketAddr) -> mongo::Peer {
        mongo::Peer {
            address: peer.to_string(),
            certificate_subject: self.certificate_subject.clone(),
            reached_at: self.reached_at,
            reached_name: self.reached_name.clone(),
            ..mongo::Peer::default()
        }
    }
}

/// Returns the local address of a connection.
fn own_address(stream: &TcpStream) -> Option<IpAddr> {
    stream.local_addr().ok().map(|own| own.ip().to_canonical())
}

/// The protocol of a client, determined by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DetectedProtocol {
    WithHandshake,
    /// The bytes start with an HTTP method.
    WithRequest,
    Otherwise,
    /// Too few bytes have arrived to decide.
    Unclear,
}

impl DetectedProtocol {
    fn of(first: &[u8]) -> Self {
        match first {
            [HANDSHAKE] | [HANDSHAKE, VERSION] => Self::Unclear,
            [HANDSHAKE, VERSION, 1..=4, ..] => Self::WithHandshake,
            [a, b, c, ..] if METHODS.contains(&&[*a, *b, *c]) => Self::WithRequest,
            _ => Self::Otherwise,
        }
    }
}

impl std::fmt::Debug for ClientAcceptor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClientAcceptor").finish_non_exhaustive()
    }
}

impl ClientAcceptor {
    /// Creates the acceptor of a listener; `tls` is `None` if no listener uses TLS. `strangers` is
    /// the memory account of handshakes, `portal` the address in replies to HTTP clients.
    pub(crate) fn new(
        listener: Listener,
        mode: TlsMode,
        tls: Option<Arc<Tls>>,
        strangers: Account,
        portal: Option<PortalAddress>,
    ) -> Self {
        let refusals = Refusals::default();
        Self(Arc::new(Inner { listener, mode, tls, strangers, refusals, portal }))
    }

    /// Waits for a client's first bytes and accepts the client. Returns `None` if the client
    /// leaves, speaks a wrong protocol, or the server stops. A silent client has no buffers: it is
    /// only peeked.
    pub async fn open(
        &self,
        stream: TcpStream,
        peer: SocketAddr,
        mut stop: watch::Receiver<bool>,
    ) -> Option<Opened> {
        tokio::select! {
            opened = self.accept_client(stream, peer) => opened,
            _ = stop.changed() => None,
        }
    }

    async fn accept_client(&self, stream: TcpStream, peer: SocketAddr) -> Option<Opened> {
        let inner = &*self.0;
        let waits = match inner.listener {
            // Drivers may open connections in advance and stay silent.
            Listener::Mongo => None,
            Listener::Admin => Some(FIRST_BYTE_TIME),
        };
        let begun = wait_until_begun(&stream);
        let protocol = match waits {
            Some(time) => tokio::time::timeout(time, begun).await.ok()??,
            None => begun.await?,
        };
        if protocol == DetectedProtocol::WithRequest && inner.listener == Listener::Mongo {
            answer_http(stream, inner.mode == TlsMode::Require, inner.portal).await;
            return None;
        }
        match (protocol, &inner.tls, inner.mode) {
            (DetectedProtocol::WithHandshake, Some(tls), TlsMode::Allow | TlsMode::Require) => {
                // Boxed, so that connections without a handshake do not reserve its memory.
                let finished = Box::pin(inner.finish_handshake(tls, stream)).await;
                finished.map_err(|error| inner.report(peer, &error)).ok()
            }
            (_, _, TlsMode::Require) => {
                inner.report(peer, &"it does not use TLS");
                None
            }
            _ => Some(Opened::plain(stream)),
        }
    }
}

impl Inner {
    fn report(&self, peer: SocketAddr, why: &dyn std::fmt::Display) {
        let setting = match self.listener {
            Listener::Mongo => "mongo-addr",
            Listener::Admin => "admin-addr",
        };
        self.refusals.report(setting, peer, why);
    }

    async fn finish_handshake(&self, tls: &Tls, stream: TcpStream) -> io::Result<Opened> {
        let reached_at = own_address(&stream);
        let limited = Limited::new(stream, self.strangers.share());
        let handshake = tls.acceptor(self.listener).accept(limited);
        let mut stream = tokio::time::timeout(HANDSHAKE_TIME, handshake)
            .await
            .map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
        let (limited, session) = stream.get_mut();
        limited.end_limit();
        let shown = session.peer_certificates().and_then(<[_]>::first);
        let certificate_subject = shown.and_then(|shown| subject::subject_of(shown));
        let reached_name = session.server_name().map(str::to_owned);
        let socket = Socket::Secure(Box::new(stream));
        Ok(Opened { socket, certificate_subject, reached_at, reached_name })
    }
}

/// Peeks at the first bytes until they identify the protocol; `None` if the client leaves or sends
/// too little for too long.
async fn wait_until_begun(stream: &TcpStream) -> Option<DetectedProtocol> {
    let mut first = [0; 3];
    let mut pause = FIRST_PAUSE;
    loop {
        let len = stream.peek(&mut first).await.ok()?;
        let seen = first.get(..len).filter(|seen| !seen.is_empty())?;
        let protocol = DetectedProtocol::of(seen);
        if protocol != DetectedProtocol::Unclear {
            return Some(protocol);
        }
        if HANDSHAKE_TIME < pause {
            return None;
        }
        // Without a pause, this loop would peek at the same bytes again and again.
        sleep::wait_for(pause).await;
        pause *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bytes_tell() {
        for (first, want) in [
            (&b"\x16"[..], DetectedProtocol::Unclear),
            (b"\x16\x03", DetectedProtocol::Unclear),
            (b"\x16\x03\x01", DetectedProtocol::WithHandshake),
            (b"\x16\x03\x04", DetectedProtocol::WithHandshake),
            // MongoDB messages of 22, 278 and 790 bytes.
            (b"\x16\0\0", DetectedProtocol::Otherwise),
            (b"\x16\x01\0", DetectedProtocol::Otherwise),
            (b"\x16\x03\0", DetectedProtocol::Otherwise),
            (b"\x16\x03\x05", DetectedProtocol::Otherwise),
            (b"G", DetectedProtocol::Otherwise),
            (b"GET", DetectedProtocol::WithRequest),
            (b"get", DetectedProtocol::Otherwise),
            (b"PO", DetectedProtocol::Otherwise),
            (b"\x03\x16\x01", DetectedProtocol::Otherwise),
        ] {
            assert_eq!(DetectedProtocol::of(first), want, "{first:?}");
        }
    }

    /// Sends bytes to a listener with TLS; returns whether the client was accepted, and the memory
    /// still held for the handshake.
    async fn open_with(bytes: &[u8]) -> (bool, usize) {
        let config = crate::config::Config::for_tests();
        let tls = Tls::open(&config).unwrap();
        let strangers = Account::new(1 << 20);
        let opener =
            ClientAcceptor::new(Listener::Mongo, TlsMode::Allow, tls, strangers.clone(), None);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut client = TcpStream::connect(address).await.unwrap();
        let (stream, peer) = listener.accept().await.unwrap();
        tokio::io::AsyncWriteExt::write_all(&mut client, bytes).await.unwrap();
        let (_stop, stopped) = watch::channel(false);
        let opened = opener.open(stream, peer, stopped).await;
        (opened.is_some(), strangers.used_bytes())
    }

    /// A handshake that does not continue is given up. Tokio's paused clock advances when all tasks
    /// wait.
    #[tokio::test(start_paused = true)]
    async fn who_does_not_go_on_with_a_handshake_is_given_up() {
        for (bytes, accept_client) in [
            (&b"\x16"[..], false),
            (b"\x16\x03", false),
            (b"\x16\x03\x01", false),
            (b"\x16\x03\x01\x02\0\x01", false),
            (b"\x16\0\0", true),
        ] {
            assert_eq!(open_with(bytes).await, (accept_client, 0), "{bytes:?}");
        }
    }
}
