//! A request, whatever form it came in. Documents are ranges of its bytes, so that a command
//! borrows them and a stored document shares them.

use std::ops::Range;

use bytes::Bytes;
use document::{DocBuf, DocRef};

use super::{
    Compressor, Header, Malformed, OpCode, compress::decompress, op_msg, op_query, whole_message,
};

/// How a request came, and so how its reply has to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// As OP_MSG.
    Msg {
        /// The client expects no reply.
        more_to_come: bool,
        /// The client takes several replies to one request.
        exhaust_allowed: bool,
        /// The request had a checksum.
        checksum: bool,
    },
    /// As OP_QUERY: the reply is an OP_REPLY, never compressed.
    Query,
}

/// A document sequence of an OP_MSG: the documents of an argument, beside the body, so that a batch
/// may be larger than one document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sequence {
    /// The argument's name, such as `documents`.
    pub(crate) name: String,
    /// Where each document stands in the message.
    pub(crate) documents: Vec<Range<usize>>,
}

/// A request, all of whose documents are valid BSON.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) request_id: i32,
    pub(crate) shape: Shape,
    /// The message was compressed with this.
    pub(crate) compressor: Option<Compressor>,
    /// The database of an OP_QUERY.
    pub(crate) database: Option<String>,
    /// The payload, uncompressed.
    pub(crate) bytes: Bytes,
    /// Where the command's document stands.
    pub(crate) body: Range<usize>,
    /// Document sequences, each name once.
    pub(crate) sequences: Vec<Sequence>,
    /// How many elements all documents have, at all levels: what parsing takes is estimated from
    /// it.
    pub(crate) elements: usize,
}

impl Message {
    /// The message again as a client would have sent it that does not compress. `header` is the one that
    /// it came with.
    pub(crate) fn into_whole(self, header: Header) -> Vec<u8> {
        let code = match self.shape {
            Shape::Msg { .. } => OpCode::Msg,
            Shape::Query => OpCode::Query,
        };
        whole_message(Header { code: code as i32, ..header }, self.bytes.into())
    }

    /// The command's document.
    pub(crate) fn body(&self) -> DocRef<'_> {
        DocRef::Raw(self.slice(&self.body))
    }

    /// The bytes of a range; empty where it is not within the message, which does not happen.
    pub(crate) fn slice(&self, range: &Range<usize>) -> &[u8] {
        self.bytes.get(range.clone()).unwrap_or_default()
    }

    /// A document of its own. One that is a part of this message shares its bytes, so that storing
    /// it copies nothing; the message lives as long as the document.
    pub(crate) fn owned_document(&self, document: DocRef<'_>) -> DocBuf {
        let DocRef::Raw(part) = document else { return document.to_buf() };
        // Whether it is a part is seen by its address. An address outside wraps around to a large
        // offset.
        let start = (part.as_ptr() as usize).wrapping_sub(self.bytes.as_ptr() as usize);
        match start.checked_add(part.len()) {
            Some(end) if end <= self.bytes.len() => {
                DocBuf::from_trusted(self.bytes.slice(start..end))
            }
            _ => document.to_buf(),
        }
    }

    /// Documents of the sequence with this name.
    pub(crate) fn sequence(&self, name: &str) -> Option<Vec<&[u8]>> {
        let sequence = self.sequences.iter().find(|sequence| sequence.name == name)?;
        Some(sequence.documents.iter().map(|range| self.slice(range)).collect())
    }
}

/// Reads what follows a header. A compressed message is unpacked first, and may hold any kind but
/// another compressed one.
pub(crate) fn parse_message(header: &Header, payload: Vec<u8>) -> Result<Message, Malformed> {
    match OpCode::from_number(header.code) {
        Some(OpCode::Msg) => op_msg::parse(header, payload, None),
        Some(OpCode::Query) => op_query::parse(header, payload),
        Some(OpCode::Compressed) => {
            // The compressor is remembered: a reply is compressed as its request was.
            let (inner, payload, compressor) = decompress(header, &payload)?;
            match OpCode::from_number(inner.code) {
                Some(OpCode::Msg) => op_msg::parse(&inner, payload, Some(compressor)),
                Some(OpCode::Query) => op_query::parse(&inner, payload),
                _ => Err(Malformed::fatal("a compressed message holds an unknown message")),
            }
        }
        // Replies are for clients; a server never gets one.
        Some(OpCode::Reply) | None => {
            Err(Malformed::fatal(format!("unsupported message type {}", header.code)))
        }
    }
}
