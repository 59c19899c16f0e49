//! The portal's interface to the two APIs, which the server implements.

use std::{future::Future, net::IpAddr};

use auth::Right;
use axum::{http::Request, response::Response};
use bytes::Bytes;

/// Reason why a command got no reply. The failure of a command is itself a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The MongoDB API is disabled.
    ApiDisabled,
    /// The bytes are not a well-formed command, for this reason.
    Malformed(String),
    /// The command exceeds the size limit, which the text names.
    TooLarge(String),
    /// The command ended without a reply: the server is stopping, or the API would have closed a
    /// client's connection.
    Ended(String),
}

/// The authenticated sender of a command. The API performs no further authentication.
#[derive(Clone, Copy, Debug)]
pub struct Sender {
    /// Operations that the sender of the command may execute.
    pub right: Right,
    /// IP address of the sender; `None` if unknown.
    pub peer: Option<IpAddr>,
    /// Identifies the login of the sender. Cursors that a command leaves open belong to this login.
    pub session: [u8; 32],
}

/// The two APIs, for senders that the portal has authenticated.
pub trait Apis: Send + Sync + 'static {
    /// Sends a request to the NoSQL API as if it were signed by a key with this right; returns
    /// `None` if the API is disabled.
    fn nosql(
        &self,
        right: Right,
        request: Request<Bytes>,
    ) -> impl Future<Output = Option<Response>> + Send;

    /// Runs one BSON command on a database of the MongoDB API, and returns the bytes of its reply.
    fn mongo(
        &self,
        sender: Sender,
        database: String,
        command: Bytes,
    ) -> impl Future<Output = Result<Bytes, Refused>> + Send;
}
