//! One client: bytes to messages, messages to commands, replies to bytes, in order. Which command
//! it is and what it does stands in `commands`.
//!
//! A connection works on one message at a time. While a command runs its socket is watched, so that
//! a read ends when the client has gone. Three things end a connection: bytes that are not a
//! message, a client that is silent in the middle of one or does not read its reply, and the
//! server's stop. Memory for a message is taken from an account before it is read; a long message
//! waits a while for room, and one that finds none is read and forgotten, and gets an error that says
//! to try again.
//!
//! ```text
//! read header -> wait for room -> take memory -> read payload -> parse -> run -> send -> read header ...
//!                                     |                            |
//!                                  no room: 365           malformed: an error reply, or the end
//! ```

use std::{future::pending, pin::pin, sync::Arc, time::Duration};

use document::{DocBuf, ValueRef};
use engine::Store;
use memory::{Account, Share, Short};
use tokio::{
    io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    sync::watch,
};

use crate::{
    call::Call,
    client::Connection,
    commands,
    counters::Counters,
    door::Door,
    errors::{Error, TemporarilyUnavailable},
    limits::{
        BUFFER_BYTES, LONG_BYTES, MAX_FIRST_BYTES, MESSAGE_TIMEOUT, ROOM_LOOK, ROOM_WAIT,
        STOP_TIME, WRITE_TIMEOUT,
    },
    operation::StopReason,
    parsed_command,
    wire::{
        self, HEADER_BYTES, Header, Malformed, Message, OpCode, Shape,
        arriving::{self, Arrived},
        msg_reply, query_reply,
    },
};

/// Serves a client until it leaves or cannot be understood, or until `stop` changes. `peer` is its
/// address for logs and `currentOp`. Its cursors outlive it for a while: drivers may go on on
/// another connection.
pub async fn serve<S: Store>(
    door: Arc<Door<S>>,
    mut stream: impl AsyncRead + AsyncWrite + Unpin + Send,
    peer: String,
    stop: watch::Receiver<bool>,
) {
    let connection = door.add_connection(peer, None);
    // Whatever ended it, nobody is left to hear of it. The socket is closed first, so that the
    // client does not wait for what follows.
    let _ = serve_messages(&door, &connection, &mut stream, stop).await;
    let _ = stream.shutdown().await;
    door.cursors.mark_orphans(connection.id);
    door.remove_connection(&connection);
}

/// The connection is over, and nobody is left to hear why.
type ConnectionEnded = ();

/// Reads message after message and answers each. Returns when the server stops between two
/// messages; an error ends the connection at once.
///
/// A client is known from its first message that parses. Until then a message is small, and its
/// memory comes from an account that all unknown clients share: a client that only connects cannot
/// take what working clients need.
async fn serve_messages<S: Store>(
    door: &Arc<Door<S>>,
    connection: &Connection,
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin + Send),
    mut stop: watch::Receiver<bool>,
) -> Result<(), ConnectionEnded> {
    let mut stream = tokio::io::BufReader::with_capacity(BUFFER_BYTES, stream);
    let mut is_known = false;
    loop {
        let header = tokio::select! {
            biased;
            header = read_header(&mut stream, MESSAGE_TIMEOUT) => header?,
            _ = stop.wait_for(|stop| *stop) => return Ok(()),
        };
        let Some(header) = header else {
            door.protocol_errors.report(&connection.peer, "bytes that are not a MongoDB message");
            return Err(());
        };
        if !is_known && MAX_FIRST_BYTES < header.len {
            door.protocol_errors.report(&connection.peer, "a first message of more than 64 KB");
            return Err(());
        }
        // Who has asked nothing yet shares a small part with all others like that.
        let account = if is_known { &door.messages } else { &door.settings.strangers };
        let mut held = account.share();
        let arrived = tokio::select! {
            biased;
            arrived = read_payload(&mut stream, &header, account, &mut held) => arrived?,
            // Half a message is not a request yet.
            _ = stop.wait_for(|stop| *stop) => return Ok(()),
        };
        let (payload, refused) = match arrived {
            Arrived::Whole(payload) => (payload, None),
            Arrived::Refused(_, _) if !is_known => return Err(()),
            Arrived::Refused(beginning, short) => (beginning, Some(short)),
            Arrived::Cut => return Err(()),
        };
        // Looked up now, since the payload is consumed by parsing.
        let silent = wire::wants_no_reply(&header, &payload);
        Counters::add(&connection.counters.bytes_in, header.len as u64);
        let parsed = match refused {
            Some(short) => Err(memory_refusal(short)),
            None => parse_message(door, &header, payload, &mut held).await,
        };
        let malformed = match parsed {
            Ok(message) => {
                is_known = true;
                // In a place of its own: a connection that asks nothing has no room for it.
                let mut answered =
                    Box::pin(answer_message(door, connection, &mut stream, &message, &mut stop));
                let answered = answered.as_mut();
                let weight = parsed_command::parsed_bytes(&message, &door.commands);
                let answered =
                    pin!(parsed_command::run_by_weight(weight, door.settings.run_apart, answered));
                let answered = door.engine.lanes().run(answered).await;
                connection.release_reply_memory();
                answered?;
                continue;
            }
            Err(malformed) => malformed,
        };
        if malformed.code != TemporarilyUnavailable {
            door.protocol_errors.report(&connection.peer, "a malformed message");
        }
        match silent {
            true if malformed.answerable => {}
            true => return Err(()),
            false => send_refusal(connection, &mut stream, &header, &malformed).await?,
        }
    }
}

/// Waits for a message to begin as long as it takes, and for the rest of its header no longer than
/// `within`. `None`: that is not a header of a message that clients send. Nothing is read of a
/// message of an unknown kind, whose length may be noise too.
async fn read_header(
    stream: &mut (impl AsyncRead + Unpin),
    within: Duration,
) -> Result<Option<Header>, ConnectionEnded> {
    let mut head = [0; HEADER_BYTES];
    head[0] = stream.read_u8().await.map_err(|_| ())?;
    let rest = stream.read_exact(&mut head[1..]);
    tokio::time::timeout(within, rest).await.map_err(|_| ())?.map_err(|_| ())?;
    Ok(Header::read(&head).ok().filter(|header| match OpCode::from_number(header.code) {
        Some(OpCode::Msg | OpCode::Query | OpCode::Compressed) => true,
        Some(OpCode::Reply) | None => false,
    }))
}

/// Lets a long message wait a while for the memory that it will take, parsed too: many clients that
/// insert at once are slowed down instead of refused. Nothing is held meanwhile, so that nobody waits
/// for somebody who waits. Others may take the room before this one has read its message; then that is
/// refused.
async fn wait_for_room(account: &Account, header: &Header) {
    let looks = ROOM_WAIT.as_millis() / ROOM_LOOK.as_millis();
    for _ in 0..looks {
        if header.len <= memory::SMALL || account.has_room(header.len.saturating_mul(2)) {
            return;
        }
        commands::sleep(ROOM_LOOK).await;
    }
}

/// Reads the rest of a message once there is room. What it takes is in `held` when this returns. A compressed message
/// also holds what it claims to be unpacked, before it is unpacked.
async fn read_payload(
    stream: &mut (impl AsyncRead + Unpin),
    header: &Header,
    account: &Account,
    held: &mut Share,
) -> Result<Arrived, ConnectionEnded> {
    wait_for_room(account, header).await;
    let len = header.len - HEADER_BYTES;
    let read = arriving::read_payload(stream, len, held);
    let read = tokio::time::timeout(MESSAGE_TIMEOUT, read).await.map_err(|_| ())?;
    read.map_err(|_| ())
}

/// There is no room for a message, or for what it is parsed into: 365, which may be tried again.
fn memory_refusal(short: Short) -> Malformed {
    Malformed::content(TemporarilyUnavailable, short.to_string())
}

/// Parses a message and holds what it will take. A long one waits for its turn, so that parsing
/// many of them at once does not keep the processors from short ones.
async fn parse_message<S: Store>(
    door: &Door<S>,
    header: &Header,
    payload: Vec<u8>,
    held: &mut Share,
) -> Result<Message, Malformed> {
    let bytes = payload.len().saturating_add(wire::claimed_size(header, &payload));
    held.set(bytes).map_err(memory_refusal)?;
    let parsed = pin!(async { wire::parse_message(header, payload) });
    let message = match LONG_BYTES <= bytes {
        true => door.engine.lanes().run_long(parsed).await,
        false => parsed.await,
    }?;
    let weight = parsed_command::parsed_bytes(&message, &door.commands);
    held.set(message.bytes.len().saturating_add(weight)).map_err(memory_refusal)?;
    Ok(message)
}

/// Tells a client what is wrong with its message, where the protocol has a form for that, and ends
/// the connection where the message as a whole was not understood.
async fn send_refusal(
    connection: &Connection,
    stream: &mut (impl AsyncWrite + Unpin),
    header: &Header,
    malformed: &Malformed,
) -> Result<(), ConnectionEnded> {
    if OpCode::from_number(header.code) != Some(OpCode::Msg) {
        return Err(());
    }
    let body = Error::new(malformed.code, malformed.message.clone()).to_reply().to_buf();
    let id = connection.reply_id();
    send_bytes(connection, stream, msg_reply(id, header.request_id, body.bytes(), false, false))
        .await?;
    if malformed.answerable { Ok(()) } else { Err(()) }
}

/// Runs a command. What only reads ends when its client leaves; who waits for news of the server is
/// let go when it stops, and everything else that still runs a while later is told to end.
async fn run_call<S: Store>(
    call: &Call<'_, S>,
    stream: &mut (impl AsyncBufRead + Unpin),
    stop: &mut watch::Receiver<bool>,
) -> commands::Response {
    let row = call.known.map(|known| known.row);
    // Only a handshake waits by `maxAwaitTimeMS`; a tailable cursor would too, and there are none.
    let waits =
        row.is_some_and(|row| row.awaits_state) && call.body.get("maxAwaitTimeMS").is_some();
    let mut run = pin!(commands::run(call));
    let why = tokio::select! {
        biased;
        answer = &mut run => return answer,
        () = has_stopped(stop, waits) => StopReason::Stopping,
        () = client_left(stream), if row.is_some_and(|row| row.ends_with_client) => {
            StopReason::ClientLeft
        }
    };
    if waits {
        return commands::Response::CloseConnection;
    }
    // The command may have taken over a cursor's operation, so the one under way is told, and it is
    // awaited: it gives back what it holds, and what it has begun to store is stored.
    call.connection.stop_command(None, why);
    run.await
}

/// Waits until the server stops, and then as long as it lets commands end by themselves.
async fn has_stopped(stop: &mut watch::Receiver<bool>, at_once: bool) {
    if stop.wait_for(|stop| *stop).await.is_err() {
        // Nobody is left who could stop it.
        pending::<()>().await;
    }
    if !at_once {
        commands::sleep(STOP_TIME).await;
    }
}

/// Waits until the client has closed its side; one that sends its next message is there.
async fn client_left(stream: &mut (impl AsyncBufRead + Unpin)) {
    if matches!(stream.fill_buf().await, Ok(bytes) if !bytes.is_empty()) {
        pending::<()>().await;
    }
}

/// Runs the command of a message and sends its reply in the form that the message came in. Nothing
/// is sent to a message that wants no reply, whatever comes out.
async fn answer_message<S: Store>(
    door: &Arc<Door<S>>,
    connection: &Connection,
    stream: &mut (impl AsyncBufRead + AsyncWrite + Unpin),
    message: &Message,
    stop: &mut watch::Receiver<bool>,
) -> Result<(), ConnectionEnded> {
    let reply = match Call::new(door, connection, message, Arc::default()) {
        Ok(call) => run_call(&call, stream, stop).await,
        Err(error) => commands::Response::Reply(error.to_reply().to_buf()),
    };
    let body = match reply {
        commands::Response::Reply(body) => body,
        commands::Response::CloseConnection => return Err(()),
    };
    match message.shape {
        Shape::Msg { more_to_come: true, .. } => Ok(()),
        Shape::Msg { checksum, exhaust_allowed, .. } => {
            let more = exhaust_allowed && open_cursor(&body).is_some();
            if more {
                return send_all_batches(door, connection, stream, message, body, stop).await;
            }
            let id = connection.reply_id();
            let reply = msg_reply(id, message.request_id, body.bytes(), false, checksum);
            // The reply is there twice, and no longer.
            drop(body);
            send_bytes(connection, stream, compress_reply(door, message, reply).await).await
        }
        Shape::Query => {
            let id = connection.reply_id();
            let reply = query_reply(id, message.request_id, body.bytes());
            send_bytes(connection, stream, reply).await
        }
    }
}

/// The id of a cursor that has more, in the reply to a `getMore`. Only such a reply can be followed
/// by others without being asked for.
fn open_cursor(body: &DocBuf) -> Option<i64> {
    let cursor = body.get("cursor")?.as_document()?;
    cursor.get("nextBatch")?;
    match cursor.get("id") {
        Some(ValueRef::Int64(id)) if id != 0 => Some(id),
        _ => None,
    }
}

/// Sends batch after batch without being asked for each, as a client allows with `exhaustAllowed`.
/// Each reply but the last says that more comes, and refers to the one before it. The same
/// `getMore` is run again for each.
async fn send_all_batches<S: Store>(
    door: &Arc<Door<S>>,
    connection: &Connection,
    stream: &mut (impl AsyncBufRead + AsyncWrite + Unpin),
    message: &Message,
    first: DocBuf,
    stop: &mut watch::Receiver<bool>,
) -> Result<(), ConnectionEnded> {
    let checksum = matches!(message.shape, Shape::Msg { checksum: true, .. });
    let mut body = first;
    let mut answers = message.request_id;
    loop {
        let more = open_cursor(&body).is_some();
        let id = connection.reply_id();
        let reply = msg_reply(id, answers, body.bytes(), more, checksum);
        send_bytes(connection, stream, compress_reply(door, message, reply).await).await?;
        if !more {
            return Ok(());
        }
        answers = id;
        let call = Call::new(door, connection, message, Arc::default()).map_err(|_| ())?;
        body = match run_call(&call, stream, stop).await {
            commands::Response::Reply(body) => body,
            commands::Response::CloseConnection => return Err(()),
        };
    }
}

/// A reply is compressed when its request was. A large one waits for its turn, since compression
/// keeps a processor busy.
async fn compress_reply<S: Store>(door: &Door<S>, message: &Message, reply: Vec<u8>) -> Vec<u8> {
    match message.compressor {
        Some(compressor) if door.commands.may_compress(message.body()) => {
            let long = LONG_BYTES <= reply.len();
            let packed = pin!(async { wire::compress(reply, compressor) });
            if long { door.engine.lanes().run_long(packed).await } else { packed.await }
        }
        _ => reply,
    }
}

/// Sends a reply. A client that does not read for [`WRITE_TIMEOUT`] is given up: its reply holds
/// memory.
async fn send_bytes(
    connection: &Connection,
    stream: &mut (impl AsyncWrite + Unpin),
    reply: Vec<u8>,
) -> Result<(), ConnectionEnded> {
    Counters::add(&connection.counters.bytes_out, reply.len() as u64);
    let write = async {
        stream.write_all(&reply).await?;
        stream.flush().await
    };
    tokio::time::timeout(WRITE_TIMEOUT, write).await.map_err(|_| ())?.map_err(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(code: i32) -> Vec<u8> {
        let mut bytes = Vec::new();
        Header { len: 100, request_id: 1, response_to: 0, code }.write(&mut bytes);
        bytes
    }

    /// What reading a header comes to when these bytes arrive and then nothing: `None` goes on
    /// waiting.
    async fn read(
        bytes: &[u8],
        within: Duration,
    ) -> Option<Result<Option<Header>, ConnectionEnded>> {
        let (mut near, mut far) = tokio::io::duplex(100);
        near.write_all(bytes).await.unwrap();
        tokio::time::timeout(Duration::from_millis(1), read_header(&mut far, within)).await.ok()
    }

    #[tokio::test]
    async fn a_header_that_has_begun_has_a_deadline() {
        let known = head(OpCode::Msg as i32);
        assert!(read(&[], Duration::ZERO).await.is_none(), "a client may be silent");
        assert_eq!(read(&known[..1], Duration::ZERO).await, Some(Err(())));
        assert_eq!(read(&known[..15], Duration::ZERO).await, Some(Err(())));
        assert!(read(&known[..15], MESSAGE_TIMEOUT).await.is_none());
        let whole = read(&known, Duration::ZERO).await.unwrap().unwrap();
        assert_eq!(whole.unwrap().len, 100);
    }

    #[tokio::test]
    async fn a_message_of_an_unknown_kind_is_not_waited_for() {
        for (code, known) in [(2013, true), (2012, true), (2004, true), (1, false), (7, false)] {
            let read = read(&head(code), MESSAGE_TIMEOUT).await.unwrap().unwrap();
            assert_eq!(read.is_some(), known, "{code}");
        }
        let client_hello = b"\x16\x03\x01\0\xc8\x01\0\0\xc4\x03\x03\0\0\0\0\0\0\0";
        assert_eq!(read(client_hello, MESSAGE_TIMEOUT).await, Some(Ok(None)));
    }
}
