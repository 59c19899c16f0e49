//! The link between nodes: a connection on which one node passes a client's stream to another. It
//! begins with a few messages by which each shows that it knows the cluster's secret and says what the
//! stream is; from then on the stream is the client's own.
//!
//! ```text
//! called → caller   magic, challenge (32 bytes)
//! caller → called   length (u16), the call as JSON, signature over challenge and call
//! called → caller   verdict (1 byte), signature over the caller's nonce, the challenge and the verdict
//! ```
//!
//! Signatures are HMAC-SHA-256 by a key that is derived from the secret. With certificates all of it is
//! inside TLS, which both sides show a certificate for.

mod alive;
mod call;
mod dial;
mod greeting;
mod pieces;
mod tls;

pub(crate) use alive::keep_alive;
pub(crate) use call::{Call, Guest, Passed, Purpose, Verdict};
pub(crate) use dial::{Dialer, Unreached};
pub(crate) use greeting::{Called, greet};
pub(crate) use pieces::{read_piece, write_piece};
pub(crate) use tls::LinkTls;
