//! Receives a client's messages: waits until one begins, and limits the time and memory of the
//! rest. This module does not interpret or answer messages.

use std::{future::pending, pin::pin, time::Duration};

use memory::{Account, InsufficientMemory, Share};
use tokio::{
    io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt},
    sync::watch,
};

use crate::{
    api::MongoApi,
    errors::TemporarilyUnavailable,
    limits::{LONG_BYTES, MEMORY_POLL, MEMORY_WAIT, MESSAGE_TIMEOUT},
    parsed_command,
    pause::sleep,
    wire::{
        self, HEADER_BYTES, Header, Malformed, Message, OpCode,
        payload::{self, PayloadRead},
    },
};

/// The connection ended, so that no error can be sent.
pub(crate) type ConnectionEnded = ();

/// Waits until a message begins; returns false if the server stops first. No bytes are taken out of
/// the buffer, so no part of a message is lost.
pub(crate) async fn has_begun(
    stream: &mut (impl AsyncBufRead + Unpin),
    stop: &mut watch::Receiver<bool>,
) -> Result<bool, ConnectionEnded> {
    tokio::select! {
        biased;
        begun = stream.fill_buf() => begun.map(|_| true).map_err(|_| ()),
        _ = stop.wait_for(|stop| *stop) => Ok(false),
    }
}

/// Waits without limit for a message to begin, and at most `within` for the rest of its header.
/// Returns `None` if it is not the header of a client's message. The payload of an unknown kind of
/// message is not read, since the length in such a header may be invalid, too.
pub(crate) async fn read_header(
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

/// Waits for a limited time for the memory that a long message needs, including its parsed form, so
/// that many concurrent inserts are throttled instead of refused. Nothing is reserved while it
/// waits, which prevents deadlocks. If other operations take the memory before the message is read,
/// the message is refused.
async fn wait_for_memory(account: &Account, header: &Header) {
    let polls = MEMORY_WAIT.as_millis() / MEMORY_POLL.as_millis();
    for _ in 0..polls {
        if header.len <= memory::SMALL || account.has_room(header.len.saturating_mul(2)) {
            return;
        }
        sleep(MEMORY_POLL).await;
    }
}

/// Reads the rest of a message once memory is available; `held` then has its reservation. For a
/// compressed message the stated size of the decompressed data is reserved, too, before
/// decompression.
pub(crate) async fn read_payload(
    stream: &mut (impl AsyncRead + Unpin),
    header: &Header,
    account: &Account,
    held: &mut Share,
) -> Result<PayloadRead, ConnectionEnded> {
    wait_for_memory(account, header).await;
    let len = header.len - HEADER_BYTES;
    let read = payload::read_payload(stream, len, held);
    let read = tokio::time::timeout(MESSAGE_TIMEOUT, read).await.map_err(|_| ())?;
    read.map_err(|_| ())
}

/// Returns the error for a lack of memory for a message or its parsed form: 365, which is
/// retryable.
pub(crate) fn memory_refusal(short: InsufficientMemory) -> Malformed {
    Malformed::content(TemporarilyUnavailable, short.to_string())
}

/// Parses a message and reserves the memory of its parsed form. Long messages wait for their turn,
/// so that parsing many of them does not delay short ones.
pub(crate) async fn parse_message(
    api: &MongoApi,
    header: &Header,
    payload: Vec<u8>,
    held: &mut Share,
) -> Result<Message, Malformed> {
    let unpacked = wire::claimed_size(header, &payload);
    if api.settings.max_message_bytes < unpacked.saturating_add(HEADER_BYTES) {
        return Err(Malformed::fatal("a message larger than the limit after decompression"));
    }
    let bytes = payload.len().saturating_add(unpacked);
    held.set(bytes).map_err(memory_refusal)?;
    let parsed = pin!(async { wire::parse_message(header, payload) });
    let message = match LONG_BYTES <= bytes {
        true => api.engine.lanes().run_long(parsed).await,
        false => parsed.await,
    }?;
    let weight = parsed_command::parsed_bytes(&message, &api.commands);
    held.set(message.bytes.len().saturating_add(weight)).map_err(memory_refusal)?;
    Ok(message)
}

/// Completes when the client has closed its side, and never if it sends another message.
pub(crate) async fn client_left(stream: &mut (impl AsyncBufRead + Unpin)) {
    if matches!(stream.fill_buf().await, Ok(bytes) if !bytes.is_empty()) {
        pending::<()>().await;
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt;

    use super::*;

    fn head(code: i32) -> Vec<u8> {
        let mut bytes = Vec::new();
        Header { len: 100, request_id: 1, response_to: 0, code }.write(&mut bytes);
        bytes
    }

    /// Returns the result of reading a header when these bytes arrive and then nothing: `None`
    /// means still waiting.
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
