//! A text that is read in parts, of which no more is held than may be.

use crate::limits::{KEPT_LINE_BYTES, MAX_LINE_BYTES};

/// It, and how long it is, of which the beginning alone is held when it is longer than [`MAX_LINE_BYTES`].
#[derive(Debug, Default)]
pub(super) struct Bounded {
    pub(super) bytes: Vec<u8>,
    length: usize,
}

impl Bounded {
    pub(super) fn push(&mut self, part: &[u8]) {
        if self.length + part.len() <= MAX_LINE_BYTES {
            self.bytes.extend_from_slice(part);
        } else if self.length <= MAX_LINE_BYTES {
            // Nothing is read out of it.
            self.bytes.truncate(KEPT_LINE_BYTES);
            self.bytes.shrink_to_fit();
        }
        self.length += part.len();
    }

    pub(super) const fn is_whole(&self) -> bool {
        self.length <= MAX_LINE_BYTES
    }
}
