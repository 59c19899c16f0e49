//! Messages as bytes: headers, OP_MSG, the old OP_QUERY for the handshake, compression. Nothing is
//! decoded here before the validator has passed it, and nothing here knows a command.
//!
//! All numbers on the wire are little-endian. A message:
//!
//! ```text
//! 0      4           8            12      16
//! | len  | request id | response to | op code | payload ...
//! ```

/// Reads a message of a known length.
pub(crate) mod arriving;
/// OP_COMPRESSED.
mod compress;
/// The 16 bytes in front.
mod header;
/// A request, whatever form it came in.
mod message;
/// OP_MSG.
mod op_msg;
/// OP_QUERY and OP_REPLY.
mod op_query;

pub(crate) use compress::{Compressor, claimed_size, compress};
pub(crate) use header::{HEADER_BYTES, Header, OpCode, whole_message};
pub(crate) use message::{Message, Sequence, Shape, parse_message};
pub(crate) use op_msg::{
    find_body as msg_body_at, more_follows, reply as msg_reply, wants_no_reply,
};
pub(crate) use op_query::{find_body as query_body_at, reply as query_reply};

use std::fmt;

/// Why a message cannot be answered in its own form: the connection is closed, or, where the
/// protocol offers a reply, it gets this error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Malformed {
    /// MongoDB's error code for the reply.
    pub(crate) code: i32,
    pub(crate) message: String,
    /// A reply can be sent and the connection goes on.
    pub(crate) answerable: bool,
}

impl Malformed {
    /// The connection cannot go on: where the next message begins is not known, or nothing that
    /// follows can be trusted. 17 ProtocolError.
    pub(crate) fn fatal(message: impl Into<String>) -> Self {
        let code = crate::errors::ProtocolError;
        Self { code, message: message.into(), answerable: false }
    }

    /// The message as a whole was understood, its content was not: it gets an error reply, and the
    /// next message is read as if nothing had been.
    pub(crate) fn content(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), answerable: true }
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
