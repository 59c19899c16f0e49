//! The decoding error: a description and its position.

use std::fmt;

/// Why a byte stream cannot be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// Description of the mistake, for the error message.
    pub what: &'static str,
    /// Offset of the invalid byte in the stream.
    pub at: usize,
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.what, self.at)
    }
}

impl std::error::Error for Invalid {}

pub(crate) type Result<T> = std::result::Result<T, Invalid>;
