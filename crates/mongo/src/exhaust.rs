//! Batches that follow each other without being asked for (`exhaustAllowed`).

use std::sync::Arc;

use document::{DocBuf, ValueRef};
use engine::Store;
use tokio::{
    io::{AsyncBufRead, AsyncWrite},
    sync::watch,
};

use crate::{
    call::Call,
    client::Connection,
    commands,
    door::Door,
    incoming::ConnectionEnded,
    outgoing::{compress_reply, send_bytes},
    run_call::run_call,
    wire::{Message, Shape, msg_reply},
};

/// The id of a cursor that has more, in the reply to a `getMore`. Only such a reply can be followed
/// by others without being asked for.
pub(crate) fn open_cursor(body: &DocBuf) -> Option<i64> {
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
pub(crate) async fn send_all_batches<S: Store>(
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
