//! A symmetric key, stored as the hash state after its bytes: a signature starts with a copy of the
//! state instead of hashing the key again, and the key's bytes are not kept. The state is as
//! sensitive as the key and is erased when dropped.

use std::fmt;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use subtle::{Choice, ConstantTimeEq};
use zeroize::Zeroizing;

/// Permitted key lengths in bytes.
const KEY_BYTES: std::ops::RangeInclusive<usize> = 16..=256;

/// The error of a text or bytes that are not a valid key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidKey;

impl fmt::Display for InvalidKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (least, most) = (KEY_BYTES.start(), KEY_BYTES.end());
        write!(f, "a key must be {least} to {most} bytes encoded in base64")
    }
}

impl std::error::Error for InvalidKey {}

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
    /// Parses a base64 key of a permitted length.
    pub fn parse(text: &str) -> Result<Self, InvalidKey> {
        let bytes = Zeroizing::new(STANDARD.decode(text.trim()).map_err(|_| InvalidKey)?);
        if !KEY_BYTES.contains(&bytes.len()) {
            return Err(InvalidKey);
        }
        Self::of(&bytes)
    }

    /// Creates a key from these bytes, which may have any length.
    pub fn of(bytes: &[u8]) -> Result<Self, InvalidKey> {
        let state = Hmac::<Sha256>::new_from_slice(bytes).map_err(|_| InvalidKey)?;
        Ok(Self { state })
    }

    /// Returns the signature of the concatenated parts. Nothing is inserted between the parts: the
    /// caller adds separators where different parts could have the same concatenation.
    pub fn sign(&self, parts: &[&[u8]]) -> [u8; 32] {
        let mut state = self.state.clone();
        for part in parts {
            state.update(part);
        }
        state.finalize().into_bytes().into()
    }

    /// Checks a signature of the parts in constant time. The result is a `Choice`, so that a caller
    /// can combine several before it branches.
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
        // An HMAC state consists of two hash states.
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
