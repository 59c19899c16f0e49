//! Tokens that let their holder at one resource for a time. Only who has the secret can make one;
//! nothing about them is stored.

use base64::{Engine as _, engine::general_purpose::STANDARD};

use crate::{
    Authorization, Denied, Key,
    limits::{MAX_TOKEN_SECONDS, MIN_TOKEN_SECONDS, TOKEN_SECONDS},
};

/// First byte of a token's content.
const FORMAT: u8 = 1;
/// What separates these signatures from all others that the secret makes.
const PURPOSE: &[u8] = b"resource token\0";
/// Bytes before the texts: format, mode, the end, the length of the link.
const FIXED: usize = 1 + 1 + 8 + 4;

/// What a token's holder may do with the resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenMode {
    /// Read and query.
    Read,
    /// Everything.
    All,
}

/// What a token is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// Link of the resource, without slashes around it.
    pub resource: String,
    /// Partition key, as it would stand in a header, that the token is limited to.
    pub partition: Option<String>,
    /// What is allowed.
    pub mode: TokenMode,
}

impl Scope {
    /// A token for this that ends `seconds` from now, or after the usual time; by the machine's
    /// clock. `None`: a token may not live that long, or that short.
    pub fn issue(&self, secret: &Key, now_s: i64, seconds: Option<i64>) -> Option<String> {
        let seconds = seconds.unwrap_or(TOKEN_SECONDS);
        if !(MIN_TOKEN_SECONDS..=MAX_TOKEN_SECONDS).contains(&seconds) {
            return None;
        }
        let mut content = vec![FORMAT];
        content.push(match self.mode {
            TokenMode::Read => b'r',
            TokenMode::All => b'a',
        });
        content.extend_from_slice(&now_s.saturating_add(seconds).to_be_bytes());
        let len = u32::try_from(self.resource.len()).ok()?;
        content.extend_from_slice(&len.to_be_bytes());
        content.extend_from_slice(self.resource.as_bytes());
        if let Some(partition) = &self.partition {
            content.push(1);
            content.extend_from_slice(partition.as_bytes());
        }
        let mac = secret.sign(&[PURPOSE, &content]);
        content.extend_from_slice(&mac);
        Some(format!("type=resource&ver=1.0&sig={}", STANDARD.encode(content)))
    }

    /// What the token in a header is for, if it is one of ours and its time is not over.
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
        let (ends, scope) = Self::read(content).ok_or(Denied::Malformed)?;
        if ends <= now_s { Err(Denied::Expired) } else { Ok(scope) }
    }

    fn read(content: &[u8]) -> Option<(i64, Self)> {
        let (fixed, texts) = content.split_at_checked(FIXED)?;
        let mode = match fixed.get(..2)? {
            [FORMAT, b'r'] => TokenMode::Read,
            [FORMAT, b'a'] => TokenMode::All,
            _ => return None,
        };
        let ends = i64::from_be_bytes(fixed.get(2..10)?.try_into().ok()?);
        let len = u32::from_be_bytes(fixed.get(10..14)?.try_into().ok()?);
        let (resource, rest) = texts.split_at_checked(usize::try_from(len).ok()?)?;
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok();
        let partition = match rest.split_first() {
            None => None,
            Some((_, partition)) => Some(text(partition)?),
        };
        Some((ends, Self { resource: text(resource)?, partition, mode }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(partition: Option<&str>, mode: TokenMode) -> Scope {
        let partition = partition.map(str::to_owned);
        Scope { resource: "dbs/d/colls/c".to_owned(), partition, mode }
    }

    fn check(secret: &Key, token: &str, now_s: i64) -> Result<Scope, Denied> {
        Scope::check(secret, &Authorization::parse(token)?, now_s)
    }

    #[test]
    fn a_token_says_what_it_was_made_for_until_it_ends() {
        let secret = Key::of(&[7; 32]).unwrap();
        for (scope, seconds, ends) in [
            (scope(None, TokenMode::Read), None, 4600),
            (scope(Some("[\"a\"]"), TokenMode::All), Some(600), 1600),
            (scope(Some(""), TokenMode::All), Some(86_400), 87_400),
        ] {
            let token = scope.issue(&secret, 1000, seconds).unwrap();
            assert_eq!(check(&secret, &token, 1000), Ok(scope.clone()));
            assert_eq!(check(&secret, &token, ends - 1), Ok(scope));
            assert_eq!(check(&secret, &token, ends), Err(Denied::Expired));
            let other = Key::of(&[8; 32]).unwrap();
            assert_eq!(check(&other, &token, 1000), Err(Denied::Signature));
        }
        for seconds in [i64::MIN, -1, 0, 599, 86_401, i64::MAX] {
            assert_eq!(scope(None, TokenMode::All).issue(&secret, 0, Some(seconds)), None);
        }
    }

    #[test]
    fn no_byte_of_a_token_can_be_changed() {
        let secret = Key::of(&[7; 32]).unwrap();
        let token = scope(Some("[1]"), TokenMode::Read).issue(&secret, 0, None).unwrap();
        let (head, sig) = token.split_once("sig=").unwrap();
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
}
