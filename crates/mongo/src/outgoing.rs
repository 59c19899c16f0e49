//! Replies as they go out: compressed where their requests were, and given up where nobody reads them.
//! What a reply says is not known here.

use std::pin::pin;

use engine::Store;
use tokio::io::{AsyncWrite, AsyncWriteExt};

use crate::{
    client::Connection,
    counters::Counters,
    door::Door,
    errors::Error,
    incoming::ConnectionEnded,
    limits::{LONG_BYTES, WRITE_TIMEOUT},
    wire::{self, Header, Malformed, Message, OpCode, msg_reply},
};

/// The reply that tells a client what is wrong with its message; `None`: the protocol has no form for
/// that.
pub(crate) fn refusal(header: &Header, malformed: &Malformed, id: i32) -> Option<Vec<u8>> {
    if OpCode::from_number(header.code) != Some(OpCode::Msg) {
        return None;
    }
    let body = Error::new(malformed.code, malformed.message.clone()).to_reply().to_buf();
    Some(msg_reply(id, header.request_id, body.bytes(), false, false))
}

/// Tells a client what is wrong with its message, where that can be told, and ends the connection where
/// the message as a whole was not understood.
pub(crate) async fn send_refusal(
    connection: &Connection,
    stream: &mut (impl AsyncWrite + Unpin),
    header: &Header,
    malformed: &Malformed,
) -> Result<(), ConnectionEnded> {
    let reply = refusal(header, malformed, connection.reply_id()).ok_or(())?;
    send_bytes(connection, stream, reply).await?;
    if malformed.answerable { Ok(()) } else { Err(()) }
}

/// A reply is compressed when its request was. A large one waits for its turn, since compression
/// keeps a processor busy.
pub(crate) async fn compress_reply<S: Store>(
    door: &Door<S>,
    message: &Message,
    reply: Vec<u8>,
) -> Vec<u8> {
    match message.compressor {
        Some(compressor) if door.commands.may_compress(message.body()) => {
            let long = LONG_BYTES <= reply.len();
            let packed = pin!(async { wire::compress(reply, compressor) });
            if long { door.engine.lanes().run_long(packed).await } else { packed.await }
        }
        _ => reply,
    }
}

/// Sends a reply.
pub(crate) async fn send_bytes(
    connection: &Connection,
    stream: &mut (impl AsyncWrite + Unpin),
    reply: Vec<u8>,
) -> Result<(), ConnectionEnded> {
    Counters::add(&connection.counters.bytes_out, reply.len() as u64);
    write_within(stream, &reply).await
}

/// Writes all bytes. Who does not read for [`WRITE_TIMEOUT`] is given up: what is written holds memory.
pub(crate) async fn write_within(
    stream: &mut (impl AsyncWrite + Unpin),
    bytes: &[u8],
) -> Result<(), ConnectionEnded> {
    let write = async {
        stream.write_all(bytes).await?;
        stream.flush().await
    };
    tokio::time::timeout(WRITE_TIMEOUT, write).await.map_err(|_| ())?.map_err(|_| ())
}
