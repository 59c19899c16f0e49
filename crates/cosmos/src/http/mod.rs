//! HTTP: connections, with TLS or without on the same port, bodies within limits, answers. What a
//! request means is not decided here.

mod body;
mod certificate;
mod connection;
mod head;
mod http2;
mod opening;
mod respond;
#[cfg(test)]
mod tests;

pub use certificate::{Certificate, NoCertificate};
pub use connection::serve;
