//! Replies that follow each other without being asked for (`exhaustAllowed`): batches of a cursor, and news
//! of the server.

use std::sync::Arc;

use document::{DocBuf, ValueRef};
use engine::Store;
use tokio::{
    io::{AsyncBufRead, AsyncWrite},
    sync::watch,
};

use crate::{
    arguments::Args,
    call::Call,
    client::Connection,
    commands,
    door::Door,
    incoming::ConnectionEnded,
    outgoing::{compress_reply, send_bytes},
    run_call::run_call,
    wire::{Message, Shape, msg_reply},
};

/// A client that wants news more often is answered once: it would keep a processor busy without asking for
/// anything.
const SHORTEST_WAIT_MS: u64 = 100;

/// Whether a reply is followed by others: a batch of a cursor that has more, or a handshake of a client that
/// knows this server and waits for news of it. Drivers take the end of the latter for the loss of the server, so
/// it has none.
pub(crate) fn is_followed<S: Store>(door: &Door<S>, message: &Message, reply: &DocBuf) -> bool {
    has_open_cursor(reply) || (waits_for_news(door, message) && says_version(reply))
}

/// Whether the reply is that to a `getMore`, of a cursor that has more. A first batch is not followed by others
/// without being asked for.
fn has_open_cursor(reply: &DocBuf) -> bool {
    let cursor = reply.get("cursor").and_then(ValueRef::as_document);
    cursor.is_some_and(|cursor| {
        let id = cursor.get("id");
        cursor.get("nextBatch").is_some() && matches!(id, Some(ValueRef::Int64(id)) if id != 0)
    })
}

fn waits_for_news<S: Store>(door: &Door<S>, message: &Message) -> bool {
    let args = Args::new("hello", message.body());
    let known = args.document("topologyVersion").ok().flatten();
    let process = known.and_then(|known| known.get("processId"));
    door.commands.find_body(message.body()).is_some_and(|found| found.row.awaits_state)
        && matches!(process, Some(ValueRef::ObjectId(process)) if process == door.process)
        && matches!(args.count("maxAwaitTimeMS"), Ok(Some(ms)) if SHORTEST_WAIT_MS <= ms)
}

/// Whether a handshake went well, at a server that tells when it becomes another.
fn says_version(reply: &DocBuf) -> bool {
    reply.get("topologyVersion").is_some()
}

/// Sends reply after reply without being asked for each, as a client allows with `exhaustAllowed`.
/// Each but the last says that more comes, and refers to the one before it. The same command is run again
/// for each.
pub(crate) async fn send_all<S: Store>(
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
        let more = is_followed(door, message, &body);
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
