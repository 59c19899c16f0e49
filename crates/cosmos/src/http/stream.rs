//! A socket with limits: a client that does not read its responses is disconnected, and a client
//! that has not completed its first request head may send only a limited number of bytes.
//!
//! An *unknown client* is a client whose first head is not complete. Anyone can connect and send
//! bytes without a key, so unknown clients share a separate memory account and cannot make requests
//! of known clients fail.

use std::{
    future::Future,
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use memory::Share;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::Sleep,
};

use super::active_requests::ActiveRequests;
use crate::limits::{BUFFERS_BYTES, STEADY_BYTES, WRITE_TIMEOUT};

/// Whether the first head of a client is complete. The code that receives requests sets it;
/// `Stream` reads it.
#[derive(Clone, Debug, Default)]
pub(super) struct FirstHead(Arc<AtomicBool>);

impl FirstHead {
    /// Records that a complete request head was received.
    pub(super) fn mark_seen(&self) {
        self.0.store(true, Relaxed);
    }
}

/// The bytes sent by a client whose first head is not complete.
#[derive(Debug)]
struct UnknownClient {
    first_head: FirstHead,
    /// Memory reserved for the client's bytes and buffers.
    share: Share,
    /// Number of bytes that the client has sent.
    sent: usize,
    /// Number of bytes that the client may send before its first head is complete.
    max_bytes: usize,
}

/// A socket or another byte stream.
#[derive(Debug)]
pub struct Stream<T> {
    io: T,
    /// `None` once the first head is complete.
    unknown_client: Option<UnknownClient>,
    /// Deadline of the blocked write; `None` if no write is blocked.
    patience: Option<Pin<Box<Sleep>>>,
    /// Bytes written since the deadline was set. After each `STEADY_BYTES` the deadline is reset,
    /// so that a client that reads slowly but steadily is not disconnected.
    passed: usize,
    /// Bytes that were already read from the socket, which the next read returns first.
    first: Bytes,
    /// Records whether a write is blocked, for the detection of idle clients.
    active_requests: Option<ActiveRequests>,
}

impl<T> Stream<T> {
    /// Creates the stream of a client whose input is not limited.
    pub fn new(io: T) -> Self {
        Self {
            io,
            unknown_client: None,
            patience: None,
            passed: 0,
            first: Bytes::new(),
            active_requests: None,
        }
    }

    /// Creates the stream of a client that has not sent its first head yet. The memory for its
    /// bytes is reserved in `share`, and their number is limited to `max_bytes`.
    pub(super) fn of_unknown_client(
        io: T,
        share: Share,
        first_head: &FirstHead,
        max_bytes: usize,
    ) -> Self {
        let unknown_client =
            UnknownClient { first_head: first_head.clone(), share, sent: 0, max_bytes };
        Self { unknown_client: Some(unknown_client), ..Self::new(io) }
    }

    /// Reports blocked writes to `active_requests` from now on.
    pub(super) fn report_to(&mut self, active_requests: &ActiveRequests) {
        self.active_requests = Some(active_requests.clone());
    }

    /// Puts back bytes that were read from the socket; the next read returns them.
    pub(super) fn puts_back(&mut self, read: Bytes) {
        self.first = read;
    }

    pub(super) fn inner(&self) -> &T {
        &self.io
    }

    /// Records the result of a write of `wanted` bytes. A blocked write sets the deadline. A
    /// complete write clears it, and so do partial writes of `STEADY_BYTES` in total.
    fn record_write(
        &mut self,
        context: &mut Context<'_>,
        wanted: usize,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        // A client with an unread response is not idle, even if no request is running.
        if let Some(active_requests) = &self.active_requests {
            active_requests
                .set_blocked(!matches!(written, Poll::Ready(Ok(written)) if written == wanted));
        }
        match &written {
            Poll::Ready(Ok(written)) => {
                self.passed = self.passed.saturating_add(*written);
                if *written == wanted || STEADY_BYTES <= self.passed {
                    self.patience = None;
                    self.passed = 0;
                }
            }
            Poll::Ready(Err(_)) => {}
            Poll::Pending => {
                // The deadline starts with the first blocked write. Polling it also registers the
                // wakeup.
                let patience = self.patience.get_or_insert_with(|| Box::pin(write_timeout()));
                ready!(patience.as_mut().poll(context));
                let text = "the client stopped reading the response";
                return Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, text)));
            }
        }
        written
    }
}

/// Returns the timer of a blocked write.
#[expect(clippy::disallowed_methods, reason = "a client that does not read is waited for so long")]
fn write_timeout() -> Sleep {
    tokio::time::sleep(WRITE_TIMEOUT)
}

impl<T: AsyncRead + Unpin> AsyncRead for Stream<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if !self.first.is_empty() {
            let part = self.first.len().min(buffer.remaining());
            let part = self.first.split_to(part);
            buffer.put_slice(&part);
            return Poll::Ready(Ok(()));
        }
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.io).poll_read(context, buffer))?;
        let Some(unknown_client) = &mut self.unknown_client else { return Poll::Ready(Ok(())) };
        // The first head is complete. From now on requests reserve memory of their own, and the
        // reservation of the unknown client is released.
        if unknown_client.first_head.0.load(Relaxed) {
            self.unknown_client = None;
            return Poll::Ready(Ok(()));
        }
        unknown_client.sent += buffer.filled().len() - before;
        let sent = unknown_client.sent;
        if unknown_client.max_bytes < sent
            || unknown_client.share.set(sent + BUFFERS_BYTES).is_err()
        {
            // Removes the bytes just read: a read must not return bytes and an error.
            buffer.set_filled(before);
            let text = "an unauthenticated request is too large, or too many are open";
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::OutOfMemory, text)));
        }
        Poll::Ready(Ok(()))
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Stream<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write(context, bytes);
        self.record_write(context, bytes.len(), written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write_vectored(context, parts);
        self.record_write(context, parts.iter().map(|part| part.len()).sum(), written)
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
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;
    use crate::limits::MAX_FIRST_BYTES;

    #[tokio::test(start_paused = true)]
    async fn who_does_not_read_is_given_up_and_who_reads_slowly_is_not() {
        for (reads, given_up) in [(0, true), (100, true), (STEADY_BYTES, false)] {
            let (near, mut far) = tokio::io::duplex(1000);
            let mut stream = Stream::new(near);
            let reader = tokio::spawn(async move {
                let mut part = vec![0; reads];
                loop {
                    // Two such pauses are shorter than the write timeout.
                    tokio::time::timeout(WRITE_TIMEOUT / 3, std::future::pending::<()>())
                        .await
                        .unwrap_err();
                    if far.read_exact(&mut part).await.is_err() {
                        return;
                    }
                }
            });
            let written = stream.write_all(&vec![0; 3 * STEADY_BYTES]).await;
            assert_eq!(written.is_err(), given_up, "{reads}");
            reader.abort();
        }
    }

    #[tokio::test]
    async fn a_stranger_may_send_only_so_much() {
        let account = Account::new(2 * MAX_FIRST_BYTES);
        for (first, first_head, good) in [
            (MAX_FIRST_BYTES, false, true),
            (MAX_FIRST_BYTES + 1, false, false),
            (MAX_FIRST_BYTES + 1, true, true),
        ] {
            let bytes = vec![0; first];
            let is_known = FirstHead::default();
            if first_head {
                is_known.mark_seen();
            }
            let (bytes, share) = (bytes.as_slice(), account.share());
            let mut stream = Stream::of_unknown_client(bytes, share, &is_known, MAX_FIRST_BYTES);
            let mut read = Vec::new();
            assert_eq!(stream.read_to_end(&mut read).await.is_ok(), good, "{first} {first_head}");
        }
        assert_eq!(account.used_bytes(), 0);
    }
}
