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

/// A request, all of whose documents are valid BSON. Texts that came as something else than UTF-8
/// are mended: every byte that is wrong is a question mark. Nothing of them may be stored, see
/// `not_utf8`.
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
    /// The payload as it came, where texts in it were mended.
    pub(crate) as_it_came: Option<Bytes>,
    /// Where the mended texts and names stand in the payload.
    pub(crate) not_utf8: Vec<Range<usize>>,
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
        let bytes = self.as_it_came.unwrap_or(self.bytes);
        whole_message(Header { code: code as i32, ..header }, bytes.into())
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
        match self.range_of(document) {
            Some(range) => DocBuf::from_trusted(self.bytes.slice(range)),
            None => document.to_buf(),
        }
    }

    /// Where a document stands in this message, if it is a part of it.
    fn range_of(&self, document: DocRef<'_>) -> Option<Range<usize>> {
        let DocRef::Raw(part) = document else { return None };
        // Whether it is a part is seen by its address. An address outside wraps around to a large
        // offset.
        let start = (part.as_ptr() as usize).wrapping_sub(self.bytes.as_ptr() as usize);
        let end = start.checked_add(part.len()).filter(|end| *end <= self.bytes.len())?;
        Some(start..end)
    }

    /// How many texts of a document of this message came as something else than UTF-8, and where in
    /// the document the first of them stands.
    pub(crate) fn not_utf8_in(&self, document: DocRef<'_>) -> (usize, Option<usize>) {
        let Some(range) = self.range_of(document).filter(|_| !self.not_utf8.is_empty()) else {
            return (0, None);
        };
        let before = |limit: usize| self.not_utf8.partition_point(|text| text.start < limit);
        let (first, behind) = (before(range.start), before(range.end));
        let found = self.not_utf8.get(first).filter(|_| first < behind);
        (behind - first, found.map(|text| text.start - range.start))
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
