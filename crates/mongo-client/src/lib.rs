//! The client side of the MongoDB protocol as bytes: messages, replies, the login. It has no
//! sockets and no clock: `bench` uses it with non-blocking sockets, `transfer` with blocking ones.
//! The server does not link it, so that the two cannot share an error.
//!
//! ```text
//! wire       builds a request, parses a reply
//! reply      success or error, and the batch of a cursor
//! scram      a SCRAM-SHA-256 login
//! commands   the bodies that open a connection
//! ```

pub mod commands;
mod error;
mod reply;
mod scram;
mod wire;

pub use error::{Error, Result};
pub use reply::{Batch, Reply, whole_number};
pub use scram::Scram;
pub use wire::{Sequence, encode_request, message_length, reply_body};
