//! The bytes that a client sends, split into frames and bodies.

use bytes::{Buf, Bytes, BytesMut};
use rntbd::{HEAD_BYTES, RequestHead};

use super::BrokenFrame;
use crate::limits::{MAX_HEAD_BYTES, TRUSTED_BYTES};

/// Bytes that are read at once if less is needed.
const READ_BYTES: usize = 8 * 1024;

/// The part that comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Head,
    Tokens(RequestHead),
    BodyLength,
    Body(usize),
    Discarded(usize),
}

/// A part of the input that has arrived completely.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The head and the tokens of a frame.
    Frame(RequestHead, Bytes),
    BodyLength(usize),
    Body(Bytes),
    /// The body of a refused request has been discarded.
    Discarded,
}

/// The bytes that were read and not processed yet.
#[derive(Debug)]
pub(super) struct Input {
    buffer: BytesMut,
    step: Step,
}

impl Input {
    pub(super) fn new() -> Self {
        Self { buffer: BytesMut::new(), step: Step::Head }
    }

    /// Returns whether a frame or body has begun and is not complete.
    pub(super) fn is_in_frame(&self) -> bool {
        self.step != Step::Head || !self.buffer.is_empty()
    }

    /// Expects the length of a body next.
    pub(super) fn expect_body_length(&mut self) {
        self.step = Step::BodyLength;
    }

    /// Expects a body of this length next.
    pub(super) fn expect_body(&mut self, len: usize) {
        self.step = Step::Body(len);
    }

    /// Discards the next `len` bytes.
    pub(super) fn discard(&mut self, len: usize) {
        self.step = Step::Discarded(len);
    }

    /// Discards the body that arrives.
    pub(super) fn discard_body(&mut self) {
        if let Step::Body(len) = self.step {
            self.step = Step::Discarded(len);
        }
    }

    /// Takes the next part; `None` until more bytes have arrived.
    pub(super) fn next_part(&mut self) -> Result<Option<Part>, BrokenFrame> {
        loop {
            let part = match self.step {
                Step::Head => {
                    let Some(bytes) = self.buffer.first_chunk::<HEAD_BYTES>() else { break };
                    self.step = Step::Tokens(RequestHead::read(bytes, MAX_HEAD_BYTES)?);
                    self.buffer.advance(HEAD_BYTES);
                    continue;
                }
                Step::Tokens(head) => {
                    let Some(tokens) = self.take(head.tokens_len) else { break };
                    Part::Frame(head, tokens)
                }
                Step::BodyLength => {
                    let Some(len) = self.buffer.first_chunk::<4>() else { break };
                    let len = u32::from_le_bytes(*len);
                    self.buffer.advance(4);
                    Part::BodyLength(usize::try_from(len).unwrap_or(usize::MAX))
                }
                Step::Body(len) => {
                    let Some(body) = self.take(len) else { break };
                    Part::Body(body)
                }
                Step::Discarded(len) => {
                    let discarded = len.min(self.buffer.len());
                    self.buffer.advance(discarded);
                    if discarded < len {
                        self.step = Step::Discarded(len - discarded);
                        break;
                    }
                    Part::Discarded
                }
            };
            self.step = Step::Head;
            return Ok(Some(part));
        }
        Ok(None)
    }

    fn take(&mut self, len: usize) -> Option<Bytes> {
        (len <= self.buffer.len()).then(|| self.buffer.split_to(len).freeze())
    }

    /// Returns the capacity of the buffer for the next read. A body gets memory as it arrives, not
    /// by the length that the client states.
    pub(super) fn wanted_capacity(&self) -> usize {
        match self.step {
            Step::Body(len) => {
                let grown = (2 * self.buffer.len()).max(TRUSTED_BYTES);
                grown.min(len).max(self.buffer.len().saturating_add(1)).max(READ_BYTES)
            }
            Step::Tokens(head) => head.tokens_len.max(READ_BYTES),
            Step::Head | Step::BodyLength | Step::Discarded(_) => READ_BYTES,
        }
    }

    /// Returns whether the next part is a body, for which the caller reserves memory.
    pub(super) fn is_in_body(&self) -> bool {
        matches!(self.step, Step::Body(_))
    }

    /// Returns the buffer to read into, with room for at least one byte.
    pub(super) fn buffer(&mut self, capacity: usize) -> &mut BytesMut {
        self.buffer.reserve(capacity.saturating_sub(self.buffer.len()).max(1));
        &mut self.buffer
    }

    /// Releases the buffer of a client that is idle.
    pub(super) fn release(&mut self) {
        if self.buffer.is_empty() {
            self.buffer = BytesMut::new();
        }
    }
}

#[cfg(test)]
mod tests {
    use rntbd::FrameWriter;

    use super::*;

    fn frame(tokens: usize) -> Vec<u8> {
        let mut out = Vec::new();
        let mut writer = FrameWriter::request(&mut out, 3, 3, [1; 16]);
        let value = vec![7; tokens - 7];
        assert!(writer.push(0x7fff, rntbd::Kind::ULongBytes, &value));
        writer.finish(None);
        out
    }

    #[test]
    fn bytes_become_parts_however_they_arrive() {
        let mut bytes = frame(50);
        bytes.extend_from_slice(&5_u32.to_le_bytes());
        bytes.extend_from_slice(b"hello");
        bytes.extend(frame(20));
        for step in [1, 2, 7, bytes.len()] {
            let mut input = Input::new();
            let mut found = Vec::new();
            for chunk in bytes.chunks(step) {
                input.buffer(0).extend_from_slice(chunk);
                while let Some(part) = input.next_part().unwrap() {
                    match &part {
                        Part::Frame(head, _) if head.tokens_len == 50 => input.expect_body_length(),
                        Part::BodyLength(len) => input.expect_body(*len),
                        _ => {}
                    }
                    found.push(part);
                }
            }
            assert_eq!(found.len(), 4, "{step}");
            assert_eq!(found[2], Part::Body(Bytes::from_static(b"hello")), "{step}");
            assert!(!input.is_in_frame());
        }
    }

    #[test]
    fn bodies_are_discarded_without_memory() {
        let mut input = Input::new();
        input.discard(1_000_000);
        for _ in 0..100 {
            input.buffer(0).extend_from_slice(&[0; 10_000]);
            assert!(input.wanted_capacity() <= READ_BYTES);
            if let Some(part) = input.next_part().unwrap() {
                assert_eq!(part, Part::Discarded);
            }
        }
        assert!(!input.is_in_frame());
    }

    #[test]
    fn lengths_that_no_frame_has_break_the_connection() {
        for len in [0_u32, 23, MAX_HEAD_BYTES as u32 + 25, 1 << 31, u32::MAX] {
            let mut input = Input::new();
            let mut head = [0; HEAD_BYTES];
            head[..4].copy_from_slice(&len.to_le_bytes());
            input.buffer(0).extend_from_slice(&head);
            assert_eq!(input.next_part(), Err(BrokenFrame), "{len}");
        }
    }

    #[test]
    fn memory_is_taken_for_what_arrived() {
        let mut input = Input::new();
        input.expect_body(2_000_000);
        assert_eq!(input.wanted_capacity(), TRUSTED_BYTES);
        input.buffer(0).extend_from_slice(&[0; 100_000]);
        assert_eq!(input.wanted_capacity(), 200_000);
        input.buffer(0).extend_from_slice(&[0; 1_500_000]);
        assert_eq!(input.wanted_capacity(), 2_000_000);
    }
}
