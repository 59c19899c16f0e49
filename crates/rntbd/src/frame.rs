//! The heads of frames, and the writer of frames.

use crate::{
    Invalid, Result,
    token::{Kind, Width},
};

/// Length of the head of a frame, which precedes its tokens, in bytes.
pub const HEAD_BYTES: usize = 24;

/// The head of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestHead {
    /// Length of the tokens in bytes.
    pub tokens_len: usize,
    /// Code of the resource type.
    pub resource: u16,
    /// Code of the operation type.
    pub operation: u16,
    /// The activity id, a UUID whose first three groups are little-endian.
    pub activity: [u8; 16],
}

/// The head of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnswerHead {
    /// Length of the tokens in bytes.
    pub tokens_len: usize,
    /// The status, as in HTTP.
    pub status: u32,
    /// The activity id of the request.
    pub activity: [u8; 16],
}

impl RequestHead {
    /// Decodes a head. Refuses tokens of more than `most` bytes, so that a reader need not reserve
    /// memory for a length that a client only claims.
    pub fn read(bytes: &[u8; HEAD_BYTES], most: usize) -> Result<Self> {
        let [tokens_len, types, activity] = parts(bytes, most)?;
        let types = types.to_le_bytes();
        let [resource, operation] = [[types[0], types[1]], [types[2], types[3]]];
        Ok(Self {
            tokens_len: tokens_len as usize,
            resource: u16::from_le_bytes(resource),
            operation: u16::from_le_bytes(operation),
            activity: activity.to_le_bytes(),
        })
    }
}

impl AnswerHead {
    /// Decodes a head. Refuses tokens of more than `most` bytes.
    pub fn read(bytes: &[u8; HEAD_BYTES], most: usize) -> Result<Self> {
        let [tokens_len, status, activity] = parts(bytes, most)?;
        let status = u32::try_from(status).unwrap_or(u32::MAX);
        Ok(Self { tokens_len: tokens_len as usize, status, activity: activity.to_le_bytes() })
    }
}

/// Returns the length of the tokens, the four bytes after it, and the activity id.
fn parts(bytes: &[u8; HEAD_BYTES], most: usize) -> Result<[u128; 3]> {
    let number = |from: usize, to: usize| {
        let mut number = [0; 16];
        for (to, from) in number.iter_mut().zip(bytes.get(from..to).unwrap_or_default()) {
            *to = *from;
        }
        u128::from_le_bytes(number)
    };
    let tokens = number(0, 4).checked_sub(HEAD_BYTES as u128);
    let tokens = tokens.ok_or(Invalid("a frame is shorter than its head"))?;
    match tokens <= most as u128 {
        true => Ok([tokens, number(4, 8), number(8, HEAD_BYTES)]),
        false => Err(Invalid("a frame is too long")),
    }
}

/// Writes one frame to the end of a buffer. The frame is complete after [`FrameWriter::finish`].
#[derive(Debug)]
pub struct FrameWriter<'a> {
    out: &'a mut Vec<u8>,
    /// Offset of the frame in the buffer.
    start: usize,
}

impl<'a> FrameWriter<'a> {
    /// Begins a request with these type codes and activity id.
    pub fn request(
        out: &'a mut Vec<u8>,
        resource: u16,
        operation: u16,
        activity: [u8; 16],
    ) -> Self {
        let [a, b] = resource.to_le_bytes();
        let [c, d] = operation.to_le_bytes();
        Self::begin(out, [a, b, c, d], activity)
    }

    /// Begins an answer with this status and the activity id of its request.
    pub fn answer(out: &'a mut Vec<u8>, status: u32, activity: [u8; 16]) -> Self {
        Self::begin(out, status.to_le_bytes(), activity)
    }

    fn begin(out: &'a mut Vec<u8>, second: [u8; 4], activity: [u8; 16]) -> Self {
        let start = out.len();
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(&second);
        out.extend_from_slice(&activity);
        Self { out, start }
    }

    /// Appends a token. Returns false, and appends nothing, if the value is longer than a length of
    /// its kind can state.
    pub fn push(&mut self, id: u16, kind: Kind, value: &[u8]) -> bool {
        let prefix = match kind.width() {
            Width::Fixed(len) if len == value.len() => 0,
            Width::Fixed(_) => return false,
            Width::Prefixed(len) if value.len() < 1 << (8 * len) => len,
            Width::Prefixed(_) => return false,
        };
        self.out.extend_from_slice(&id.to_le_bytes());
        self.out.push(kind as u8);
        self.out.extend(value.len().to_le_bytes().into_iter().take(prefix));
        self.out.extend_from_slice(value);
        true
    }

    /// Appends tokens that are already encoded.
    pub fn push_encoded(&mut self, tokens: &[u8]) {
        self.out.extend_from_slice(tokens);
    }

    /// Completes the frame. `body_len` is the length of the body, which the caller sends after the
    /// frame; `None` if there is no body.
    pub fn finish(self, body_len: Option<usize>) {
        let len = u32::try_from(self.out.len() - self.start).unwrap_or(u32::MAX);
        if let Some(length) = self.out.get_mut(self.start..self.start + 4) {
            length.copy_from_slice(&len.to_le_bytes());
        }
        if let Some(body) = body_len {
            self.out.extend_from_slice(&u32::try_from(body).unwrap_or(u32::MAX).to_le_bytes());
        }
    }
}
