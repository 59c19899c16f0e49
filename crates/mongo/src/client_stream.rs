//! What one client says and hears, whoever serves it. In a cluster a client stays where it came in while
//! the servers behind it change: what was read and not answered is read again by the next one, and what
//! the client said of itself is said to it again. What a message means is not known here.

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

/// A client's stream.
#[derive(Debug)]
pub struct ClientStream<S> {
    stream: S,
    /// Read from the stream already, and to be read once more.
    unread: Vec<u8>,
    /// How much of it was read again.
    at: usize,
    /// The memory of it.
    held: Share,
    /// What the next server hears of it; `None`: this one is the only one.
    past: Option<Past>,
}

/// What became of a client that one server has served, or passed on to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It has left or was not understood, or nobody may go on with what it asked; its stream is closed.
    Closed,
    /// The server has stopped. Another may go on with the client: what was not answered is read again.
    Moves,
    /// The home of this database is to go on with the client: its message is read again.
    Elsewhere(String),
}

/// Why a server does not read on.
pub(crate) enum Left {
    /// It has stopped; with a message that it has not answered, and what that holds.
    Stopped(Option<(Vec<u8>, Share)>),
    /// This message, with which it has done nothing, is for the home of this database.
    Elsewhere { message: Vec<u8>, held: Share, database: String },
}

/// What a client has said to servers before.
#[derive(Debug, Default)]
struct Past {
    /// One of them has understood it.
    is_known: bool,
    /// The message by which it said who it is.
    introduction: Option<Vec<u8>>,
    /// How many servers have got the message that is not answered yet.
    sends: usize,
    /// Who is logged in.
    user: Option<KnownUser>,
    /// Whether it has to log in before it counts as understood.
    has_to_log_in: bool,
    /// It is another server that passes a client on, and is told who is logged in.
    is_server: bool,
}

impl<S> ClientStream<S> {
    /// A client that is served in one place: it ends with its server.
    pub(crate) fn fixed(stream: S) -> Self {
        Self { stream, unread: Vec::new(), at: 0, held: Share::default(), past: None }
    }

    /// A client that may be served by one server after another.
    pub fn movable(stream: S) -> Self {
        Self { past: Some(Past::default()), ..Self::fixed(stream) }
    }

    /// The same, where clients have to log in or not.
    pub fn movable_where(stream: S, has_to_log_in: bool) -> Self {
        Self { past: Some(Past { has_to_log_in, ..Past::default() }), ..Self::fixed(stream) }
    }

    /// A client that another server passes on, with the user whom that one knows to be logged in.
    pub fn passed_on(stream: S, user: Option<KnownUser>, has_to_log_in: bool) -> Self {
        let is_known = user.is_some();
        let past = Past { is_known, user, has_to_log_in, is_server: true, ..Past::default() };
        Self { past: Some(past), ..Self::fixed(stream) }
    }

    /// Who is logged in.
    pub fn user(&self) -> Option<&KnownUser> {
        self.past.as_ref()?.user.as_ref()
    }

    /// Notes who is logged in, for the servers that come.
    pub(crate) fn note_user(&mut self, user: Option<KnownUser>) {
        if let Some(past) = &mut self.past {
            past.is_known |= user.is_some();
            past.user = user;
        }
    }

    /// Whether it is another server, which passes a client on.
    pub(crate) fn is_server(&self) -> bool {
        self.past.as_ref().is_some_and(|past| past.is_server)
    }

    /// Whether another server may go on with it.
    pub(crate) fn is_movable(&self) -> bool {
        self.past.is_some()
    }

    /// Whether a server has understood it before.
    pub(crate) fn is_known(&self) -> bool {
        self.past.as_ref().is_some_and(|past| past.is_known)
    }

    /// What it has said of itself, as a whole message.
    pub(crate) fn introduction(&self) -> Option<&[u8]> {
        self.past.as_ref()?.introduction.as_deref()
    }

    /// Notes that a server understands it.
    pub(crate) fn note_known(&mut self) {
        if let Some(past) = &mut self.past {
            past.is_known |= !past.has_to_log_in || past.user.is_some();
        }
    }

    /// Keeps the message by which it says who it is, which counts once.
    pub(crate) fn note_introduction(&mut self, message: &[u8]) {
        if let Some(past) = &mut self.past
            && past.introduction.is_none()
            && message.len() <= MAX_INTRODUCTION_BYTES
        {
            past.introduction = Some(message.to_vec());
        }
    }

    /// Notes that its message was answered.
    pub(crate) fn note_answered(&mut self) {
        if let Some(past) = &mut self.past {
            past.sends = 0;
        }
    }

    /// Has the next server read again what this one has read and not answered, and what was read behind it.
    /// Nobody goes on where it left for no such reason.
    pub(crate) fn take_back(&mut self, left: Option<Left>, behind: &[u8]) -> Ended {
        match left {
            Some(Left::Stopped(message)) => self.put_back(message, behind),
            Some(Left::Elsewhere { message, held, database }) => {
                self.unread(Some((message, held)), behind);
                Ended::Elsewhere(database)
            }
            None => Ended::Closed,
        }
    }

    /// The same with a message that the server has got. Where enough servers have got it, the client is not
    /// to be served any further: one that ends its server would end one after the other.
    fn put_back(&mut self, message: Option<(Vec<u8>, Share)>, behind: &[u8]) -> Ended {
        let Some(past) = &mut self.past else { return Ended::Closed };
        past.sends += usize::from(message.is_some());
        let goes_on = past.sends < MAX_SENDS;
        self.unread(message, behind);
        if goes_on { Ended::Moves } else { Ended::Closed }
    }

    /// Has the next server read again what this one has read and done nothing with.
    fn unread(&mut self, message: Option<(Vec<u8>, Share)>, behind: &[u8]) {
        // Without a message what is unread goes on holding what it held.
        let (mut unread, held) =
            message.unwrap_or_else(|| (Vec::new(), std::mem::take(&mut self.held)));
        unread.extend_from_slice(behind);
        unread.extend_from_slice(self.unread.get(self.at..).unwrap_or_default());
        (self.unread, self.at, self.held) = (unread, 0, held);
    }
}

impl<S: AsyncRead + Unpin> ClientStream<S> {
    /// Waits until it says something; false: it has left.
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
    /// Ends it.
    pub(crate) async fn close(&mut self) {
        // It has left otherwise. Inside TLS the end is a message, too, which a client that does not
        // read leaves no room for.
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
