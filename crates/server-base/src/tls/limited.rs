//! A socket that limits the bytes sent by its client until the TLS handshake is done, and charges
//! its memory to the account for clients that are not authenticated yet: unfinished handshakes
//! cannot take memory from operations.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};

use memory::Share;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
};

/// Maximum bytes from a client before its handshake is done: enough for a certificate chain.
const MOST_BYTES: usize = 64 * 1024;
/// Memory of the handshake's state.
const STATE_BYTES: usize = 16 * 1024;

/// The socket below TLS, which limits its client and charges memory until the handshake is done.
#[derive(Debug)]
pub struct Limited<T = TcpStream> {
    io: T,
    /// The limit that applies to the client; `None` once the handshake is done.
    handshake_limit: Option<HandshakeLimit>,
}

#[derive(Debug)]
struct HandshakeLimit {
    share: Share,
    sent: usize,
}

impl<T> Limited<T> {
    /// Creates a socket before its handshake; memory is charged to `share`.
    pub(super) fn new(io: T, share: Share) -> Self {
        Self { io, handshake_limit: Some(HandshakeLimit { share, sent: 0 }) }
    }

    /// Ends the limit when the handshake is done, and releases the memory charged for the
    /// handshake; the API that serves the client accounts for its data afterwards.
    pub(super) fn end_limit(&mut self) {
        self.handshake_limit = None;
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Limited<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.io).poll_read(context, buffer))?;
        let Some(handshake_limit) = &mut self.handshake_limit else { return Poll::Ready(Ok(())) };
        handshake_limit.sent += buffer.filled().len() - before;
        let wanted = handshake_limit.sent + STATE_BYTES;
        if MOST_BYTES < handshake_limit.sent || handshake_limit.share.set(wanted).is_err() {
            // Undo the read: a reader must not get bytes together with an error.
            buffer.set_filled(before);
            let text = "the handshake is too large, or too many handshakes run at once";
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::OutOfMemory, text)));
        }
        Poll::Ready(Ok(()))
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Limited<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use memory::Account;
    use tokio::io::AsyncReadExt;

    use super::*;

    #[tokio::test]
    async fn a_handshake_has_an_end_and_takes_memory_of_strangers() {
        let account = Account::new(2 * MOST_BYTES);
        for (sent, in_handshake, room, good) in [
            (MOST_BYTES, true, MOST_BYTES, true),
            (MOST_BYTES + 1, true, MOST_BYTES, false),
            (MOST_BYTES + 1, false, MOST_BYTES, true),
            (1000, true, 0, false),
        ] {
            let mut others = account.share();
            others.set(MOST_BYTES - room.min(MOST_BYTES)).unwrap();
            if room == 0 {
                others.set(2 * MOST_BYTES).unwrap();
            }
            let bytes = vec![0; sent];
            let mut limited = Limited::new(bytes.as_slice(), account.share());
            if !in_handshake {
                limited.end_limit();
            }
            let read = limited.read_to_end(&mut Vec::new()).await;
            assert_eq!(read.is_ok(), good, "{sent} {in_handshake} {room}");
        }
        assert_eq!(account.used_bytes(), 0);
    }
}
