//! HTTP: connections, with TLS or without on the same port, bodies within limits, answers. What a
//! request means is not decided here.

mod active_requests;
mod answer;
mod body;
mod connection;
mod counted_bytes;
mod exchange;
mod head;
mod http2;
mod linger;
mod protocol;

mod relay;
mod respond;
mod response_body;

mod stream;
#[cfg(test)]
mod tests;

pub use connection::serve;
pub use stream::Stream;
