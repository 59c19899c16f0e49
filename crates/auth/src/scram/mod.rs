//! SCRAM, the server's side: a client proves that it knows a password without sending it, and the server
//! proves that it knows what is stored of it (RFC 5802 with SHA-1, RFC 7677 with SHA-256). It reads and
//! makes the messages; who sends them, in which frames, and where a [`Verifier`] is stored, is the
//! caller's business. Channel binding is not offered.
//!
//! ```text
//! client-first   n,,n=user,r=NONCE             ClientFirst::parse
//! server-first   r=NONCE+OWN,s=SALT,i=COUNT    Exchange::begin
//! client-final   c=biws,r=NONCE+OWN,p=PROOF    Exchange::finish
//! server-final   v=SIGNATURE
//! ```
//!
//! The order of messages is held by the types: an exchange begins with a client-first message that was
//! read, and ends, whatever comes, with the first client-final message.

mod attributes;
mod exchange;
mod first;
mod malformed;
mod mechanism;
mod password;
#[cfg(test)]
mod tests;
mod verifier;

pub use exchange::{Exchange, Failed, make_nonce};
pub use first::ClientFirst;
pub use malformed::Malformed;
pub use mechanism::Mechanism;
pub use password::prepare_password;
pub use verifier::Verifier;
