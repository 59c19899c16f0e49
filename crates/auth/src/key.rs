//! One symmetric key, kept as the state of the hash after its bytes: a signature begins with a copy of
//! the state instead of hashing the key again, and the key's bytes are not kept. The state is erased when
//! it is dropped, as it is as good as the key.

use std::fmt;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use subtle::{Choice, ConstantTimeEq};
use zeroize::Zeroizing;

use crate::limits::KEY_BYTES;

/// A text or some bytes cannot be a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAKey;

impl fmt::Display for NotAKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (least, most) = (KEY_BYTES.start(), KEY_BYTES.end());
        write!(f, "a key is the base64 form of {least} to {most} bytes")
    }
}

impl std::error::Error for NotAKey {}

/// A key that signs with HMAC-SHA256.
#[derive(Clone)]
pub struct Key {
    state: Hmac<Sha256>,
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key")
    }
}

impl Key {
    /// Returns the key of a text in base64, of a length that a key may have.
    pub fn parse(text: &str) -> Result<Self, NotAKey> {
        let bytes = Zeroizing::new(STANDARD.decode(text.trim()).map_err(|_| NotAKey)?);
        if !KEY_BYTES.contains(&bytes.len()) {
            return Err(NotAKey);
        }
        Self::of(&bytes)
    }

    /// Returns a key of these bytes, of any length.
    pub fn of(bytes: &[u8]) -> Result<Self, NotAKey> {
        let state = Hmac::<Sha256>::new_from_slice(bytes).map_err(|_| NotAKey)?;
        Ok(Self { state })
    }

    /// Returns the signature of the parts, as if they were one text: callers put separators or prefixes
    /// between them where one part could run into the next.
    pub fn sign(&self, parts: &[&[u8]]) -> [u8; 32] {
        let mut state = self.state.clone();
        for part in parts {
            state.update(part);
        }
        state.finalize().into_bytes().into()
    }

    /// Returns whether a signature is the parts', in a time that does not tell how wrong it is. The result
    /// stays a `Choice`, so that a caller can combine several before it branches.
    pub fn verifies(&self, parts: &[&[u8]], signature: &[u8; 32]) -> Choice {
        self.sign(parts).ct_eq(signature)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_those_of_rfc_4231() {
        let key = Key::of(b"Jefe").unwrap();
        let want = "W9zBRr9gdU5qBCQmCJV1x1oAPwidJzmDnexYuWTsOEM=";
        let whole = key.sign(&[b"what do ya want for nothing?"]);
        assert_eq!(STANDARD.encode(whole), want);
        assert_eq!(key.sign(&[b"what do ya ", b"", b"want for nothing?"]), whole);
        assert!(bool::from(key.verifies(&[b"what do ya want for nothing?"], &whole)));
        assert!(!bool::from(key.verifies(&[b"what do ya want for nothing!"], &whole)));
    }

    #[test]
    fn a_key_is_erased_and_not_printed() {
        fn erases<T: zeroize::ZeroizeOnDrop>(_: &T) {}
        // The state of HMAC is two states of the hash.
        erases(&Sha256::default());
        assert_eq!(format!("{:?}", Key::of(b"planted").unwrap()), "Key");
    }

    #[test]
    fn keys_have_a_form_and_a_length() {
        for (text, good) in [
            (crate::keys::WELL_KNOWN_KEY, true),
            (" MDEyMzQ1Njc4OWFiY2RlZg== \n", true),
            ("MDEyMzQ1Njc4OWFiY2RlZg", false),
            ("c2hvcnQ=", false),
            ("", false),
            ("no base64", false),
        ] {
            assert_eq!(Key::parse(text).is_ok(), good, "{text}");
        }
    }
}
