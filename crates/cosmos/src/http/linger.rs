//! A lingering close. If a socket is closed while it has unread bytes, the system resets the
//! connection, and the client loses the part of the response that it has not read yet.
//!
//! hyper closes a connection by shutting down its stream. Here the shutdown flushes, closes the
//! write half, and then reads until the client has closed its own half, within limits of time and
//! bytes.

use std::{
    future::{Future, Pending, pending},
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::Timeout,
};

use crate::{
    interrupt::Client,
    limits::{LINGER_TIME, MAX_LINGER_BYTES},
};

/// Bytes per read. hyper's buffer grows with the size of reads, so that with larger reads each
/// connection would hold more memory.
const STEP_BYTES: usize = 16 * 1024;

/// Timer that ends the wait for the client to close.
type End = Pin<Box<Timeout<Pending<()>>>>;

/// Returns a timer that ends the wait for a client to close its connection.
fn linger_limit() -> End {
    Box::pin(tokio::time::timeout(LINGER_TIME, pending()))
}

/// A stream that continues to be read for a while after it was closed for writing.
#[derive(Debug)]
pub(super) struct Linger<T> {
    stream: T,
    /// The client, which records whether it is still sending after it got an early response.
    client: Arc<Client>,
    /// Deadline of the lingering. It is set when the stream was closed for writing while the client
    /// is still sending.
    end: Option<End>,
    /// Whether the stream is closed for writing.
    closed: bool,
    /// Number of bytes discarded since the stream was closed for writing.
    discarded: usize,
}

impl<T> Linger<T> {
    pub(super) fn new(stream: T, client: Arc<Client>) -> Self {
        Self { stream, client, end: None, closed: false, discarded: 0 }
    }

    /// Returns the stream without closing it.
    pub(super) fn into_inner(self) -> T {
        self.stream
    }
}

impl<T: AsyncRead + Unpin> Linger<T> {
    /// Reads and discards until the client closes, the deadline passes, or the byte limit is
    /// reached. Waits for more bytes only if the client got a response before it had sent its whole
    /// request, or if unread bytes were found; otherwise ends at the first read that would block.
    fn poll_discard(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let mut bytes = [0; STEP_BYTES];
        loop {
            let mut buffer = ReadBuf::new(&mut bytes);
            match Pin::new(&mut self.stream).poll_read(context, &mut buffer) {
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {}
                Poll::Ready(_) => return Poll::Ready(()),
                Poll::Pending => match &mut self.end {
                    // A client that sends nothing is awaited only if it has not sent its whole
                    // request.
                    None => return Poll::Ready(()),
                    Some(end) => return end.as_mut().poll(context).map(drop),
                },
            }
            self.discarded += buffer.filled().len();
            let end = self.end.get_or_insert_with(linger_limit);
            if MAX_LINGER_BYTES < self.discarded || end.as_mut().poll(context).is_ready() {
                return Poll::Ready(());
            }
        }
    }
}

impl<T: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Linger<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.closed {
            ready!(Pin::new(&mut self.stream).poll_shutdown(context))?;
            self.closed = true;
            if self.client.is_sending() {
                self.end = Some(linger_limit());
            }
        }
        self.poll_discard(context).map(Ok)
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Linger<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        // A small buffer is passed on directly, which avoids initializing it.
        if buffer.remaining() <= STEP_BYTES {
            return Pin::new(&mut self.stream).poll_read(context, buffer);
        }
        // Reads less than hyper's buffer can hold: hyper enlarges its buffer when a read fills it.
        let mut part = ReadBuf::new(buffer.initialize_unfilled_to(STEP_BYTES));
        ready!(Pin::new(&mut self.stream).poll_read(context, &mut part))?;
        let read = part.filled().len();
        buffer.advance(read);
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    #[tokio::test]
    async fn little_is_read_at_once() {
        let (near, mut far) = duplex(200_000);
        let mut near = Linger::new(near, Arc::default());
        far.write_all(&[7; 100_000]).await.unwrap();
        let mut all = vec![0; 100_000];
        assert_eq!(near.read(&mut all).await.unwrap(), STEP_BYTES);
        near.read_exact(&mut all[STEP_BYTES..]).await.unwrap();
        assert_eq!(all, [7; 100_000]);
    }

    #[tokio::test]
    async fn a_client_that_sends_is_read_until_it_ends() {
        let (near, mut far) = duplex(4096);
        let mut near = Linger::new(near, Arc::default());
        far.write_all(b"more").await.unwrap();
        near.write_all(b"no").await.unwrap();
        let client = async {
            for _ in 0..100 {
                far.write_all(&[0; 1000]).await.unwrap();
            }
            far.shutdown().await.unwrap();
            let mut answer = Vec::new();
            far.read_to_end(&mut answer).await.unwrap();
            answer
        };
        let (closed, answer) = tokio::join!(near.shutdown(), client);
        closed.unwrap();
        assert_eq!((answer.as_slice(), near.discarded), (&b"no"[..], 100_004));
    }

    #[tokio::test]
    async fn a_silent_client_is_not_waited_for() {
        let (near, _far) = duplex(4096);
        let mut near = Linger::new(near, Arc::default());
        near.shutdown().await.unwrap();
        assert!(near.end.is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_never_ends_is_left() {
        let (near, mut far) = duplex(4096);
        let mut near = Linger::new(near, Arc::default());
        far.write_all(b"more").await.unwrap();
        near.shutdown().await.unwrap();
        assert_eq!(near.discarded, 4);
    }
}
