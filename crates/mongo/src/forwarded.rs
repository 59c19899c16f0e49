//! Forwards a client's messages to another server and its replies back. A message is kept until its
//! reply begins, so that another server may answer it if it can be repeated. The caller selects the
//! servers and connects to them.
//!
//! A server that closes its stream without a reply may have executed the message. If it sends the
//! NOT_STARTED control frame first (`not_started.rs`), it has not begun to execute the message, and
//! any unanswered message may be sent to the next server. The messages of a client that compresses
//! are not interpreted: its connection is closed when the server closes the stream.

use std::{io, pin::Pin};

use memory::{Account, Share};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};

use crate::{
    client_stream::{ClientStream, ReadEnd, ServeEnd},
    commands::COMMANDS,
    homes::{IsHome, is_readable},
    incoming::{ConnectionEnded, client_left, memory_refusal, read_header, read_payload},
    limits::{BUFFER_BYTES, MAX_FIRST_BYTES, MAX_KEPT_BYTES, MESSAGE_TIMEOUT, PASSED_BYTES},
    login_frame, not_started,
    outgoing::{refusal, write_within},
    repeatable::{command_of, introduction_of, is_introduction, is_repeatable},
    wire::{self, HEADER_BYTES, Header, msg_reply, payload::PayloadRead, whole_message},
};

/// The memory accounts of messages that are forwarded.
#[derive(Clone, Debug)]
pub struct ForwardAccounts {
    /// Account for messages of clients that a server has answered before.
    pub messages: Account,
    /// Account for messages of clients that no server has answered yet.
    pub unknown_clients: Account,
}

/// Forwards the messages of a client to a server.
struct Forwarder<'a, C, S, F> {
    client: BufReader<&'a mut ClientStream<C>>,
    server: BufReader<S>,
    /// Completes when the server must not be waited for any longer. After that the forwarding ends,
    /// and this future is not polled again.
    over: Pin<&'a mut F>,
    /// Determines whether the server owns a database; `None` if it owns all databases.
    is_home: Option<&'a IsHome>,
}

/// A forwarded message that has not been answered yet.
struct UnansweredMessage {
    bytes: Vec<u8>,
    held: Share,
    /// Whether another server may receive the message although this one may have executed it.
    is_repeatable: bool,
}

/// Reason why no reply arrived from the server.
enum ForwardFailure {
    /// The server closed its stream, and may have executed the last message.
    Server,
    /// The server closed its stream before it began to execute the last message.
    Unbegun,
    /// The client disconnected or does not read.
    Client,
}

impl<C: AsyncRead + AsyncWrite + Unpin + Send> ClientStream<C> {
    /// Forwards messages to a server and its replies back. Returns when one side closes, when
    /// `over` completes while a reply is awaited, or when a message is for another server.
    pub async fn pass_on(
        &mut self,
        server: impl AsyncRead + AsyncWrite + Unpin + Send,
        over: Pin<&mut (impl Future<Output = ()> + Send)>,
        accounts: &ForwardAccounts,
        is_home: Option<&IsHome>,
    ) -> ServeEnd {
        let client = BufReader::with_capacity(BUFFER_BYTES, &mut *self);
        let server = BufReader::with_capacity(BUFFER_BYTES, server);
        let mut forwarder = Forwarder { client, server, over, is_home };
        let left = forwarder.run(accounts).await;
        let buffered = forwarder.client.buffer().to_vec();
        drop(forwarder);
        let ended = self.take_back(left.ok(), &buffered);
        if ended == ServeEnd::Closed {
            self.close().await;
        }
        ended
    }
}

impl<C, S, F> Forwarder<'_, C, S, F>
where
    C: AsyncRead + AsyncWrite + Unpin + Send,
    S: AsyncRead + AsyncWrite + Unpin + Send,
    F: Future<Output = ()> + Send,
{
    /// Forwards messages until the server closes the stream. Returns the message that the server
    /// has not answered. An error closes the client's connection.
    async fn run(&mut self, accounts: &ForwardAccounts) -> Result<ReadEnd, ConnectionEnded> {
        if self.introduce().await.is_err() {
            return Ok(ReadEnd::Stopped(None));
        }
        loop {
            tokio::select! {
                biased;
                begun = self.client.fill_buf() => {
                    if begun.map_err(|_| ())?.is_empty() {
                        return Err(());
                    }
                }
                // No request is outstanding, so only the end of the stream can arrive.
                _ = self.server.fill_buf() => return Ok(ReadEnd::Stopped(None)),
                () = self.over.as_mut() => return Ok(ReadEnd::Stopped(None)),
            }
            let header = read_header(&mut self.client, MESSAGE_TIMEOUT).await?.ok_or(())?;
            let is_known = self.client.get_ref().is_known();
            if !is_known && MAX_FIRST_BYTES < header.len {
                return Err(());
            }
            if !is_readable(&header) {
                // Routing by database requires uncompressed messages.
                return if self.is_home.is_none() {
                    self.pass_bytes(header).await
                } else {
                    Err(())
                };
            }
            if MAX_KEPT_BYTES < header.len && self.is_home.is_none() {
                self.pass_long(header).await?;
                continue;
            }
            let account = if is_known { &accounts.messages } else { &accounts.unknown_clients };
            let mut held = account.share();
            match read_payload(&mut self.client, &header, account, &mut held).await? {
                PayloadRead::Whole(payload) => {
                    let is_home = self.is_home;
                    if let Some(database) =
                        is_home.and_then(|is_home| is_home.elsewhere(&COMMANDS, &header, &payload))
                    {
                        let message = whole_message(header, payload);
                        return Ok(ReadEnd::Elsewhere { message, held, database });
                    }
                    if let Some(unanswered) = self.pass_message(header, payload, held).await? {
                        return Ok(ReadEnd::Stopped(Some((unanswered.bytes, unanswered.held))));
                    }
                }
                PayloadRead::Refused(beginning, short) if is_known => {
                    if !wire::wants_no_reply(&header, &beginning) {
                        let reply = refusal(&header, &memory_refusal(short), 0).ok_or(())?;
                        write_within(&mut self.client, &reply).await?;
                    }
                }
                PayloadRead::Refused(_, _) | PayloadRead::Cut => return Err(()),
            }
        }
    }

    /// Replays the client's handshake to a server, which would otherwise apply the limits of
    /// clients that were not answered yet.
    async fn introduce(&mut self) -> Result<(), ForwardFailure> {
        let client = self.client.get_ref();
        let introduction = match client.introduction() {
            Some(said) => said.to_vec(),
            None if client.is_known() => hello(),
            None => return Ok(()),
        };
        self.send(&introduction).await.map_err(|_| ForwardFailure::Server)?;
        let header = self.reply_header().await?;
        let mut left = header.len - HEADER_BYTES;
        let mut chunk = vec![0; left.min(PASSED_BYTES)];
        while 0 < left {
            let part = chunk.get_mut(..left.min(PASSED_BYTES)).unwrap_or_default();
            self.read_reply(part).await?;
            left -= part.len();
        }
        Ok(())
    }

    /// Forwards one message and its replies. Returns the message if another server may answer it.
    async fn pass_message(
        &mut self,
        header: Header,
        payload: Vec<u8>,
        held: Share,
    ) -> Result<Option<UnansweredMessage>, ConnectionEnded> {
        let wants_reply = !wire::wants_no_reply(&header, &payload);
        let command = command_of(&header, &payload);
        let repeatable = command.is_some_and(|body| is_repeatable(&COMMANDS, body));
        let introduction = command.filter(|body| is_introduction(&COMMANDS, *body));
        let introduction = introduction.map(introduction_of);
        let unanswered = UnansweredMessage {
            bytes: whole_message(header, payload),
            held,
            is_repeatable: repeatable,
        };
        if self.send(&unanswered.bytes).await.is_err() {
            // No server has received the message completely, so it can be sent to another one.
            return Ok(Some(unanswered));
        }
        if !wants_reply {
            return Ok(None);
        }
        match self.reply_header().await {
            Ok(reply) => {
                self.pass_replies(reply).await?;
                // A handshake is recorded after its reply: until then the message itself is sent to
                // the next server, and a second handshake would be an error.
                if let Some(said) = introduction {
                    self.client.get_mut().record_handshake(&said);
                }
                Ok(None)
            }
            Err(ForwardFailure::Unbegun) => Ok(Some(unanswered)),
            Err(ForwardFailure::Server) if unanswered.is_repeatable => Ok(Some(unanswered)),
            Err(ForwardFailure::Server | ForwardFailure::Client) => Err(()),
        }
    }

    /// Streams a message that is too long to keep.
    async fn pass_long(&mut self, header: Header) -> Result<(), ConnectionEnded> {
        self.send(&header.to_bytes()).await?;
        let mut left = header.len - HEADER_BYTES;
        let mut chunk = vec![0; PASSED_BYTES];
        let mut wants_reply = true;
        let mut is_first = true;
        while 0 < left {
            let part = chunk.get_mut(..left.min(PASSED_BYTES)).unwrap_or_default();
            let read = self.client.read_exact(part);
            tokio::time::timeout(MESSAGE_TIMEOUT, read).await.map_err(|_| ())?.map_err(|_| ())?;
            if std::mem::take(&mut is_first) {
                wants_reply = !wire::wants_no_reply(&header, part);
            }
            self.send(part).await?;
            left -= part.len();
        }
        if !wants_reply {
            return Ok(());
        }
        let reply = self.reply_header().await.map_err(|_| ())?;
        self.pass_replies(reply).await
    }

    /// Forwards a reply, and the further replies to the same request that it announces.
    async fn pass_replies(&mut self, mut header: Header) -> Result<(), ConnectionEnded> {
        loop {
            if self.pass_reply(header).await? {
                header = self.reply_header().await.map_err(|_| ())?;
                continue;
            }
            let client = self.client.get_mut();
            client.record_known();
            client.record_answer();
            return Ok(());
        }
    }

    /// Forwards one reply; returns true if another reply to the same message follows.
    async fn pass_reply(&mut self, header: Header) -> Result<bool, ConnectionEnded> {
        let mut chunk = Vec::with_capacity(header.len.min(PASSED_BYTES));
        header.write(&mut chunk);
        let mut left = header.len - HEADER_BYTES;
        let (mut begin, mut more) = (HEADER_BYTES, false);
        loop {
            let wanted = left.min(PASSED_BYTES - begin);
            chunk.resize(begin + wanted, 0);
            let part = chunk.get_mut(begin..).unwrap_or_default();
            self.read_reply(part).await.map_err(|_| ())?;
            // The flags are at the start of the payload, which only the first chunk contains.
            more |= 0 < begin && wire::more_follows(&header, part);
            write_within(&mut self.client, &chunk).await?;
            left -= wanted;
            begin = 0;
            if left == 0 {
                return Ok(more);
            }
        }
    }

    /// Returns the header of the server's next reply. Records the login control frames that precede
    /// the reply.
    async fn reply_header(&mut self) -> Result<Header, ForwardFailure> {
        loop {
            let header = self.next_header().await?;
            if not_started::is_frame(&header) {
                return Err(ForwardFailure::Unbegun);
            }
            if !login_frame::is_frame(&header) {
                return Ok(header);
            }
            let mut payload = vec![0; header.len - HEADER_BYTES];
            self.read_reply(&mut payload).await?;
            self.client.get_mut().record_user(login_frame::read(&payload));
        }
    }

    async fn next_header(&mut self) -> Result<Header, ForwardFailure> {
        tokio::select! {
            biased;
            begun = self.server.fill_buf() => match begun {
                Ok(bytes) if !bytes.is_empty() => {}
                _ => return Err(ForwardFailure::Server),
            },
            () = client_left(&mut self.client) => return Err(ForwardFailure::Client),
            () = self.over.as_mut() => return Err(ForwardFailure::Server),
        }
        let mut head = [0; HEADER_BYTES];
        self.read_reply(&mut head).await?;
        Header::read(&head).map_err(|_| ForwardFailure::Server)
    }

    /// Reads a part of a reply that has begun.
    async fn read_reply(&mut self, part: &mut [u8]) -> Result<(), ForwardFailure> {
        let read = tokio::time::timeout(MESSAGE_TIMEOUT, self.server.read_exact(part));
        tokio::select! {
            biased;
            read = read => match read {
                Ok(Ok(_)) => Ok(()),
                _ => Err(ForwardFailure::Server),
            },
            () = self.over.as_mut() => Err(ForwardFailure::Server),
        }
    }

    /// Copies bytes in both directions, starting with a header that was already read, until one
    /// side closes.
    async fn pass_bytes(&mut self, header: Header) -> Result<ReadEnd, ConnectionEnded> {
        self.send(&header.to_bytes()).await?;
        let (mut from_client, mut to_client) = tokio::io::split(&mut self.client);
        let (mut from_server, mut to_server) = tokio::io::split(&mut self.server);
        // Stops when either side closes: the other one might never close.
        tokio::select! {
            _ = tokio::io::copy(&mut from_client, &mut to_server) => {}
            _ = copy_messages(&mut from_server, &mut to_client) => {}
            () = self.over.as_mut() => {}
        }
        Err(())
    }

    /// Sends bytes to the server. Fails if it has not received all of them.
    async fn send(&mut self, bytes: &[u8]) -> Result<(), ConnectionEnded> {
        tokio::select! {
            biased;
            sent = write_within(&mut self.server, bytes) => sent,
            () = self.over.as_mut() => Err(()),
        }
    }
}

/// Copies a server's messages to the client, without the control frames between servers.
async fn copy_messages(
    server: &mut (impl AsyncRead + Unpin),
    client: &mut (impl AsyncWrite + Unpin),
) -> io::Result<()> {
    loop {
        let mut head = [0; HEADER_BYTES];
        server.read_exact(&mut head).await?;
        let Some(header) = Header::read(&head).ok().filter(|header| !not_started::is_frame(header))
        else {
            return Ok(());
        };
        let left = (header.len - HEADER_BYTES) as u64;
        let mut rest = (&mut *server).take(left);
        if login_frame::is_frame(&header) {
            // The bytes are not recorded: this client's connection closes with the server's, so no
            // other server will need them.
            tokio::io::copy(&mut rest, &mut tokio::io::sink()).await?;
            continue;
        }
        client.write_all(&head).await?;
        tokio::io::copy(&mut rest, client).await?;
    }
}

/// Returns a minimal handshake message, for a client that was answered before but whose own
/// handshake was too large to be kept.
fn hello() -> Vec<u8> {
    let body = document::doc! { "hello": 1, "$db": "admin" }.to_buf();
    // An OP_MSG request has the same format as a reply.
    msg_reply(1, 0, body.bytes(), false, false)
}
