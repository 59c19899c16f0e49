//! A client's byte stream, independent of the server that serves it. In a cluster the client's
//! connection stays open while the servers behind it change: the next server reads the unanswered
//! message again and replays the client's handshake. This module does not interpret messages.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
};

use memory::Share;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};

use crate::{
    limits::{CLOSE_TIME, MAX_INTRODUCTION_BYTES, MAX_SENDS},
    login::KnownUser,
    wire::HEADER_BYTES,
};

/// A client's stream, with bytes already read that have to be read again by the server to which
/// the client is passed on.
#[derive(Debug)]
pub struct ClientStream<S> {
    stream: S,
    /// Bytes that were read from the stream and are to be read again.
    unread: Vec<u8>,
    /// Number of bytes of `unread` that have been read a second time.
    at: usize,
    held: Share,
    /// State for the server to which the client is passed on; `None` if the client cannot move.
    carried: Option<CarriedState>,
}

/// Reason why a server has stopped serving a client, and which server may continue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServeEnd {
    /// The connection is closed: the client disconnected or sent invalid bytes, or its request
    /// cannot be repeated at another server.
    Closed,
    /// The server has stopped. Another server may continue; it reads the unanswered bytes again.
    Moves,
    /// The server that owns this database must continue with the client; it reads the unexecuted
    /// message again.
    Elsewhere(String),
}

/// Reason why a server stops reading messages of a client.
pub(crate) enum ReadEnd {
    /// The server is stopping; with the message that it has not answered, and that message's memory
    /// reservation.
    Stopped(Option<(Vec<u8>, Share)>),
    /// The message was not executed, because another server owns this database.
    Elsewhere { message: Vec<u8>, held: Share, database: String },
}

/// State of a movable client that survives a change of servers.
#[derive(Debug, Default)]
struct CarriedState {
    /// Whether a server has answered the client, or knows its user. Such a client is allowed more
    /// memory than an unknown one.
    is_known: bool,
    /// The message of the client's first handshake.
    introduction: Option<Vec<u8>>,
    /// Number of servers that have received the current message without answering it.
    sends: usize,
    user: Option<KnownUser>,
    /// Whether a client counts as known only after a login, or already after the first reply to it.
    has_to_log_in: bool,
    /// Whether the peer is a server that forwards a client. Such a peer is notified of logins.
    is_server: bool,
}

impl<S> ClientStream<S> {
    /// Creates the stream of a client that cannot move to another server.
    pub(crate) fn fixed(stream: S) -> Self {
        Self { stream, unread: Vec::new(), at: 0, held: Share::default(), carried: None }
    }

    /// Creates the stream of a client that may be passed on to another server, without required
    /// authentication.
    pub fn movable(stream: S) -> Self {
        Self { carried: Some(CarriedState::default()), ..Self::fixed(stream) }
    }

    /// Creates the stream of a client that may be passed on to another server. `has_to_log_in`
    /// states whether authentication is required.
    pub fn movable_where(stream: S, has_to_log_in: bool) -> Self {
        Self {
            carried: Some(CarriedState { has_to_log_in, ..CarriedState::default() }),
            ..Self::fixed(stream)
        }
    }

    /// Creates the stream of a client that another server forwards, with the user that the other
    /// server reports as logged in.
    pub fn passed_on(stream: S, user: Option<KnownUser>, has_to_log_in: bool) -> Self {
        let is_known = user.is_some();
        let carried = CarriedState {
            is_known,
            user,
            has_to_log_in,
            is_server: true,
            ..CarriedState::default()
        };
        Self { carried: Some(carried), ..Self::fixed(stream) }
    }

    /// Returns the logged-in user, if any.
    pub fn user(&self) -> Option<&KnownUser> {
        self.carried.as_ref()?.user.as_ref()
    }

    /// Records the logged-in user for servers to which the client is passed on.
    pub(crate) fn record_user(&mut self, user: Option<KnownUser>) {
        if let Some(carried) = &mut self.carried {
            carried.is_known |= user.is_some();
            carried.user = user;
        }
    }

    /// Returns whether the peer is a server that forwards a client.
    pub(crate) fn is_server(&self) -> bool {
        self.carried.as_ref().is_some_and(|carried| carried.is_server)
    }

    /// Returns whether another server may continue with the client.
    pub(crate) fn is_movable(&self) -> bool {
        self.carried.is_some()
    }

    /// Returns whether an earlier server has answered the client.
    pub(crate) fn is_known(&self) -> bool {
        self.carried.as_ref().is_some_and(|carried| carried.is_known)
    }

    /// Returns the client's handshake, as a whole message.
    pub(crate) fn introduction(&self) -> Option<&[u8]> {
        self.carried.as_ref()?.introduction.as_deref()
    }

    /// Records that a server has answered the client.
    pub(crate) fn record_known(&mut self) {
        if let Some(carried) = &mut self.carried {
            carried.is_known |= !carried.has_to_log_in || carried.user.is_some();
        }
    }

    /// Keeps the client's handshake message for servers to which the client is passed on. Later
    /// handshakes and long ones are not kept.
    pub(crate) fn record_handshake(&mut self, message: &[u8]) {
        if let Some(carried) = &mut self.carried
            && carried.introduction.is_none()
            && message.len() <= MAX_INTRODUCTION_BYTES
        {
            carried.introduction = Some(message.to_vec());
        }
    }

    /// Records that the current message was answered.
    pub(crate) fn record_answer(&mut self) {
        if let Some(carried) = &mut self.carried {
            carried.sends = 0;
        }
    }

    /// Puts back the unanswered message and the bytes read after it (`behind`), which the server
    /// that takes over the stream reads first. Without a message in `left`, returns `Closed`: the
    /// connection then ends for another reason.
    pub(crate) fn take_back(&mut self, left: Option<ReadEnd>, behind: &[u8]) -> ServeEnd {
        match left {
            Some(ReadEnd::Stopped(message)) => self.put_back(message, behind),
            Some(ReadEnd::Elsewhere { message, held, database }) => {
                self.unread(Some((message, held)), behind);
                ServeEnd::Elsewhere(database)
            }
            None => ServeEnd::Closed,
        }
    }

    /// Puts back a message that this server has received. Once `MAX_SENDS` servers have received
    /// the message, the client's connection is closed; otherwise a message that crashes its server
    /// could crash one server after the other.
    fn put_back(&mut self, message: Option<(Vec<u8>, Share)>, behind: &[u8]) -> ServeEnd {
        let Some(carried) = &mut self.carried else { return ServeEnd::Closed };
        carried.sends += usize::from(message.is_some());
        let goes_on = carried.sends < MAX_SENDS;
        self.unread(message, behind);
        if goes_on { ServeEnd::Moves } else { ServeEnd::Closed }
    }

    /// Puts back a message that was not executed, followed by the bytes read after it.
    fn unread(&mut self, message: Option<(Vec<u8>, Share)>, behind: &[u8]) {
        // Without a message, the reservation of the bytes that are still unread is kept.
        let (mut unread, held) =
            message.unwrap_or_else(|| (Vec::new(), std::mem::take(&mut self.held)));
        unread.extend_from_slice(behind);
        unread.extend_from_slice(self.unread.get(self.at..).unwrap_or_default());
        (self.unread, self.at, self.held) = (unread, 0, held);
    }
}

impl<S: AsyncRead + Unpin> ClientStream<S> {
    /// Waits until the client sends a byte; returns false if it disconnected.
    pub async fn has_begun(&mut self) -> bool {
        if self.at < self.unread.len() {
            return true;
        }
        self.unread = Vec::with_capacity(HEADER_BYTES);
        self.at = 0;
        self.stream.read_buf(&mut self.unread).await.is_ok_and(|read| 0 < read)
    }
}

impl<S: AsyncWrite + Unpin> ClientStream<S> {
    /// Shuts the stream down, within `CLOSE_TIME`.
    pub(crate) async fn close(&mut self) {
        // Bounded, since closing TLS sends a message, too, and a client that does not read blocks
        // it.
        let _ = tokio::time::timeout(CLOSE_TIME, self.stream.shutdown()).await;
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for ClientStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let rest = this.unread.get(this.at..).unwrap_or_default();
        if rest.is_empty() {
            return Pin::new(&mut this.stream).poll_read(context, buffer);
        }
        let len = rest.len().min(buffer.remaining());
        buffer.put_slice(rest.get(..len).unwrap_or_default());
        this.at += len;
        if this.at == this.unread.len() {
            (this.unread, this.at) = (Vec::new(), 0);
            this.held.shrink(usize::MAX);
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for ClientStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
