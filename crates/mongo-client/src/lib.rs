//! What a client of the MongoDB API says and hears, as bytes: messages, replies, the login. It has no sockets
//! and no clock: `bench` puts it on sockets that do not wait, `transfer` on sockets that do. The server
//! does not link it, so that the two cannot share a mistake.
//!
//! ```text
//! wire       one message: a request built, a reply taken apart
//! reply      refused or not, and what a cursor brought
//! scram      a login by SCRAM-SHA-256
//! commands   the bodies with which a connection begins
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
