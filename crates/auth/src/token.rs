//! Tokens that let their holder use a permission for a limited time. Only the holder of the secret
//! can issue one, and they are not stored: the permission's rights are looked up when a token is
//! used.
//!
//! ```text
//! base64 of: format (2) | end, seconds since 1970 (8) | version (8) | permission (text) | MAC (32)
//! ```

use base64::{Engine as _, engine::general_purpose::STANDARD};

use crate::{denied::Denied, header::Authorization, key::Key};

/// Minimum lifetime of a resource token in seconds.
pub const MIN_TOKEN_SECONDS: i64 = 10 * 60;
/// Maximum lifetime of a resource token in seconds.
pub const MAX_TOKEN_SECONDS: i64 = 24 * 60 * 60;
/// Default lifetime of a resource token in seconds.
const TOKEN_SECONDS: i64 = 60 * 60;
/// First bytes of a token's content.
const FORMAT: [u8; 2] = [0, 2];
/// Part of the signed text, so that other signatures made with the secret are not accepted as
/// tokens.
const PURPOSE: &[u8] = b"resource token\0";
/// Length of the fixed part: format, end, version.
const FIXED: usize = FORMAT.len() + 8 + 8;

/// A token for one version of a permission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// The path of ids that identifies the permission.
    pub permission: String,
    /// The permission's version when the token was issued; a later version invalidates the token.
    pub version: u64,
}

impl Token {
    /// Issues a token that expires `seconds` seconds after `now_s`, the time of the machine's
    /// clock; without `seconds` it has the default lifetime. Returns `None` if the lifetime is out
    /// of range.
    pub fn issue(&self, secret: &Key, now_s: i64, seconds: Option<i64>) -> Option<String> {
        let seconds = seconds.unwrap_or(TOKEN_SECONDS);
        if !(MIN_TOKEN_SECONDS..=MAX_TOKEN_SECONDS).contains(&seconds) {
            return None;
        }
        let mut content = FORMAT.to_vec();
        content.extend_from_slice(&now_s.saturating_add(seconds).to_be_bytes());
        content.extend_from_slice(&self.version.to_be_bytes());
        content.extend_from_slice(self.permission.as_bytes());
        let mac = secret.sign(&[PURPOSE, &content]);
        content.extend_from_slice(&mac);
        Some(format!("type=resource&ver=1.0&sig={}", STANDARD.encode(content)))
    }

    /// Checks the token in a header and returns its content: first the MAC, then the format and the
    /// expiry; `now_s` is the machine's clock. The caller checks whether the permission still has
    /// this version.
    pub fn check(
        secret: &Key,
        authorization: &Authorization<'_>,
        now_s: i64,
    ) -> Result<Self, Denied> {
        let bytes = STANDARD.decode(authorization.signature()).map_err(|_| Denied::Malformed)?;
        let at = bytes.len().checked_sub(32).ok_or(Denied::Malformed)?;
        let (content, mac) = bytes.split_at_checked(at).ok_or(Denied::Malformed)?;
        let mac = mac.try_into().map_err(|_| Denied::Malformed)?;
        if !bool::from(secret.verifies(&[PURPOSE, content], mac)) {
            return Err(Denied::Signature);
        }
        let (ends, token) = Self::read_content(content).ok_or(Denied::Malformed)?;
        if ends <= now_s { Err(Denied::Expired) } else { Ok(token) }
    }

    /// Reads the expiry and the rest of a token with a valid MAC.
    fn read_content(content: &[u8]) -> Option<(i64, Self)> {
        let (fixed, text) = content.split_at_checked(FIXED)?;
        let numbers = fixed.strip_prefix(&FORMAT)?;
        let (ends, version) = numbers.split_at_checked(8)?;
        let ends = i64::from_be_bytes(ends.try_into().ok()?);
        let version = u64::from_be_bytes(version.try_into().ok()?);
        let permission = String::from_utf8(text.to_vec()).ok()?;
        Some((ends, Self { permission, version }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(permission: &str, version: u64) -> Token {
        Token { permission: permission.to_owned(), version }
    }

    fn check(secret: &Key, token: &str, now_s: i64) -> Result<Token, Denied> {
        Token::check(secret, &Authorization::parse(token)?, now_s)
    }

    #[test]
    fn a_token_says_what_it_was_made_for_until_it_ends() {
        let secret = Key::of(&[7; 32]).unwrap();
        for (made, seconds, ends) in [
            (token("d/u/p", 7), None, 4600),
            (token("d/u/é日", u64::MAX), Some(600), 1600),
            (token("", 0), Some(86_400), 87_400),
        ] {
            let text = made.issue(&secret, 1000, seconds).unwrap();
            assert_eq!(check(&secret, &text, 1000), Ok(made.clone()));
            assert_eq!(check(&secret, &text, ends - 1), Ok(made));
            assert_eq!(check(&secret, &text, ends), Err(Denied::Expired));
            let other = Key::of(&[8; 32]).unwrap();
            assert_eq!(check(&other, &text, 1000), Err(Denied::Signature));
        }
        for seconds in [i64::MIN, -1, 0, 599, 86_401, i64::MAX] {
            assert_eq!(token("p", 1).issue(&secret, 0, Some(seconds)), None);
        }
    }

    #[test]
    fn no_byte_of_a_token_can_be_changed() {
        let secret = Key::of(&[7; 32]).unwrap();
        let text = token("d/u/p", 1).issue(&secret, 0, None).unwrap();
        let (head, sig) = text.split_once("sig=").unwrap();
        let bytes = STANDARD.decode(sig).unwrap();
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            let changed = format!("{head}sig={}", STANDARD.encode(changed));
            assert_eq!(check(&secret, &changed, 0), Err(Denied::Signature), "{at}");
        }
        for len in 0..bytes.len() {
            let cut = format!("{head}sig={}", STANDARD.encode(&bytes[..len]));
            assert!(check(&secret, &cut, 0).is_err(), "{len}");
        }
        assert_eq!(check(&secret, "type=resource&ver=1&sig=%21", 0), Err(Denied::Malformed));
    }

    #[test]
    fn content_of_another_format_is_no_token() {
        let secret = Key::of(&[7; 32]).unwrap();
        let long = [0, 2, 0, 0, 0, 0, 0, 0, 9, 9, 0, 0, 0, 0, 0, 0, 0, 7, 0xff];
        for content in [&b""[..], &[0, 2], &[1; 40], &[0, 3, 9, 9], &long[..17], &long] {
            let mut bytes = content.to_vec();
            bytes.extend_from_slice(&secret.sign(&[PURPOSE, content]));
            let text = format!("type=resource&ver=1.0&sig={}", STANDARD.encode(bytes));
            assert_eq!(check(&secret, &text, 0), Err(Denied::Malformed), "{content:?}");
        }
    }
}
