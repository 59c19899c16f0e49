//! Errors of the language: MongoDB's error code and a text. Codes without a name (`Location40324`)
//! are the numbers of single assertions in mongod.

use std::fmt;

/// A request that MongoDB's language does not allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// MongoDB's error code, such as 2 (BadValue) or 40324 (unrecognized stage).
    pub code: i32,
    /// MongoDB's text where it is known.
    pub message: String,
}

impl Error {
    /// An error with this code.
    pub fn new(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    /// 2 BadValue.
    pub fn bad_value(message: impl Into<String>) -> Self {
        Self::new(2, message)
    }

    /// 9 FailedToParse.
    pub fn failed_to_parse(message: impl Into<String>) -> Self {
        Self::new(9, message)
    }

    /// 14 TypeMismatch.
    pub fn type_mismatch(message: impl Into<String>) -> Self {
        Self::new(14, message)
    }

    /// 238 NotImplemented: MongoDB has it, and this server does not. The text names it, so that a
    /// user sees at once what is missing.
    pub(crate) fn unsupported(name: &str) -> Self {
        Self::new(238, format!("{name} is not supported"))
    }
}

/// An evaluator's error as one of the language: it has MongoDB's number already.
impl From<evaluation::Error> for Error {
    fn from(error: evaluation::Error) -> Self {
        Self::new(error.number, error.message)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
