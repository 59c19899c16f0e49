//! Failures of evaluation, classified by what the caller does next. Failures of one language have
//! that language's numbers; the numbers of failures that both share are in `numbers`.

use std::fmt;

/// The class of a failure, which decides how the caller reacts.
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
    /// The operation was interrupted by its watch.
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
    /// The class, which decides how the caller reacts.
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
