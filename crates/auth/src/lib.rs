//! Authentication: checks of signed requests, tokens and passwords as pure functions, limits on
//! guessing, and the host names that a server answers to. No sockets and no storage; time and
//! random bytes are parameters. The NoSQL API checks its requests and the portal its keys; they
//! decide what a right allows.

mod backoff;
mod current_keys;
mod date;
mod denied;
mod digest;
mod entra;
mod guesses;
mod header;
mod hosts;
mod issuer;
mod key;
mod keys;
pub mod limits;
pub mod scram;
mod signature;
mod token;

pub use backoff::Backoff;
pub use current_keys::CurrentKeys;
pub use date::http_date;
pub use denied::Denied;
pub use digest::sha256;
pub use entra::{Bearer, Signers, check_entra};
pub use guesses::GuessLimiter;
pub use header::{Authorization, Credential};
pub use hosts::Hosts;
pub use issuer::Issuer;
pub use key::{InvalidKey, Key};
pub use keys::{Keys, Right, WELL_KNOWN_KEY};
pub use secret::Secret;
pub use signature::StringToSign;
pub use token::Token;
