//! Errors of a store, classified by how the caller must react.

use std::fmt;

/// The kind of an error, which determines how the caller has to react.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// No space is left; nothing was written.
    Full,
    /// Stored data is damaged; it must not be used, and the failure has to be reported to the
    /// operator.
    Corrupt,
    /// The data directory is unusable: in use by another process, of another format, or incomplete.
    Refused,
    /// The device failed or the store stopped accepting writes. The outcome of an unacknowledged
    /// commit is unknown.
    Unavailable,
    /// The store was reopened after the snapshot was taken, which ended the snapshot. A new
    /// snapshot includes at least the same commits; other operations are unaffected.
    Reopened,
    /// The snapshot was ended because it retained too much disk space. Other operations are
    /// unaffected, and a new snapshot can be read.
    ViewEnded,
    /// This node no longer owns the data. Only the new owner knows the outcome of an unacknowledged
    /// commit.
    Moved,
    /// The request exceeds a limit of this engine, such as the key size.
    Invalid,
}

/// A failed operation of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The kind of the error.
    pub kind: Kind,
    /// An explanation of the error, as a sentence.
    pub message: String,
}

impl Error {
    /// Creates an error of this kind.
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
