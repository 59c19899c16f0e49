//! The server side of SCRAM: a client proves possession of a password without sending it, and the
//! server proves that it has the verifier (RFC 5802 with SHA-1, RFC 7677 with SHA-256). This module
//! parses and builds the messages; their transport and the storage of a [`Verifier`] belong to the
//! caller. Channel binding is not supported.
//!
//! ```text
//! client-first   n,,n=user,r=NONCE             ClientFirst::parse
//! server-first   r=NONCE+OWN,s=SALT,i=COUNT    Exchange::begin
//! client-final   c=biws,r=NONCE+OWN,p=PROOF    Exchange::finish
//! server-final   v=SIGNATURE
//! ```
//!
//! The types enforce the order of messages: an exchange starts with a parsed client-first message
//! and ends with the first client-final message, whether valid or not.

mod attributes;
mod exchange;
mod first;
mod mechanism;
mod password;
#[cfg(test)]
mod tests;
mod verifier;

pub use exchange::{Exchange, ExchangeError, make_nonce};
pub use first::ClientFirst;
pub use mechanism::Mechanism;
pub use password::prepare_password;
pub use verifier::Verifier;

use std::fmt;

/// The defect of a message or a password, as part of a sentence. The text contains no received
/// data, so that it can be logged and shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed(pub &'static str);

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for Malformed {}
