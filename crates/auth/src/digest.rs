//! SHA-256 digests, by which names are compared without storing them.

use sha2::{Digest, Sha256};

/// Returns the SHA-256 digest of `bytes`.
pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}
