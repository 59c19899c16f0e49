//! The error of a malformed message or password.

use std::fmt;

/// What is wrong with a message or a password, as part of a sentence. It contains nothing that was
/// sent, so that it can be logged and shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed(pub &'static str);

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for Malformed {}
