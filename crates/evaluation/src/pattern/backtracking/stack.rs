//! The stack of a search: alternatives that remain to be tried, and registers to restore before.

use memory::{Account, Share};

use crate::error::Error;

/// Maximum number of frames of one search.
const MAX_FRAMES: usize = 1 << 21;
/// Number of frames of the first allocation.
const FIRST: usize = 64;

/// An entry of the stack.
#[derive(Clone, Copy, Debug)]
pub(super) enum Frame {
    /// Continues at an operation and a position.
    Branch { op: u32, at: u32 },
    /// Restores the value of a register.
    Undo { register: u32, value: u32 },
    /// Continues at an operation after a run of characters that ends one character before `at`,
    /// but not before `least`.
    Shorter { op: u32, least: u32, at: u32 },
    /// Continues the run of characters at the operation `op` by one of at most `left` characters.
    Longer { op: u32, at: u32, left: u32 },
    /// Continues at an operation one character before `at`, and so on for `left` characters.
    Before { op: u32, at: u32, left: u32 },
}

/// The stack of a search, whose memory is reserved from the process.
#[derive(Debug, Default)]
pub(super) struct Stack {
    frames: Vec<Frame>,
    share: Share,
}

impl Stack {
    pub(super) fn len(&self) -> usize {
        self.frames.len()
    }

    /// Adds a frame; returns false if there are too many. Fails if the process lacks the memory.
    pub(super) fn push(&mut self, frame: Frame) -> Result<bool, Error> {
        if self.frames.len() == self.frames.capacity() && !self.grow()? {
            return Ok(false);
        }
        self.frames.push(frame);
        Ok(true)
    }

    /// Doubles the room, and reserves its memory.
    fn grow(&mut self) -> Result<bool, Error> {
        let frames = self.frames.len();
        if MAX_FRAMES <= frames {
            return Ok(false);
        }
        let more = if frames == 0 { FIRST } else { frames };
        if frames == 0 {
            self.share = crate::account().map(Account::share).unwrap_or_default();
        }
        self.share.grow(more * size_of::<Frame>())?;
        self.frames.reserve_exact(more);
        Ok(true)
    }

    pub(super) fn pop(&mut self) -> Option<Frame> {
        self.frames.pop()
    }

    pub(super) fn clear(&mut self) {
        self.frames.clear();
    }

    /// Drops the alternatives above a height, but not the registers to restore.
    pub(super) fn cut(&mut self, height: usize) {
        let mut kept = height;
        for at in height..self.frames.len() {
            if let Some(frame @ Frame::Undo { .. }) = self.frames.get(at).copied() {
                if let Some(place) = self.frames.get_mut(kept) {
                    *place = frame;
                }
                kept += 1;
            }
        }
        self.frames.truncate(kept);
    }
}
