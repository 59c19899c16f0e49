//! Detects the protocol of a client by its first bytes.
//!
//! ```text
//! 0x16                 a TLS handshake
//! "PRI "               HTTP/2, whose connection preface is "PRI * HTTP/2.0"
//! anything else        HTTP/1, or bytes that HTTP/1 refuses
//! ```

use tokio::{
    io::{AsyncRead, AsyncReadExt},
    net::TcpStream,
};

use crate::limits::HEAD_TIMEOUT;

/// First byte of a TLS handshake: its record type.
const HANDSHAKE: u8 = 0x16;
/// HTTP/2's connection preface, which was chosen so that HTTP/1 servers refuse it.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// Length of the preface's shortest prefix that cannot start an HTTP/1 request: `PRI` could start a
/// method.
const DECISIVE: usize = 4;

/// Number of bytes that distinguish a client's first frame from HTTP.
const FRAME_BYTES: usize = 5;

/// The protocol that a client speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    /// TLS; the handshake determines the HTTP version.
    Tls,
    Http1,
    Http2,
    /// Too few bytes have arrived.
    Unclear,
}

/// Returns whether a client that has begun with these bytes within TLS sends frames, as in direct
/// mode; `None` if more bytes are needed. A frame begins with its length, and its fifth byte is zero
/// in a client's first frame. No HTTP head has a zero byte.
pub(super) fn begins_frame(first: &[u8]) -> Option<bool> {
    let decisive = first.get(..FRAME_BYTES).unwrap_or(first);
    match decisive.contains(&0) {
        true => Some(true),
        false => (decisive.len() == FRAME_BYTES).then_some(false),
    }
}

impl Protocol {
    /// Waits for the first bytes of a client and peeks at them, so that the next reader of the
    /// socket still gets them. Returns `None` if the client sends nothing in time or has
    /// disconnected.
    pub(super) async fn peek_protocol(stream: &TcpStream) -> Option<Self> {
        let mut first = [0; PREFACE.len()];
        match tokio::time::timeout(HEAD_TIMEOUT, stream.peek(&mut first)).await {
            Ok(Ok(len @ 1..)) => first.get(..len).map(Self::of_first_bytes),
            _ => None,
        }
    }

    /// Reads bytes until they determine the protocol. Returns the protocol and the bytes, or `None`
    /// if the client disconnects before that. Used if the first bytes do not suffice: peeking again
    /// would return immediately with the same bytes.
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

    /// Classifies a client by its first bytes.
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
    fn frames_begin_with_a_zero_byte() {
        for (first, want) in [
            (&b""[..], None),
            (b"GET ", None),
            (b"GET /", Some(false)),
            (b"PRI * HTTP/2.0", Some(false)),
            (b"\x95", None),
            (b"\x95\0", Some(true)),
            (b"\x95\x01\x01\x01\0\0\0\0", Some(true)),
            (b"\x95\x01\x01\x01\x01\0", Some(false)),
        ] {
            assert_eq!(begins_frame(first), want, "{first:?}");
        }
    }

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
