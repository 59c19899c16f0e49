//! Why a message or a password is not looked at any further.

use std::fmt;

/// What is wrong with a message or a password, as part of a sentence. It repeats nothing of what was
/// sent, so that it can be logged and shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed(pub &'static str);

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for Malformed {}
