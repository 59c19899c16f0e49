//! Failures of a store, sorted by what the caller does next.

use std::fmt;

/// What the caller does about a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// No space is left; nothing was written.
    Full,
    /// Stored bytes are damaged: do not trust them, tell a person.
    Corrupt,
    /// The data directory cannot be used at all: another process, another format, a hole.
    Refused,
    /// The device failed, or the store stopped accepting writes; whether an unanswered commit
    /// took place is not known.
    Unavailable,
    /// The store was opened again since the snapshot was taken, and the snapshot ended with that: a
    /// new one sees at least as much. Nothing else fails with it.
    Reopened,
    /// The snapshot was ended, because the disk space that was kept for it had become too much. Nothing
    /// else fails with it; a new snapshot can be read.
    ViewEnded,
    /// This node does not own what the store has any more. Whether a commit that was not answered took
    /// place is known to the new owner.
    Moved,
    /// The request breaks a limit of this engine, such as the key size.
    Invalid,
}

/// A failed operation of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// What the caller does about it.
    pub kind: Kind,
    /// For people.
    pub message: String,
}

impl Error {
    /// A failure of this kind.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
