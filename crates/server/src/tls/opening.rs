//! How a client of a listener is let in: what it speaks is told by its first bytes, and a handshake is
//! finished where it begins one. What is said afterwards is not known here.
//!
//! ```text
//! 16 03 01..04    a TLS handshake
//! a method        HTTP, which is no use at the MongoDB API: the client is told where the portal is
//! anything else   what the listener speaks without TLS
//! ```
//!
//! A message of MongoDB begins with its length, so one of 22 bytes, or of 278, begins with the byte 16,
//! too. With the three bytes it would have more than 66,000, which nobody's first message may have.

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
    background,
    config::TlsMode,
    misdirected::{PortalAddress, answer_http},
};

/// A handshake has to be done within this long after its first byte.
const HANDSHAKE_TIME: Duration = Duration::from_secs(20);
/// The first byte has to come within this long, where a listener has such a limit.
const FIRST_BYTE_TIME: Duration = Duration::from_secs(60);
/// The first pause between two looks at bytes that come one by one; each is twice as long as the one
/// before.
const FIRST_PAUSE: Duration = Duration::from_millis(5);
/// First byte of a TLS handshake: the type of its record.
const HANDSHAKE: u8 = 0x16;
/// The byte after it: the version's first half.
const VERSION: u8 = 3;
/// How a request of HTTP begins. As the length of a message each is above five megabytes.
const METHODS: [&[u8; 3]; 7] = [b"GET", b"POS", b"HEA", b"PUT", b"DEL", b"OPT", b"PAT"];

/// How clients of one listener are let in.
#[derive(Clone)]
pub(crate) struct Opener(Arc<Inner>);

struct Inner {
    listener: Listener,
    mode: TlsMode,
    /// `None`: nobody is served in TLS.
    tls: Option<Arc<Tls>>,
    /// Where handshakes take the memory that they hold from.
    strangers: Account,
    refusals: Refusals,
    /// Where the portal is; `None`: it is off.
    portal: Option<PortalAddress>,
}

/// A client that was let in.
#[derive(Debug)]
pub(crate) struct Opened {
    /// What it is served over.
    pub(crate) socket: Socket,
    /// The subject of its certificate, which was checked, in the form of RFC 2253.
    pub(crate) certificate_subject: Option<String>,
    /// The server's own address of the connection.
    pub(crate) reached_at: Option<IpAddr>,
}

impl Opened {
    fn plain(stream: TcpStream) -> Self {
        let reached_at = own_address(&stream);
        Self { socket: Socket::Plain(stream), certificate_subject: None, reached_at }
    }

    /// Who the client is to the MongoDB API.
    pub(crate) fn peer(&self, peer: SocketAddr) -> mongo::Peer {
        mongo::Peer {
            address: peer.to_string(),
            certificate_subject: self.certificate_subject.clone(),
            reached_at: self.reached_at,
            ..mongo::Peer::default()
        }
    }
}

/// The server's own address of a connection.
fn own_address(stream: &TcpStream) -> Option<IpAddr> {
    stream.local_addr().ok().map(|own| own.ip().to_canonical())
}

/// How a client begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Begins {
    WithHandshake,
    /// With a method of HTTP.
    WithRequest,
    Otherwise,
    /// Too few bytes have come.
    Unclear,
}

impl Begins {
    fn of(first: &[u8]) -> Self {
        match first {
            [HANDSHAKE] | [HANDSHAKE, VERSION] => Self::Unclear,
            [HANDSHAKE, VERSION, 1..=4, ..] => Self::WithHandshake,
            [a, b, c, ..] if METHODS.contains(&&[*a, *b, *c]) => Self::WithRequest,
            _ => Self::Otherwise,
        }
    }
}

impl Opener {
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

    /// Waits for a client to begin and lets it in; `None`: it has left, does not speak what it has to, or
    /// the server stops. A silent client costs no buffers: its first bytes are only looked at.
    pub(crate) async fn open(
        &self,
        stream: TcpStream,
        peer: SocketAddr,
        mut stop: watch::Receiver<bool>,
    ) -> Option<Opened> {
        tokio::select! {
            opened = self.let_in(stream, peer) => opened,
            _ = stop.changed() => None,
        }
    }

    async fn let_in(&self, stream: TcpStream, peer: SocketAddr) -> Option<Opened> {
        let inner = &*self.0;
        let waits = match inner.listener {
            // Drivers may open connections for later, and say nothing meanwhile.
            Listener::Mongo => None,
            Listener::Admin => Some(FIRST_BYTE_TIME),
        };
        let begun = wait_until_begun(&stream);
        let begins = match waits {
            Some(time) => tokio::time::timeout(time, begun).await.ok()??,
            None => begun.await?,
        };
        if begins == Begins::WithRequest && inner.listener == Listener::Mongo {
            answer_http(stream, inner.mode == TlsMode::Require, inner.portal).await;
            return None;
        }
        match (begins, &inner.tls, inner.mode) {
            (Begins::WithHandshake, Some(tls), TlsMode::Allow | TlsMode::Require) => {
                // In a place of its own: one that begins otherwise has no room for it.
                let finished = Box::pin(inner.finish_handshake(tls, stream)).await;
                finished.map_err(|error| inner.report(peer, &error)).ok()
            }
            (_, _, TlsMode::Require) => {
                inner.report(peer, &"it does not speak TLS");
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
        Ok(Opened { socket: Socket::Secure(Box::new(stream)), certificate_subject, reached_at })
    }
}

/// Looks at the first bytes without taking any, until they tell how a client begins; `None`: it has left,
/// or sends too little for too long.
async fn wait_until_begun(stream: &TcpStream) -> Option<Begins> {
    let mut first = [0; 3];
    let mut pause = FIRST_PAUSE;
    loop {
        let len = stream.peek(&mut first).await.ok()?;
        let seen = first.get(..len).filter(|seen| !seen.is_empty())?;
        let begins = Begins::of(seen);
        if begins != Begins::Unclear {
            return Some(begins);
        }
        if HANDSHAKE_TIME < pause {
            return None;
        }
        // The same bytes would be seen again at once.
        background::wait_for(pause).await;
        pause *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bytes_tell() {
        for (first, want) in [
            (&b"\x16"[..], Begins::Unclear),
            (b"\x16\x03", Begins::Unclear),
            (b"\x16\x03\x01", Begins::WithHandshake),
            (b"\x16\x03\x04", Begins::WithHandshake),
            // Messages of MongoDB of 22, 278 and 790 bytes.
            (b"\x16\0\0", Begins::Otherwise),
            (b"\x16\x01\0", Begins::Otherwise),
            (b"\x16\x03\0", Begins::Otherwise),
            (b"\x16\x03\x05", Begins::Otherwise),
            (b"G", Begins::Otherwise),
            (b"GET", Begins::WithRequest),
            (b"get", Begins::Otherwise),
            (b"PO", Begins::Otherwise),
            (b"\x03\x16\x01", Begins::Otherwise),
        ] {
            assert_eq!(Begins::of(first), want, "{first:?}");
        }
    }

    /// Sends bytes to a listener that asks for TLS, and returns whether the client was let in and how much
    /// the handshake goes on holding.
    async fn open_with(bytes: &[u8]) -> (bool, usize) {
        let config = crate::config::Config::for_tests();
        let tls = Tls::open(&config).unwrap();
        let strangers = Account::new(1 << 20);
        let opener = Opener::new(Listener::Mongo, TlsMode::Allow, tls, strangers.clone(), None);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut client = TcpStream::connect(address).await.unwrap();
        let (stream, peer) = listener.accept().await.unwrap();
        tokio::io::AsyncWriteExt::write_all(&mut client, bytes).await.unwrap();
        let (_stop, stopped) = watch::channel(false);
        let opened = opener.open(stream, peer, stopped).await;
        (opened.is_some(), strangers.used_bytes())
    }

    /// The clock jumps as soon as nothing else is to be done.
    #[tokio::test(start_paused = true)]
    async fn who_does_not_go_on_with_a_handshake_is_given_up() {
        for (bytes, let_in) in [
            (&b"\x16"[..], false),
            (b"\x16\x03", false),
            (b"\x16\x03\x01", false),
            (b"\x16\x03\x01\x02\0\x01", false),
            (b"\x16\0\0", true),
        ] {
            assert_eq!(open_with(bytes).await, (let_in, 0), "{bytes:?}");
        }
    }
}
