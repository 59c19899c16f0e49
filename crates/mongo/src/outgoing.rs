//! Sends replies: compressed if their requests were, and within a time limit if the client does not
//! read. This module does not interpret replies.

use std::pin::pin;

use tokio::io::{AsyncWrite, AsyncWriteExt};

use crate::{
    api::MongoApi,
    client::Connection,
    counters::Counters,
    errors::Error,
    incoming::ConnectionEnded,
    limits::{LONG_BYTES, WRITE_TIMEOUT},
    wire::{self, Header, Malformed, Message, OpCode, msg_reply},
};

/// Returns the error reply to a malformed message; `None` if the protocol has no format for it.
pub(crate) fn refusal(header: &Header, malformed: &Malformed, id: i32) -> Option<Vec<u8>> {
    if OpCode::from_number(header.code) != Some(OpCode::Msg) {
        return None;
    }
    let body = Error::new(malformed.code, malformed.message.clone()).to_reply().to_buf();
    Some(msg_reply(id, header.request_id, body.bytes(), false, false))
}

/// Sends the error reply to a malformed message, if possible, and closes the connection if the
/// message as a whole could not be parsed.
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

/// Compresses a reply if its request was compressed. Large replies wait for their turn, since
/// compression occupies a processor.
pub(crate) async fn compress_reply(api: &MongoApi, message: &Message, reply: Vec<u8>) -> Vec<u8> {
    match message.compressor {
        Some(compressor) if api.commands.may_compress(message.body()) => {
            let long = LONG_BYTES <= reply.len();
            let packed = pin!(async { wire::compress(reply, compressor) });
            if long { api.engine.lanes().run_long(packed).await } else { packed.await }
        }
        _ => reply,
    }
}

/// Sends a reply and counts its bytes.
pub(crate) async fn send_bytes(
    connection: &Connection,
    stream: &mut (impl AsyncWrite + Unpin),
    reply: Vec<u8>,
) -> Result<(), ConnectionEnded> {
    Counters::add(&connection.counters.bytes_out, reply.len() as u64);
    write_within(stream, &reply).await
}

/// Writes all bytes within [`WRITE_TIMEOUT`]. A client that does not read is disconnected, since
/// the bytes hold memory.
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
