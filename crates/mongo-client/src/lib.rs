//! The client side of the MongoDB protocol as bytes: messages, replies, the login. It has no
//! sockets and no clock: `bench` uses it with non-blocking sockets, `transfer` with blocking ones.
//! The server does not use this crate, so that no mistake of one is hidden by the same mistake of
//! the other.
//!
//! ```text
//! wire       builds a request, parses a reply
//! reply      success or error, and the batch of a cursor
//! scram      a SCRAM-SHA-256 login
//! commands   the bodies that open a connection
//! ```

pub mod commands;
mod reply;
mod scram;
mod wire;

pub use reply::{Batch, Reply, whole_number};
pub use scram::Scram;
pub use wire::{Sequence, encode_request, message_length, reply_body};

use std::fmt;

/// Reason why a request to the server failed.
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
