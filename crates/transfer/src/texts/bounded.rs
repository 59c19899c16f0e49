//! A text that is read in parts, up to a maximum size.

use crate::limits::{KEPT_LINE_BYTES, MAX_LINE_BYTES};

/// The text and its length; if it is longer than [`MAX_LINE_BYTES`], only its start is kept.
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
            // The start of a text that is too long is kept for the error report only.
            self.bytes.truncate(KEPT_LINE_BYTES);
            self.bytes.shrink_to_fit();
        }
        self.length += part.len();
    }

    pub(super) const fn is_complete(&self) -> bool {
        self.length <= MAX_LINE_BYTES
    }
}
