//! What the portal needs of the doors. The server says how they are reached.

use std::{future::Future, net::IpAddr};

use auth::Right;
use axum::{http::Request, response::Response};
use bytes::Bytes;

/// Why a command got no reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// This door is off.
    DoorClosed,
    /// The bytes are no command.
    Malformed(String),
    /// The command is larger than one may be.
    TooLarge(String),
    /// It ended without a reply.
    Ended(String),
}

/// Who sends a command.
#[derive(Clone, Copy, Debug)]
pub struct Sender {
    /// What he may do.
    pub right: Right,
    /// Where he is.
    pub peer: Option<IpAddr>,
    /// What all his requests have in common and nobody else's have: what he leaves open is his.
    pub session: [u8; 32],
}

/// The doors, for senders who are known.
pub trait Doors: Send + Sync + 'static {
    /// Answers a request as the NoSQL door does for a key with this right; `None`: it is off.
    fn nosql(
        &self,
        right: Right,
        request: Request<Bytes>,
    ) -> impl Future<Output = Option<Response>> + Send;

    /// Runs one command on a database as the MongoDB door does, and answers the reply's bytes.
    fn mongo(
        &self,
        sender: Sender,
        database: String,
        command: Bytes,
    ) -> impl Future<Output = Result<Bytes, Refused>> + Send;
}
