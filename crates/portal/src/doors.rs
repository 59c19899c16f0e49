//! What the portal needs of the two APIs. The server implements it and says how they are reached.

use std::{future::Future, net::IpAddr};

use auth::Right;
use axum::{http::Request, response::Response};
use bytes::Bytes;

/// Why a command got no reply. A command that fails has a reply, which says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The MongoDB API is off.
    DoorClosed,
    /// The bytes are not a command; says why.
    Malformed(String),
    /// The command is larger than one may be; says how large that is.
    TooLarge(String),
    /// It ended without a reply: the server is stopping, or the API closed it.
    Ended(String),
}

/// Who sends a command. The portal has authenticated him; the API asks no further.
#[derive(Clone, Copy, Debug)]
pub struct Sender {
    /// What he may do.
    pub right: Right,
    /// Where he is.
    pub peer: Option<IpAddr>,
    /// What all requests of one login have in common, and nobody else's: cursors that it leaves open
    /// belong to it.
    pub session: [u8; 32],
}

/// The two APIs, for senders that the portal has authenticated.
pub trait Doors: Send + Sync + 'static {
    /// Sends a request to the NoSQL API as if it were signed by a key with this right; `None`: the API
    /// is off.
    fn nosql(
        &self,
        right: Right,
        request: Request<Bytes>,
    ) -> impl Future<Output = Option<Response>> + Send;

    /// Runs one command, a BSON document, on a database of the MongoDB API, and returns the reply's
    /// bytes.
    fn mongo(
        &self,
        sender: Sender,
        database: String,
        command: Bytes,
    ) -> impl Future<Output = Result<Bytes, Refused>> + Send;
}
