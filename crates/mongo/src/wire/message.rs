//! A request in any of the formats. Its documents are ranges of the message's bytes, so that a
//! command borrows them and a stored document shares them.

use std::ops::Range;

use bytes::Bytes;
use document::{DocBuf, DocRef};

use super::{
    Compressor, Header, Malformed, OpCode, compress::decompress, op_msg, op_query, whole_message,
};

/// The format of a request, which its reply must use, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Msg {
        /// Whether the client expects no reply.
        more_to_come: bool,
        /// Whether the client accepts several replies to the request.
        exhaust_allowed: bool,
        /// Whether the request had a checksum.
        checksum: bool,
    },
    /// An OP_QUERY: the reply is an OP_REPLY, never compressed.
    Query,
}

/// A document sequence of an OP_MSG: an argument's documents outside the body, so that a batch may
/// be larger than one document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sequence {
    /// The argument's name, such as `documents`.
    pub(crate) name: String,
    /// The byte range of each document in the message.
    pub(crate) documents: Vec<Range<usize>>,
}

/// A request, all of whose documents are valid BSON. In a string that is not UTF-8 every invalid
/// byte was replaced by a question mark. `not_utf8` lists these strings, which must not be stored.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) request_id: i32,
    pub(crate) shape: Shape,
    /// The compressor with which the message was sent; `None` if it was not compressed.
    pub(crate) compressor: Option<Compressor>,
    /// The database of an OP_QUERY.
    pub(crate) database: Option<String>,
    pub(crate) bytes: Bytes,
    /// The payload as received, if invalid strings in it were replaced; otherwise `None`.
    pub(crate) as_it_came: Option<Bytes>,
    /// Positions in the payload of the replaced strings and names.
    pub(crate) not_utf8: Vec<Range<usize>>,
    /// The byte range of the command's document in the message.
    pub(crate) body: Range<usize>,
    /// Document sequences with unique names.
    pub(crate) sequences: Vec<Sequence>,
    /// Number of elements of all documents at all levels, from which the memory of parsing is
    /// estimated.
    pub(crate) elements: usize,
}

impl Message {
    /// Returns the message as a client would send it without compression. `header` is its original
    /// header.
    pub(crate) fn into_whole(self, header: Header) -> Vec<u8> {
        let code = match self.shape {
            Shape::Msg { .. } => OpCode::Msg,
            Shape::Query => OpCode::Query,
        };
        let bytes = self.as_it_came.unwrap_or(self.bytes);
        whole_message(Header { code: code as i32, ..header }, bytes.into())
    }

    pub(crate) fn body(&self) -> DocRef<'_> {
        DocRef::Raw(self.slice(&self.body))
    }

    /// Returns the bytes of a range; empty if it is out of bounds, which does not occur.
    pub(crate) fn slice(&self, range: &Range<usize>) -> &[u8] {
        self.bytes.get(range.clone()).unwrap_or_default()
    }

    /// Returns an owned copy of a document. A document of this message is not copied: it shares the
    /// message's bytes and so keeps the whole message in memory.
    pub(crate) fn owned_document(&self, document: DocRef<'_>) -> DocBuf {
        match self.range_of(document) {
            Some(range) => DocBuf::from_trusted(self.bytes.slice(range)),
            None => document.to_buf(),
        }
    }

    /// Returns the position of a document that is part of this message.
    fn range_of(&self, document: DocRef<'_>) -> Option<Range<usize>> {
        let DocRef::Raw(part) = document else { return None };
        // Compares addresses. One below the message wraps around to a large offset.
        let start = (part.as_ptr() as usize).wrapping_sub(self.bytes.as_ptr() as usize);
        let end = start.checked_add(part.len()).filter(|end| *end <= self.bytes.len())?;
        Some(start..end)
    }

    /// Returns the number of invalid strings in a document of this message, and the position of the
    /// first one in the document.
    pub(crate) fn not_utf8_in(&self, document: DocRef<'_>) -> (usize, Option<usize>) {
        let Some(range) = self.range_of(document).filter(|_| !self.not_utf8.is_empty()) else {
            return (0, None);
        };
        let before = |limit: usize| self.not_utf8.partition_point(|text| text.start < limit);
        let (first, behind) = (before(range.start), before(range.end));
        let found = self.not_utf8.get(first).filter(|_| first < behind);
        (behind - first, found.map(|text| text.start - range.start))
    }

    /// Returns the documents of the sequence with this name.
    pub(crate) fn sequence(&self, name: &str) -> Option<Vec<&[u8]>> {
        let sequence = self.sequences.iter().find(|sequence| sequence.name == name)?;
        Some(sequence.documents.iter().map(|range| self.slice(range)).collect())
    }
}

/// Parses the payload of a message. A compressed message is decompressed first, and may contain any
/// kind of message except another compressed one.
pub(crate) fn parse_message(header: &Header, payload: Vec<u8>) -> Result<Message, Malformed> {
    match OpCode::from_number(header.code) {
        Some(OpCode::Msg) => op_msg::parse(header, payload, None),
        Some(OpCode::Query) => op_query::parse(header, payload),
        Some(OpCode::Compressed) => {
            // Kept, since the reply is compressed like the request.
            let (inner, payload, compressor) = decompress(header, &payload)?;
            match OpCode::from_number(inner.code) {
                Some(OpCode::Msg) => op_msg::parse(&inner, payload, Some(compressor)),
                Some(OpCode::Query) => op_query::parse(&inner, payload),
                _ => Err(Malformed::fatal("a compressed message holds an unknown message")),
            }
        }
        // A client does not send replies.
        Some(OpCode::Reply) | None => {
            Err(Malformed::fatal(format!("unsupported message type {}", header.code)))
        }
    }
}
