//! Random bytes and secrets from the system.

use std::io;

use auth::Secret;

/// Bytes of a secret, which is a key for HMAC-SHA-256.
const SECRET_BYTES: usize = 32;

/// Returns 32 random bytes that need not stay secret.
pub fn random_bytes() -> io::Result<[u8; SECRET_BYTES]> {
    let mut bytes = [0; SECRET_BYTES];
    fill_randomly(&mut bytes)?;
    Ok(bytes)
}

/// Returns a random secret of 32 bytes.
pub fn random_secret() -> io::Result<Secret> {
    let mut bytes = vec![0; SECRET_BYTES];
    fill_randomly(&mut bytes)?;
    Ok(Secret::from_bytes(bytes))
}

/// Fills a buffer with random bytes; the system call may return fewer than requested.
pub(crate) fn fill_randomly(bytes: &mut [u8]) -> io::Result<()> {
    let mut filled = 0;
    while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        filled += rustix::rand::getrandom(rest, rustix::rand::GetRandomFlags::empty())?;
    }
    Ok(())
}
