//! Streams of replies to one request (`exhaustAllowed`): batches of a cursor, and state changes of
//! the server.

use std::sync::Arc;

use document::{DocBuf, Number, ValueRef};
use tokio::{
    io::{AsyncBufRead, AsyncWrite},
    sync::watch,
};

use crate::{
    api::MongoApi,
    arguments::Args,
    call::Call,
    client::Connection,
    commands,
    incoming::ConnectionEnded,
    outgoing::{compress_reply, send_bytes},
    run_call::run_call,
    wire::{Message, Shape, msg_reply},
};

/// Minimum `maxAwaitTimeMS` for which the replies to a handshake are streamed. With shorter waits a
/// stream would occupy a processor although the client sends no requests.
const SHORTEST_WAIT_MS: u64 = 100;

/// Returns whether further replies to the same request follow this one: it is a batch of a cursor
/// that is not exhausted, or answers a handshake by which a client waits for changes of the
/// server's state. Such a stream ends only after a change, because the request has the state before
/// it; the client then asks again with the new state. Drivers take any other end for the loss of the
/// server.
pub(crate) fn is_followed(api: &MongoApi, message: &Message, reply: &DocBuf) -> bool {
    has_open_cursor(reply)
        || (waits_for_state_change(api, message) && has_same_state(message, reply))
}

/// Returns whether the reply is a `getMore` batch of an open cursor. First batches are not
/// streamed.
fn has_open_cursor(reply: &DocBuf) -> bool {
    let cursor = reply.get("cursor").and_then(ValueRef::as_document);
    cursor.is_some_and(|cursor| {
        let id = cursor.get("id");
        // A tailable cursor may have no documents now; its client asks again.
        let batch = cursor.get("nextBatch").and_then(ValueRef::as_array);
        batch.is_some_and(|batch| !batch.is_empty())
            && matches!(id, Some(ValueRef::Int64(id)) if id != 0)
    })
}

fn waits_for_state_change(api: &MongoApi, message: &Message) -> bool {
    let args = Args::new("hello", message.body());
    let known = args.document("topologyVersion").ok().flatten();
    let process = known.and_then(|known| known.get("processId"));
    api.commands.find_body(message.body()).is_some_and(|found| found.row.awaits_state)
        && matches!(process, Some(ValueRef::ObjectId(process)) if process == api.process)
        && matches!(args.count("maxAwaitTimeMS"), Ok(Some(ms)) if SHORTEST_WAIT_MS <= ms)
}

/// Returns whether the reply to a handshake has the `topologyVersion` of its request, with which the
/// client waits for the next change of the server's state.
fn has_same_state(message: &Message, reply: &DocBuf) -> bool {
    let counter = |version: Option<ValueRef<'_>>| {
        let counter = version.and_then(ValueRef::as_document)?.get("counter")?;
        Number::of(counter).and_then(Number::to_i64_exact)
    };
    let replied = counter(reply.get("topologyVersion"));
    replied.is_some() && replied == counter(message.body().get("topologyVersion"))
}

/// Sends replies until the stream ends; the command runs again for each of them. Each reply but the
/// last announces another one, and each but the first refers to the previous one.
pub(crate) async fn send_all(
    api: &Arc<MongoApi>,
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
        let more = is_followed(api, message, &body);
        let id = connection.reply_id();
        let reply = msg_reply(id, answers, body.bytes(), more, checksum);
        send_bytes(connection, stream, compress_reply(api, message, reply).await).await?;
        if !more {
            return Ok(());
        }
        answers = id;
        let call = Call::new(api, connection, message, Arc::default()).map_err(|_| ())?;
        body = match run_call(&call, stream, stop).await {
            commands::Response::Reply(body) => body,
            commands::Response::CloseConnection => return Err(()),
        };
    }
}
