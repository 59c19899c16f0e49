//! HTTP: connections, with TLS or without on the same port, bodies within limits, answers. What a
//! request means is not decided here.

mod answer;
mod body;
mod connection;
mod exchange;
mod head;
mod held;
mod http2;
mod linger;
mod opening;
mod relay;
mod respond;
mod sent;
mod stream;
#[cfg(test)]
mod tests;
mod turns;

pub use connection::serve;
pub use stream::Stream;
