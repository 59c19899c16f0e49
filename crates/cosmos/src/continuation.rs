//! Continuation tokens: the position of a feed or query. A token is valid only for the container
//! and query that it was issued for, and only on this server.
//!
//! A token is base64 of a format byte, a signature of 32 bytes and the state. The state is not
//! secret, but clients cannot forge it: the signature covers it together with the purpose. So the
//! decoded state can be trusted, and a token cannot be used for another query.
//!
//! ```text
//! byte 0    bytes 1..33            bytes 33..
//! format    HMAC over (purpose,    state: a row key, or a position
//!           subject, state)        in the order of a query
//! ```
//!
//! Tokens survive a restart, because the key is stored with the data.

use auth::Key;
use base64::{Engine as _, engine::general_purpose::STANDARD};

use crate::{
    failure::{Failure, Result},
    limits::MAX_CONTINUATION_BYTES,
};

/// First byte of a token, the version of its layout.
const FORMAT: u8 = 1;
/// Prefix of the signed data, so that signatures made with the same key for other purposes are not
/// valid in tokens.
const PURPOSE: &[u8] = b"continuation\0";
const MAC_BYTES: usize = 32;

/// Returns the text of a token. `about` identifies the container and query for which the token is
/// valid; it is signed but not part of the token, so the caller must pass it to `open_token` again.
pub(crate) fn seal_token(secret: &Key, about: &[&[u8]], state: &[u8]) -> String {
    let mut token = vec![FORMAT];
    token.extend_from_slice(&sign_parts(about, state, |parts| secret.sign(parts)));
    token.extend_from_slice(state);
    STANDARD.encode(token)
}

/// Returns the state in a token if the token was issued for `about`. All failures have the same
/// text, since only an attacker would benefit from knowing which check failed.
pub(crate) fn open_token(secret: &Key, about: &[&[u8]], token: &str) -> Result<Vec<u8>> {
    let refused = || Failure::bad_request("Invalid Continuation Token");
    // Decoding and signing cost time per byte, so texts that are too long are refused first.
    if MAX_CONTINUATION_BYTES < token.len() {
        return Err(refused());
    }
    let bytes = STANDARD.decode(token.trim()).map_err(|_| refused())?;
    let Some((&FORMAT, rest)) = bytes.split_first() else { return Err(refused()) };
    let (mac, state) = rest.split_first_chunk::<MAC_BYTES>().ok_or_else(refused)?;
    // A constant-time comparison, so that a signature cannot be found byte by byte.
    if !sign_parts(about, state, |parts| bool::from(secret.verifies(parts, mac))) {
        return Err(refused());
    }
    Ok(state.to_vec())
}

/// Passes the signed parts to `with`: each part of `about` is preceded by its length, so that
/// different lists of parts never have the same signed bytes.
fn sign_parts<T>(about: &[&[u8]], state: &[u8], with: impl FnOnce(&[&[u8]]) -> T) -> T {
    let lens: Vec<[u8; 8]> = about.iter().map(|part| (part.len() as u64).to_be_bytes()).collect();
    let mut parts: Vec<&[u8]> = vec![PURPOSE];
    for (part, len) in about.iter().zip(&lens) {
        parts.extend([len.as_slice(), part]);
    }
    parts.push(state);
    with(&parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_good_for_what_it_was_given_for() {
        let secret = Key::of(&[1; 32]).unwrap();
        let about: &[&[u8]] = &[b"container", b"query"];
        for state in [&b""[..], b"state", &[0; 3000]] {
            let token = seal_token(&secret, about, state);
            assert_eq!(open_token(&secret, about, &token).unwrap(), state);
            let others: [&[&[u8]]; 4] =
                [&[b"other", b"query"], &[b"container"], &[b"containe", b"rquery"], &[]];
            for other in others {
                open_token(&secret, other, &token).unwrap_err();
            }
            open_token(&Key::of(&[2; 32]).unwrap(), about, &token).unwrap_err();
        }
        let token = STANDARD.decode(seal_token(&secret, about, b"state")).unwrap();
        for at in 0..token.len() {
            let mut changed = token.clone();
            changed[at] ^= 1;
            open_token(&secret, about, &STANDARD.encode(changed)).unwrap_err();
            open_token(&secret, about, &STANDARD.encode(&token[..at])).unwrap_err();
        }
        for token in ["", "x", "%%%%", "日本", &"A".repeat(1_000_000)] {
            open_token(&secret, about, token).unwrap_err();
        }
    }
}
