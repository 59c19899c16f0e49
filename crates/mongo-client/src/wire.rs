//! Encoding of OP_MSG: builds a request and parses a reply. Depends on neither sockets nor
//! commands.
//!
//! ```text
//! length | request id | reply to | opcode 2013 | flags | 0 | body | 1 | length | name | documents ...
//! └─────────── header, 16 bytes ─────────────┘                      └── only with a document sequence
//! ```

use document::DocBuf;

use crate::{Error, Result};

pub(crate) const OP_MSG: i32 = 2013;
/// Length of the message header in bytes.
pub(crate) const HEADER: usize = 16;
/// Maximum accepted length of a reply, MongoDB's `maxMessageSizeBytes`.
pub(crate) const MESSAGE_MAX: usize = 48_000_000;

/// A document sequence, which drivers use for inserted documents.
#[derive(Clone, Copy, Debug)]
pub struct Sequence<'a> {
    /// Name of the command argument that the sequence holds.
    pub name: &'a str,
    /// The documents of the sequence, in order.
    pub documents: &'a [DocBuf],
}

/// Replaces the content of `out` by a request. The request sets no flags, so the server sends a
/// reply.
pub fn encode_request(
    out: &mut Vec<u8>,
    request: i32,
    body: &[u8],
    sequence: Option<Sequence<'_>>,
) {
    out.clear();
    for word in [0, request, 0, OP_MSG, 0] {
        out.extend_from_slice(&word.to_le_bytes());
    }
    out.push(0);
    out.extend_from_slice(body);
    if let Some(sequence) = sequence {
        out.push(1);
        let start = out.len();
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(sequence.name.as_bytes());
        out.push(0);
        for document in sequence.documents {
            out.extend_from_slice(document.bytes());
        }
        put_length(out, start);
    }
    put_length(out, 0);
}

/// Writes the length of the section from `start` to the end of `out`.
fn put_length(out: &mut [u8], start: usize) {
    let length = i32::try_from(out.len() - start).unwrap_or(i32::MAX);
    out[start..start + 4].copy_from_slice(&length.to_le_bytes());
}

/// Returns the length of the message at the start of `bytes`; `None` before its length has arrived.
/// An impossible length is an error, before memory is allocated for it.
pub fn message_length(bytes: &[u8]) -> Result<Option<usize>> {
    let Some(word) = word_at(bytes, 0) else { return Ok(None) };
    match usize::try_from(word) {
        Ok(length) if (HEADER + 5..=MESSAGE_MAX).contains(&length) => Ok(Some(length)),
        _ => Err(Error::Protocol(format!("a message of {word} bytes"))),
    }
}

/// Returns the body of a complete reply to `request`. Other features of OP_MSG, such as checksums,
/// are an error, since they were not requested.
pub fn reply_body(message: &[u8], request: i32) -> Result<&[u8]> {
    let broken = |what: &str| Error::Protocol(what.to_owned());
    if word_at(message, 8) != Some(request) {
        return Err(broken("a reply to another request"));
    }
    if word_at(message, 12) != Some(OP_MSG) {
        return Err(broken("a reply that is not OP_MSG"));
    }
    if word_at(message, HEADER).unwrap_or(-1) & !2 != 0 {
        return Err(broken("a reply with a checksum or unknown flags"));
    }
    if message.get(HEADER + 4) != Some(&0) {
        return Err(broken("a reply that does not begin with its body"));
    }
    let body = message.get(HEADER + 5..).unwrap_or_default();
    match word_at(body, 0).and_then(|length| usize::try_from(length).ok()) {
        Some(length) if length == body.len() && 5 <= length => Ok(body),
        _ => Err(broken("a body whose length is not that of its message")),
    }
}

/// Returns the little-endian number at an offset.
fn word_at(bytes: &[u8], at: usize) -> Option<i32> {
    Some(i32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use document::{DocBuf, doc};

    use super::*;

    fn reply(request: i32, body: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        encode_request(&mut out, 7, body, None);
        out[8..12].copy_from_slice(&request.to_le_bytes());
        out
    }

    #[test]
    fn a_body_alone_is_header_flags_kind_and_document() {
        let body = doc! { "ping": 1 }.to_buf();
        let mut out = vec![9; 3];
        encode_request(&mut out, 5, body.bytes(), None);
        assert_eq!(out.len(), HEADER + 4 + 1 + body.bytes().len());
        assert_eq!(message_length(&out).unwrap(), Some(out.len()));
        assert_eq!(out[4..8], 5i32.to_le_bytes());
        assert_eq!(out[12..16], OP_MSG.to_le_bytes());
        assert_eq!(out[16..21], [0; 5]);
        assert_eq!(&out[21..], body.bytes());
    }

    #[test]
    fn a_sequence_carries_its_own_length() {
        let body = DocBuf::default();
        let documents = [doc! { "_id": 1 }.to_buf(), doc! { "_id": 2 }.to_buf()];
        let mut out = Vec::new();
        let sequence = Sequence { name: "documents", documents: &documents };
        encode_request(&mut out, 1, body.bytes(), Some(sequence));
        let section = &out[HEADER + 5 + 5..];
        assert_eq!(section[0], 1);
        let length = 4 + "documents".len() + 1 + 2 * documents[0].bytes().len();
        assert_eq!(section[1..5], i32::try_from(length).unwrap().to_le_bytes());
        assert_eq!(&section[5..15], b"documents\0");
        assert_eq!(section.len(), 1 + length);
        assert_eq!(message_length(&out).unwrap(), Some(out.len()));
    }

    #[test]
    fn lengths_are_checked() {
        for (bytes, want) in [
            (&[][..], Some(None)),
            (&[30, 0, 0], Some(None)),
            (&[30, 0, 0, 0], Some(Some(30))),
            (&[20, 0, 0, 0], None),
            (&[255, 255, 255, 255], None),
            (&[0, 0, 0, 127], None),
        ] {
            assert_eq!(message_length(bytes).ok(), want, "{bytes:?}");
        }
    }

    #[test]
    fn replies_are_taken_apart() {
        let body = doc! { "ok": 1.0 }.to_buf();
        let good = reply(3, body.bytes());
        assert_eq!(reply_body(&good, 3).unwrap(), body.bytes());
        let change = |at: usize, byte: u8| {
            let mut bytes = good.clone();
            bytes[at] = byte;
            bytes
        };
        for (message, why) in [
            (reply(4, body.bytes()), "another request"),
            (change(12, 1), "not OP_MSG"),
            (change(16, 1), "checksum"),
            (change(20, 1), "begin with its body"),
            (change(21, 99), "length"),
            (good[..18].to_vec(), "flags"),
        ] {
            let error = reply_body(&message, 3).unwrap_err().to_string();
            assert!(error.contains(why), "{error} instead of {why}");
        }
    }
}
