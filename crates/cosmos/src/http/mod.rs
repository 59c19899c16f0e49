//! HTTP: connections, with TLS or without on the same port, bodies within limits, responses. What a
//! request means is not decided here.
//!
//! ```text
//! socket -> protocol (TLS, HTTP/1 or HTTP/2, by the first bytes)
//!        -> connection (HTTP/1) or http2   one future for each client
//!        -> answer                         one request, from its head to its response
//!        -> respond, response_body         headers, and a body sent in parts
//!
//! a node of a cluster -> routed: answer here, or passages -> forward at another node
//! ```
//!
//! A client may send slowly, read slowly, stop in the middle or open many connections. Each of
//! these is bounded by a limit of its own: `stream` bounds what a client holds before its first
//! request and how long it may read nothing, `body` what it sends, `response_body` what it is sent
//! and does not take, and `linger` how long a connection is read after its end. All limits stand in
//! `limits`.

mod active_requests;
mod answer;
mod answers;
mod audited;
mod body;
mod connection;
mod counted_bytes;
mod exchange;
mod forward;
mod head;
mod here;
mod http2;
mod linger;
mod passages;
mod protocol;

mod relay;
mod replay;
mod respond;
mod response_body;
mod routed;

mod stream;
#[cfg(test)]
mod tests;

pub use connection::serve;
pub use forward::{Duplex, Forwarded, serve_forwarded};
pub use here::Here;
pub use passages::Passage;
pub use routed::{Entrance, Finding, Way, Ways};
pub use stream::Stream;
