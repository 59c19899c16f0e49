//! Continuation tokens: where a feed or query goes on, readable only by this server, good only for
//! the container and question they were given for.

use auth::Key;
use base64::{Engine as _, engine::general_purpose::STANDARD};

use crate::{
    failure::{Failure, Result},
    limits::MAX_CONTINUATION_BYTES,
};

/// First byte of a token.
const FORMAT: u8 = 1;
/// What separates these signatures from all others that the secret makes.
const PURPOSE: &[u8] = b"continuation\0";
/// Bytes of the signature.
const MAC_BYTES: usize = 32;

/// The text of a token. `about` says what it is for and is not part of it.
pub(crate) fn seal_token(secret: &Key, about: &[&[u8]], state: &[u8]) -> String {
    let mut token = vec![FORMAT];
    token.extend_from_slice(&sign_parts(about, state, |parts| secret.sign(parts)));
    token.extend_from_slice(state);
    STANDARD.encode(token)
}

/// What a token says, if it was given for this.
pub(crate) fn open_token(secret: &Key, about: &[&[u8]], token: &str) -> Result<Vec<u8>> {
    let refused = || Failure::bad_request("Invalid Continuation Token");
    if MAX_CONTINUATION_BYTES < token.len() {
        return Err(refused());
    }
    let bytes = STANDARD.decode(token.trim()).map_err(|_| refused())?;
    let Some((&FORMAT, rest)) = bytes.split_first() else { return Err(refused()) };
    let (mac, state) = rest.split_first_chunk::<MAC_BYTES>().ok_or_else(refused)?;
    if !sign_parts(about, state, |parts| bool::from(secret.verifies(parts, mac))) {
        return Err(refused());
    }
    Ok(state.to_vec())
}

/// Hands over what is signed: every part with its length, so that none can borrow from the next.
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
