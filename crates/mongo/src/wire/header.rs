//! The 16 bytes in front of every message.

use super::Malformed;
use crate::limits::MAX_MESSAGE_BYTES;

/// Length of a header.
pub(crate) const HEADER_BYTES: usize = 16;

/// What a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpCode {
    Reply = 1,
    Query = 2004,
    Compressed = 2012,
    Msg = 2013,
}

impl OpCode {
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

/// A message header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// Bytes of the whole message.
    pub(crate) len: usize,
    pub(crate) request_id: i32,
    pub(crate) response_to: i32,
    pub(crate) code: i32,
}

impl Header {
    /// Reads a header; a length that no message can have ends the connection.
    pub(crate) fn read(bytes: &[u8; HEADER_BYTES]) -> Result<Self, Malformed> {
        let number = |at: usize| {
            let part = bytes.get(at..at + 4).and_then(|part| part.try_into().ok());
            i32::from_le_bytes(part.unwrap_or_default())
        };
        let len = usize::try_from(number(0)).unwrap_or(0);
        if !(HEADER_BYTES..=MAX_MESSAGE_BYTES).contains(&len) {
            return Err(Malformed::fatal(format!("message length {} is not allowed", number(0))));
        }
        Ok(Self { len, request_id: number(4), response_to: number(8), code: number(12) })
    }

    /// Its bytes.
    pub(crate) fn write(self, out: &mut Vec<u8>) {
        let len = i32::try_from(self.len).unwrap_or(i32::MAX);
        for number in [len, self.request_id, self.response_to, self.code] {
            out.extend_from_slice(&number.to_le_bytes());
        }
    }
}
