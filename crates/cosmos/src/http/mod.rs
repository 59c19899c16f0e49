//! HTTP: connections, with TLS or without on the same port, bodies within limits, answers. What a
//! request means is not decided here.

mod answer;
mod body;
mod certificate;
mod connection;
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

pub(crate) use answer::Sender;
pub use certificate::{Certificate, NoCertificate};
pub use connection::serve;
pub use stream::Stream;
