//! The 16 bytes in front of every message: its length, two ids and its opcode.

use super::Malformed;
use crate::limits::MAX_MESSAGE_BYTES;

/// Length of a header in bytes.
pub(crate) const HEADER_BYTES: usize = 16;

/// The kind of a message. MongoDB's other opcodes were removed in 5.1 and are not supported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpCode {
    /// OP_REPLY, the reply to OP_QUERY.
    Reply = 1,
    /// OP_QUERY, for handshakes and logins only.
    Query = 2004,
    /// OP_COMPRESSED, another message in compressed form.
    Compressed = 2012,
    Msg = 2013,
}

impl OpCode {
    /// Returns the opcode with this number, if it is supported.
    pub(crate) fn from_number(code: i32) -> Option<Self> {
        match code {
            1 => Some(Self::Reply),
            2004 => Some(Self::Query),
            2012 => Some(Self::Compressed),
            2013 => Some(Self::Msg),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// Length of the whole message in bytes.
    pub(crate) len: usize,
    /// The sender's id of this message.
    pub(crate) request_id: i32,
    /// The id of the request that this message answers; 0 in a request.
    pub(crate) response_to: i32,
    /// Number of the opcode, which may be unknown to [`OpCode`].
    pub(crate) code: i32,
}

impl Header {
    /// Reads a header. A length that is shorter than a header or above [`MAX_MESSAGE_BYTES`] is a
    /// fatal error, since the start of the next message is then unknown.
    pub(crate) fn read(bytes: &[u8; HEADER_BYTES]) -> Result<Self, Malformed> {
        let number = |at: usize| {
            let part = bytes.get(at..at + 4).and_then(|part| part.try_into().ok());
            i32::from_le_bytes(part.unwrap_or_default())
        };
        // A negative length becomes 0, which is below every bound.
        let len = usize::try_from(number(0)).unwrap_or(0);
        if !(HEADER_BYTES..=MAX_MESSAGE_BYTES).contains(&len) {
            return Err(Malformed::fatal(format!("message length {} is not allowed", number(0))));
        }
        Ok(Self { len, request_id: number(4), response_to: number(8), code: number(12) })
    }

    pub(crate) fn to_bytes(self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEADER_BYTES);
        self.write(&mut bytes);
        bytes
    }

    pub(crate) fn write(self, out: &mut Vec<u8>) {
        let len = i32::try_from(self.len).unwrap_or(i32::MAX);
        for number in [len, self.request_id, self.response_to, self.code] {
            out.extend_from_slice(&number.to_le_bytes());
        }
    }
}

/// Returns a whole message with this payload. The length in the header is set to match.
pub(crate) fn whole_message(header: Header, mut payload: Vec<u8>) -> Vec<u8> {
    let len = HEADER_BYTES + payload.len();
    payload.splice(0..0, Header { len, ..header }.to_bytes());
    payload
}
