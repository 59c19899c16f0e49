//! The error of a malformed message or password.

use std::fmt;

/// The defect of a message or a password, as part of a sentence. The text contains no received
/// data, so that it can be logged and shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed(pub &'static str);

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for Malformed {}
