//! Authentication: checks of signed requests, tokens and passwords as pure functions, limits on
//! guessing, and the host names that a server answers to. No sockets and no storage; time and
//! random bytes are parameters. The NoSQL API uses the crate to check requests, and the portal to
//! check keys; the two decide what a right allows.

mod backoff;
mod current_keys;
mod date;
mod denied;
mod entra;
mod guesses;
mod header;
mod hosts;
mod issuer;
mod key;
mod keys;
pub mod scram;
mod signature;
mod token;

pub use backoff::Backoff;
pub use current_keys::CurrentKeys;
pub use date::http_date;
pub use denied::Denied;
pub use entra::{Bearer, Signers, check_entra};
pub use guesses::GuessLimiter;
pub use header::{Authorization, Credential};
pub use hosts::Hosts;
pub use issuer::Issuer;
pub use key::{InvalidKey, Key};
pub use keys::{Keys, Right, WELL_KNOWN_KEY};
pub use secret::Secret;
pub use signature::StringToSign;
pub use token::{MAX_TOKEN_SECONDS, MIN_TOKEN_SECONDS, Token};

use sha2::{Digest, Sha256};

/// Returns the SHA-256 digest of `bytes`, by which names are compared without storing them.
pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}
