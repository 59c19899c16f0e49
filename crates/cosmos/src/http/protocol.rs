//! How a client begins, which tells what it speaks.
//!
//! ```text
//! 0x16                 a TLS handshake
//! "PRI "               HTTP/2, whose clients begin with "PRI * HTTP/2.0"
//! anything else        HTTP/1, or what HTTP/1 refuses
//! ```

use tokio::{
    io::{AsyncRead, AsyncReadExt},
    net::TcpStream,
};

use crate::limits::HEAD_TIMEOUT;

/// First byte of a TLS handshake: the type of its record.
const HANDSHAKE: u8 = 0x16;
/// What a client of HTTP/2 sends first. It was chosen by the protocol so that servers of HTTP/1
/// refuse it.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// With this many bytes of it no request of HTTP/1 begins: `PRI` could be the start of a method.
const DECISIVE: usize = 4;

/// What a client speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    /// TLS; what is spoken within is agreed in the handshake.
    Tls,
    Http1,
    Http2,
    /// Too few bytes have come.
    Unclear,
}

impl Protocol {
    /// Waits for a client to begin, and looks without taking anything, so that the code that reads the
    /// socket next needs to know nothing of it. `None` where the client does not begin in time, or
    /// has left.
    pub(super) async fn peek_protocol(stream: &TcpStream) -> Option<Self> {
        let mut first = [0; PREFACE.len()];
        match tokio::time::timeout(HEAD_TIMEOUT, stream.peek(&mut first)).await {
            Ok(Ok(len @ 1..)) => first.get(..len).map(Self::of_first_bytes),
            _ => None,
        }
    }

    /// Takes bytes until they tell, and returns them to be read again; `None` where they never do.
    /// It is for clients that send less than is decisive at first: looking again would return at
    /// once with the same bytes, over and over.
    pub(super) async fn read_protocol(
        stream: &mut (impl AsyncRead + Unpin),
    ) -> Option<(Self, Vec<u8>)> {
        let mut first = Vec::with_capacity(PREFACE.len());
        let told = async {
            while let Ok(1..) = stream.read_buf(&mut first).await {
                let opening = Self::of_first_bytes(&first);
                if opening != Self::Unclear {
                    return Some(opening);
                }
            }
            None
        };
        let told = tokio::time::timeout(HEAD_TIMEOUT, told).await;
        told.ok().flatten().map(|opening| (opening, first))
    }

    /// What a client speaks that begins with these bytes.
    fn of_first_bytes(first: &[u8]) -> Self {
        let same = first.iter().zip(PREFACE).take_while(|(a, b)| a == b).count();
        match first.first() {
            Some(&HANDSHAKE) => Self::Tls,
            _ if same < first.len().min(PREFACE.len()) => Self::Http1,
            _ if same < DECISIVE => Self::Unclear,
            _ => Self::Http2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn openings() {
        for (first, want) in [
            (&b""[..], Protocol::Unclear),
            (b"P", Protocol::Unclear),
            (b"PR", Protocol::Unclear),
            (b"PRI", Protocol::Unclear),
            (b"PRI ", Protocol::Http2),
            (PREFACE, Protocol::Http2),
            (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0", Protocol::Http2),
            (b"PRI * HTTP/1.1\r\n", Protocol::Http1),
            (b"PRIX", Protocol::Http1),
            (b"PO", Protocol::Http1),
            (b"PROPFIND / ", Protocol::Http1),
            (b"GET / HTTP/1.1\r\n", Protocol::Http1),
            (b"\x16\x03\x01", Protocol::Tls),
            (b"\0", Protocol::Http1),
        ] {
            assert_eq!(Protocol::of_first_bytes(first), want, "{first:?}");
        }
    }
}
