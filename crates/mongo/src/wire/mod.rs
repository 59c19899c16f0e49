//! The wire format of messages: headers, OP_MSG, the old OP_QUERY for handshakes, compression.
//! Every document is validated before it is decoded. This module does not depend on commands.
//!
//! All numbers are little-endian. A message:
//!
//! ```text
//! 0      4           8            12      16
//! | len  | request id | response to | op code | payload ...
//! ```

mod compress;
mod header;
/// A request in any of the formats.
mod message;
mod op_msg;
mod op_query;
/// Reads the payload of a message, whose length the header states.
pub(crate) mod payload;

pub(crate) use compress::{Compressor, claimed_size, compress};
pub(crate) use header::{HEADER_BYTES, Header, OpCode, whole_message};
pub(crate) use message::{Message, Sequence, Shape, parse_message};
pub(crate) use op_msg::{
    find_body as msg_body_at, more_follows, reply as msg_reply, wants_no_reply,
};
pub(crate) use op_query::{find_body as query_body_at, reply as query_reply};

use std::fmt;

/// The error of a malformed message. If an error reply is possible, the client gets one; otherwise
/// the connection is closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Malformed {
    /// MongoDB's error code for the reply.
    pub(crate) code: i32,
    pub(crate) message: String,
    /// Whether an error reply can be sent and the connection then continues.
    pub(crate) answerable: bool,
}

impl Malformed {
    /// Returns an error after which the connection cannot continue, since the position of the next
    /// message is unknown or following data cannot be trusted. Its code is 17 ProtocolError.
    pub(crate) fn fatal(message: impl Into<String>) -> Self {
        let code = crate::errors::ProtocolError;
        Self { code, message: message.into(), answerable: false }
    }

    /// Returns an error in the content of a well-framed message: it gets an error reply, and the
    /// connection continues.
    pub(crate) fn content(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), answerable: true }
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
