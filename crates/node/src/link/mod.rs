//! The link between nodes: a connection over which a node forwards a client's stream to another. A
//! handshake authenticates both sides by the cluster's secret and states the purpose; after that
//! the stream is the client's own.
//!
//! ```text
//! called → caller   magic, challenge (32 bytes)
//! caller → called   length (u16), the call as JSON, signature over challenge and call
//! called → caller   verdict (1 byte), signature over the caller's nonce, challenge and verdict
//! ```
//!
//! Signatures are HMAC-SHA-256 with a key derived from the secret. If certificates are configured,
//! all of this runs inside mutually authenticated TLS.

mod alive;
mod call;
mod dial;
mod frames;
mod handshake;
mod tls;

pub(crate) use alive::keep_alive;
pub(crate) use call::{Call, CallReply, ForwardedClient, ForwardedLogin, Purpose};
pub(crate) use dial::{Dialer, Unreached};
pub(crate) use frames::{read_frame, write_frame};
pub(crate) use handshake::{IncomingCall, accept_handshake};
pub(crate) use tls::LinkTls;
