//! Failures of evaluation, classified by what the caller does next. A failure in only one of the
//! two query languages has a number of that language; the numbers of failures in both languages are
//! in [`numbers`].

use std::fmt;

/// The kind of a failure, which decides how the caller reacts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The request is inconsistent or does not fit the data.
    Invalid,
    /// A value has a type that the operation does not accept.
    TypeMismatch,
    /// The result is outside the range of its type.
    Overflow,
    /// The edit would change an immutable field, such as the id.
    Immutable,
    /// Two parts of one edit change the same path.
    Conflict,
    /// A document, a stage or a value would exceed its maximum size.
    TooLarge,
    /// A known feature that is not supported; the message names it.
    Unsupported,
    /// The operation had to end early, for example because its deadline had passed or its client
    /// had disconnected.
    Stopped,
    /// Other operations hold the memory that this operation needs: retry later.
    Short,
    /// There is no space for temporary files.
    Full,
    /// A temporary file failed: retry later.
    Device,
}

/// A failure of evaluation, with number and text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The kind of the failure, which decides how the caller reacts.
    pub kind: Kind,
    /// A stable number of this particular failure, for tests and for protocols that have error
    /// numbers.
    pub number: i32,
    /// Text for users; lower case unless a protocol fixes it.
    pub message: String,
}

impl Error {
    /// Creates a failure with number and text.
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

/// Error numbers that both evaluators share. They are stable, because logs and applications may
/// store them.
///
/// Only the MongoDB API exposes error numbers, so they are taken from MongoDB's list: its drivers
/// depend on them, and the server's MongoDB endpoint returns them unchanged.
pub mod numbers {
    /// Error code: a limit on memory or work was exceeded.
    pub const LIMIT_EXCEEDED: i32 = 146;
    /// Other operations hold the needed memory or too many files are open: retry later.
    pub const BUSY: i32 = 365;
    /// Error code: a value would be nested too deeply.
    pub const TOO_DEEP: i32 = 15;
    /// Error code: a value would exceed the maximum size of a document.
    pub const VALUE_TOO_LARGE: i32 = 10_334;
    /// Error code: a string would exceed the maximum size of a document.
    pub const STRING_TOO_LARGE: i32 = 16_493;
    /// Error code: a regular expression is invalid, too large, or uses an unsupported feature.
    pub const PATTERN_REFUSED: i32 = 51_091;
    /// Error code: an option of a regular expression is unknown.
    pub const PATTERN_OPTION: i32 = 51_108;
}
