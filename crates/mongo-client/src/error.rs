//! The errors of a request: the server refuses it, or violates the protocol.

use std::fmt;

/// Why a request to the server failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The server sent bytes that are not a reply to the request.
    Protocol(String),
    /// The server refused a command.
    Server {
        /// Error code that the server sent; 0 if it sent none.
        code: i32,
        /// Error message of the server.
        message: String,
    },
}

/// The result type of this crate's functions.
pub type Result<T> = std::result::Result<T, Error>;

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Protocol(what) => write!(f, "the server violated the protocol: {what}"),
            Self::Server { code, message } => write!(f, "the server refused ({code}): {message}"),
        }
    }
}

impl std::error::Error for Error {}
