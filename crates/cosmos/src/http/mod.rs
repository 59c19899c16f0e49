//! The HTTP layer: connections with or without TLS on one port, request bodies within limits, and
//! responses. Module `dispatch` executes the requests.
//!
//! ```text
//! socket -> protocol (TLS, HTTP/1 or HTTP/2, by the first bytes)
//!        -> direct (frames within TLS, by the first bytes)
//!        -> connection (HTTP/1) or http2   one future for each client
//!        -> answer                         one request, from its head to its response
//!        -> respond, response_body         headers, and a body that is sent in parts
//!
//! a node of a cluster -> routing: answer here, or forward_pool -> forward to another node
//!                                 of frames: frame_pool -> forward
//! ```
//!
//! A client may send slowly, read slowly, stop in the middle or open many connections. Each of
//! these has a limit of its own: `stream` limits the bytes before a client's first request and the
//! time that it reads nothing, `body` the bytes it sends, `response_body` the unread part of
//! responses, and `linger` the time that a connection is read after it was closed. All limits are
//! defined in `limits`.

mod active_requests;
mod answer;
mod body;
mod connection;
mod forward;
mod forward_pool;
mod frame_pool;
mod head;
mod http2;
mod idle_connections;
mod linger;
mod local_endpoint;
mod protocol;
mod service;

mod relay;
mod replay;
mod respond;
mod response_body;
mod routing;

mod stream;
#[cfg(test)]
mod tests;

pub use connection::serve;
pub use forward::{Duplex, Forwarded, serve_forwarded};
pub use forward_pool::ForwardConnection;
pub use local_endpoint::LocalEndpoint;
pub use routing::{OwnerLookup, RoutingEndpoint, ShardOwner, ShardRouter};
pub use stream::Stream;
