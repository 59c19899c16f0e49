//! Continuation tokens: where a feed or query goes on, good only for the container and question
//! that they were given for, and only on this server.
//!
//! A token is base64 of a format byte, a signature of 32 bytes and the state. The state is not
//! secret, but a client cannot make one up: the signature covers it together with what the token is
//! for. So what is read from a token needs no checks against forgery, and a token for one question
//! cannot be used for another one.
//!
//! ```text
//! byte 0    bytes 1..33            bytes 33..
//! format    HMAC over (purpose,    state: a row key, or the place
//!           what it is for, state)  in the order of a query
//! ```
//!
//! A restart keeps tokens good, because the key lies with the data.

use auth::Key;
use base64::{Engine as _, engine::general_purpose::STANDARD};

use crate::{
    failure::{Failure, Result},
    limits::MAX_CONTINUATION_BYTES,
};

/// First byte of a token. Another one will tell another layout apart.
const FORMAT: u8 = 1;
/// What separates these signatures from all others that the server makes with the same key, so that
/// no other text of its can pass for a token.
const PURPOSE: &[u8] = b"continuation\0";
/// Bytes of the signature.
const MAC_BYTES: usize = 32;

/// The text of a token. `about` says what it is for and is not part of it, so the request that
/// brings the token has to say it again.
pub(crate) fn seal_token(secret: &Key, about: &[&[u8]], state: &[u8]) -> String {
    let mut token = vec![FORMAT];
    token.extend_from_slice(&sign_parts(about, state, |parts| secret.sign(parts)));
    token.extend_from_slice(state);
    STANDARD.encode(token)
}

/// The state in a token, if it was given for this. All failures are the same text: which check
/// failed tells nobody but an attacker something.
pub(crate) fn open_token(secret: &Key, about: &[&[u8]], token: &str) -> Result<Vec<u8>> {
    let refused = || Failure::bad_request("Invalid Continuation Token");
    // Decoding and signing cost time for each byte, so a text that no token can be is not looked
    // at.
    if MAX_CONTINUATION_BYTES < token.len() {
        return Err(refused());
    }
    let bytes = STANDARD.decode(token.trim()).map_err(|_| refused())?;
    let Some((&FORMAT, rest)) = bytes.split_first() else { return Err(refused()) };
    let (mac, state) = rest.split_first_chunk::<MAC_BYTES>().ok_or_else(refused)?;
    // The comparison takes the same time wherever the first difference is, so nobody can find a
    // signature byte by byte.
    if !sign_parts(about, state, |parts| bool::from(secret.verifies(parts, mac))) {
        return Err(refused());
    }
    Ok(state.to_vec())
}

/// Hands over what is signed: every part with its length before it, so that no part can borrow
/// bytes from the next.
fn sign_parts<T>(about: &[&[u8]], state: &[u8], with: impl FnOnce(&[&[u8]]) -> T) -> T {
    let lens: Vec<[u8; 8]> = about.iter().map(|part| (part.len() as u64).to_be_bytes()).collect();
    let mut parts: Vec<&[u8]> = vec![PURPOSE];
    // Without the lengths ("ab", "c") and ("a", "bc") would have one signature.
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
