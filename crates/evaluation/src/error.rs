//! What can go wrong while a plan is evaluated, sorted by what the caller does next. A language's
//! own failures have numbers of its own; those that both languages share stand in `numbers`.

use std::fmt;

/// What the caller does about a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The request does not fit the data or itself: correct it.
    Invalid,
    /// A value has a type the operation does not take.
    TypeMismatch,
    /// The result would be outside the range of its type.
    Overflow,
    /// The edit would change something that may not change, such as the id.
    Immutable,
    /// Two parts of one edit touch the same path.
    Conflict,
    /// A document, a stage or a value would be larger than allowed.
    TooLarge,
    /// Known, but not supported; the message names it.
    Unsupported,
    /// The operation was told to stop.
    Stopped,
    /// Other operations hold the memory that it needs: try again later.
    Short,
    /// No space is left for temporary files.
    Full,
    /// A temporary file failed: try again later.
    Device,
}

/// A failed evaluation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// What the caller does about it.
    pub kind: Kind,
    /// A stable number for this very failure; tests and protocols that number failures use it.
    pub number: i32,
    /// For people; lower case unless a protocol fixes the text.
    pub message: String,
}

impl Error {
    /// A failure of this kind.
    pub fn new(kind: Kind, number: i32, message: impl Into<String>) -> Self {
        Self { kind, number, message: message.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
