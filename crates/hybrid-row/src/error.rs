//! The one error of reading: what is wrong, and where.

use std::fmt;

/// A stream that is not valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// What is wrong.
    pub what: &'static str,
    /// Offset of the wrong byte in the stream.
    pub at: usize,
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.what, self.at)
    }
}

impl std::error::Error for Invalid {}

/// The result of reading.
pub(crate) type Result<T> = std::result::Result<T, Invalid>;
