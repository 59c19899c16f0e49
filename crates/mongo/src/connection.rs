//! Serves one client: reads messages, runs their commands and sends the replies, in order. The
//! commands themselves are in `commands`.
//!
//! A connection handles one message at a time. While a command runs, the client's socket is
//! watched, so that a read stops when the client disconnects. Three things close a connection:
//! bytes that are not a message, a client that stalls within a message or does not read its reply,
//! and the server's stop. Memory for a message is reserved from an account before the message is
//! read. A long message waits for memory for a limited time; without memory it is read and
//! discarded, and fails with a retryable error.
//!
//! ```text
//! read header -> wait for memory -> reserve -> read payload -> parse -> run -> send -> ...
//!                    |                                           |
//!              no memory: 365                        malformed: an error reply, or close
//! ```

use std::{pin::pin, sync::Arc};

use memory::{Account, InsufficientMemory};
use tokio::{
    io::{AsyncRead, AsyncWrite, BufReader},
    sync::watch,
};

use crate::{
    api::MongoApi,
    call::Call,
    client::Connection,
    client_stream::{ClientStream, ReadEnd, ServeEnd},
    commands,
    counters::Counters,
    errors::TemporarilyUnavailable,
    exhaust::{is_followed, send_all},
    homes::is_readable,
    incoming::{
        ConnectionEnded, has_begun, memory_refusal, parse_message, read_header, read_payload,
    },
    limits::{BUFFER_BYTES, MAX_FIRST_BYTES, MAX_KEPT_BYTES, MESSAGE_TIMEOUT, MOVE_TIME},
    login_frame,
    outgoing::{compress_reply, send_bytes, send_refusal, write_within},
    parsed_command,
    pause::sleep,
    peer::Peer,
    pre_login_throttle::PreLoginThrottle,
    repeatable::{indicates_move, introduction_of, is_introduction, is_repeatable},
    run_call::run_call,
    wire::{
        self, Header, Malformed, Message, Shape, msg_reply, payload::PayloadRead, query_reply,
        whole_message,
    },
};

/// Serves a client until it disconnects, sends bytes that are not a message, or `stop` changes.
/// `peer` identifies the client; an address alone suffices. The client's cursors stay open for a
/// while, since drivers may continue them on another connection.
pub async fn serve(
    api: Arc<MongoApi>,
    stream: impl AsyncRead + AsyncWrite + Unpin + Send,
    peer: impl Into<Peer>,
    stop: watch::Receiver<bool>,
) {
    serve_movable(api, &mut ClientStream::fixed(stream), peer, stop).await;
}

/// Serves a client that may move to another server when this one stops.
pub async fn serve_movable(
    api: Arc<MongoApi>,
    client: &mut ClientStream<impl AsyncRead + AsyncWrite + Unpin + Send>,
    peer: impl Into<Peer>,
    stop: watch::Receiver<bool>,
) -> ServeEnd {
    let connection = api.add_connection(peer.into(), None);
    connection.logins.lock().known = client.user().cloned();
    introduce(&api, &connection, client.introduction()).await;
    let mut stream = BufReader::with_capacity(BUFFER_BYTES, &mut *client);
    let left = serve_messages(&api, &connection, &mut stream, stop).await;
    let buffered = stream.buffer().to_vec();
    let ended = client.take_back(left.ok(), &buffered);
    if ended == ServeEnd::Closed {
        // The socket is closed first, so that the client does not wait for the cleanup.
        client.close().await;
    }
    api.cursors.mark_orphans(connection.id);
    api.remove_connection(&connection);
    ended
}

/// Executes the handshake that the client sent to the previous server.
async fn introduce(api: &Arc<MongoApi>, connection: &Connection, said: Option<&[u8]>) {
    let Some((head, payload)) = said.and_then(<[u8]>::split_first_chunk) else { return };
    let Ok(header) = Header::read(head) else { return };
    let Ok(message) = wire::parse_message(&header, payload.to_vec()) else { return };
    if let Ok(call) = Call::new(api, connection, &message, Arc::default()) {
        commands::run(&call).await;
        connection.release_reply_memory();
    }
}

/// Reads messages and answers each of them. Returns when the server stops (between two messages, or
/// with a message that another server may answer), or with a message for another shard. An error
/// closes the connection immediately.
///
/// A client is known once its first message was answered or, where authentication is required, once
/// it has logged in. Until then messages must be small, and their memory comes from an account that
/// all unknown clients share: connecting alone must not take memory from working clients.
async fn serve_messages<C: AsyncRead + AsyncWrite + Unpin + Send>(
    api: &Arc<MongoApi>,
    connection: &Connection,
    stream: &mut BufReader<&mut ClientStream<C>>,
    mut stop: watch::Receiver<bool>,
) -> Result<ReadEnd, ConnectionEnded> {
    let (mut is_known, moves) = (stream.get_ref().is_known(), stream.get_ref().is_movable());
    let mut throttle = PreLoginThrottle::default();
    loop {
        if !has_begun(stream, &mut stop).await? {
            return Ok(ReadEnd::Stopped(None));
        }
        let header = tokio::select! {
            biased;
            header = read_header(stream, MESSAGE_TIMEOUT) => header?,
            () = until_abandoned(&mut stop, moves) => return Err(()),
        };
        let header = understood_header(api, connection, header, is_known)?;
        let account = account_of(api, is_known);
        let mut held = account.share();
        let arrived = tokio::select! {
            biased;
            arrived = read_payload(stream, &header, account, &mut held) => arrived?,
            () = until_abandoned(&mut stop, moves) => return Err(()),
        };
        let (payload, refused) = taken(arrived, is_known)?;
        if moves && refused.is_none() {
            if *stop.borrow() {
                return Ok(ReadEnd::Stopped(Some((whole_message(header, payload), held))));
            }
            let is_home = api.settings.is_home.as_ref();
            if let Some(database) =
                is_home.and_then(|at| at.elsewhere(&api.commands, &header, &payload))
            {
                let message = whole_message(header, payload);
                return Ok(ReadEnd::Elsewhere { message, held, database });
            }
        }
        // The flags are read before the parsing, which consumes the payload.
        let silent = wire::wants_no_reply(&header, &payload);
        Counters::add(&connection.counters.bytes_in, header.len as u64);
        let parsed = match refused {
            Some(short) => Err(memory_refusal(short)),
            None => parse_message(api, &header, payload, &mut held).await,
        };
        let malformed = match parsed {
            Ok(message) => {
                if answer_in_turn(api, connection, stream, &message, &mut stop).await?
                    == Answered::Not
                {
                    return Ok(ReadEnd::Stopped(Some((message.into_whole(header), held))));
                }
                record_message(api, stream.get_mut(), &message);
                is_known = is_known || is_known_client(api, connection);
                stream.get_mut().record_answer();
                if !is_known {
                    sleep(throttle.record_answer(clock::monotonic_time())).await;
                }
                continue;
            }
            Err(malformed) => malformed,
        };
        log_malformed(api, connection, &malformed);
        match silent {
            false => send_refusal(connection, stream, &header, &malformed).await?,
            true if malformed.answerable => {}
            true => return Err(()),
        }
    }
}

/// Returns the payload of a received message. If the message was refused for lack of memory,
/// returns the part of it that was kept, and the reason. An error closes the connection.
fn taken(
    arrived: PayloadRead,
    is_known: bool,
) -> Result<(Vec<u8>, Option<InsufficientMemory>), ConnectionEnded> {
    match arrived {
        PayloadRead::Whole(payload) => Ok((payload, None)),
        PayloadRead::Refused(beginning, short) if is_known => Ok((beginning, Some(short))),
        PayloadRead::Refused(..) | PayloadRead::Cut => Err(()),
    }
}

/// Returns whether a client counts as known after an answered message: where authentication is
/// required it must have logged in.
fn is_known_client(api: &MongoApi, connection: &Connection) -> bool {
    !api.asks_for_login(connection) || connection.logins.lock().is_logged_in()
}

fn log_malformed(api: &MongoApi, connection: &Connection, malformed: &Malformed) {
    // The message is valid; it only lacked memory.
    if malformed.code != TemporarilyUnavailable {
        api.protocol_errors.report(&connection.peer, "a malformed message");
    }
}

/// Returns the memory account for a client's messages. Unknown clients share an account with a
/// small limit.
fn account_of(api: &MongoApi, is_known: bool) -> &Account {
    if is_known { &api.messages } else { &api.settings.unknown_clients }
}

/// Returns the header if this client may send a message with it; otherwise logs the reason and
/// fails.
fn understood_header(
    api: &MongoApi,
    connection: &Connection,
    header: Option<Header>,
    is_known: bool,
) -> Result<Header, ConnectionEnded> {
    let why = match header {
        Some(header) if api.settings.is_home.is_some() && !is_readable(&header) => {
            "a compressed message without negotiated compression"
        }
        Some(header) if api.settings.max_message_bytes < header.len => {
            "a message larger than the limit"
        }
        Some(header) if is_known || header.len <= MAX_FIRST_BYTES => return Ok(header),
        Some(_) => "a first message of more than 64 KB",
        None => "bytes that are not a MongoDB message",
    };
    api.protocol_errors.report(&connection.peer, why);
    Err(())
}

/// Waits until an incomplete message has to be abandoned: until the server stops or, for a movable
/// client, for `MOVE_TIME` after that.
async fn until_abandoned(stop: &mut watch::Receiver<bool>, moves: bool) {
    let _ = stop.wait_for(|stop| *stop).await;
    if moves {
        sleep(MOVE_TIME).await;
    }
}

/// Runs the command of a message and sends the reply. Long commands of all connections take turns.
async fn answer_in_turn<C: AsyncRead + AsyncWrite + Unpin + Send>(
    api: &Arc<MongoApi>,
    connection: &Connection,
    stream: &mut BufReader<&mut ClientStream<C>>,
    message: &Message,
    stop: &mut watch::Receiver<bool>,
) -> Result<Answered, ConnectionEnded> {
    // Boxed, so that an idle connection does not reserve space for this future.
    let mut answered = Box::pin(answer_message(api, connection, stream, message, stop));
    let weight = parsed_command::parsed_bytes(message, &api.commands);
    let answered =
        pin!(parsed_command::run_by_weight(weight, api.settings.block_in_place, answered.as_mut()));
    let answered = api.engine.lanes().run(answered).await;
    connection.release_reply_memory();
    answered
}

/// Records the client's handshake for servers to which the client is passed on. Compressed
/// handshakes are not kept.
fn record_message<C>(api: &MongoApi, client: &mut ClientStream<C>, message: &Message) {
    if !client.is_movable() {
        return;
    }
    client.record_known();
    if message.compressor.is_none()
        && client.introduction().is_none()
        && is_introduction(&api.commands, message.body())
    {
        client.record_handshake(&introduction_of(message.body()));
    }
}

/// Whether a message was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answered {
    /// The reply was sent, or the client requested no reply.
    Sent,
    /// This server did not answer the message; another server may answer it.
    Not,
}

/// Runs the command of a message and sends its reply in the message's own format. A message that
/// requests no reply gets none, even if it fails.
async fn answer_message<C: AsyncRead + AsyncWrite + Unpin>(
    api: &Arc<MongoApi>,
    connection: &Connection,
    stream: &mut BufReader<&mut ClientStream<C>>,
    message: &Message,
    stop: &mut watch::Receiver<bool>,
) -> Result<Answered, ConnectionEnded> {
    let reply = match Call::new(api, connection, message, Arc::default()) {
        Ok(call) => run_call(&call, stream, stop).await,
        Err(error) => commands::Response::Reply(error.to_reply().to_buf()),
    };
    if stream.get_ref().is_movable() && moves(api, message, &reply, stop).await {
        return Ok(Answered::Not);
    }
    let body = match reply {
        commands::Response::Reply(body) => body,
        commands::Response::CloseConnection => return Err(()),
    };
    if matches!(message.shape, Shape::Msg { more_to_come: true, .. }) {
        return Ok(Answered::Sent);
    }
    report_login(connection, stream).await?;
    match message.shape {
        Shape::Msg { checksum, exhaust_allowed, .. } => {
            let more = exhaust_allowed && is_followed(api, message, &body);
            if more {
                send_all(api, connection, stream, message, body, stop).await?;
                return Ok(Answered::Sent);
            }
            let id = connection.reply_id();
            let reply = msg_reply(id, message.request_id, body.bytes(), false, checksum);
            // Frees one of the two copies of the reply before sending.
            drop(body);
            send_bytes(connection, stream, compress_reply(api, message, reply).await).await?;
        }
        Shape::Query => {
            let id = connection.reply_id();
            let reply = query_reply(id, message.request_id, body.bytes());
            send_bytes(connection, stream, reply).await?;
        }
    }
    Ok(Answered::Sent)
}

/// Records the logged-in user for servers to which the client is passed on. If another server
/// forwards the client, also sends that server a login control frame, before the reply, so that no
/// request of the client comes in between.
async fn report_login<C: AsyncRead + AsyncWrite + Unpin>(
    connection: &Connection,
    stream: &mut BufReader<&mut ClientStream<C>>,
) -> Result<(), ConnectionEnded> {
    if !stream.get_ref().is_movable() {
        return Ok(());
    }
    let user = connection.logins.lock().known_user();
    if user.as_ref() == stream.get_ref().user() {
        return Ok(());
    }
    if stream.get_ref().is_server() {
        write_within(stream, &login_frame::frame(user.as_ref())).await?;
    }
    stream.get_mut().record_user(user);
    Ok(())
}

/// Returns whether another server should answer a message. This server must be stopping, or have
/// lost the shard and stop within `MOVE_TIME`; and the command must be safe to repeat.
async fn moves(
    api: &MongoApi,
    message: &Message,
    reply: &commands::Response,
    stop: &mut watch::Receiver<bool>,
) -> bool {
    let stops = match reply {
        commands::Response::Reply(body) => indicates_move(body),
        commands::Response::CloseConnection => *stop.borrow(),
    };
    let is_kept = message.bytes.len() <= MAX_KEPT_BYTES;
    stops
        && is_kept
        && is_repeatable(&api.commands, message.body())
        && tokio::time::timeout(MOVE_TIME, stop.wait_for(|stop| *stop)).await.is_ok()
}
