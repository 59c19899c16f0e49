//! The type of passwords, private keys and other secrets in memory. It keeps them out of logs and
//! out of freed memory. It does not lock memory: a swapped page or a core dump may contain a secret
//! in use.

use std::fmt;

use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

/// Bytes that are overwritten when dropped. `Debug` hides them, and there is neither `Display` nor
/// serialization: they are accessible only by `bytes` and `text`.
///
/// Each clone is overwritten separately. Callers must erase copies of the bytes themselves.
#[derive(Clone)]
pub struct Secret(Zeroizing<Vec<u8>>);

impl Secret {
    /// Takes ownership of a string without copying it, so that no other copy remains.
    pub fn from_text(text: String) -> Self {
        Self::from_bytes(text.into_bytes())
    }

    /// Takes ownership of bytes without copying them, so that no other copy remains.
    pub fn from_bytes(bytes: Vec<u8>) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// Returns the bytes of the secret.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the bytes as a string; `None` if they are not UTF-8.
    pub fn text(&self) -> Option<&str> {
        std::str::from_utf8(&self.0).ok()
    }

    /// Returns whether these bytes are the secret. The time depends only on the lengths and does
    /// not reveal the position of a difference.
    pub fn is(&self, bytes: &[u8]) -> bool {
        self.0.ct_eq(bytes).into()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// Compares in constant time, as [`Secret::is`] does.
impl PartialEq for Secret {
    fn eq(&self, other: &Self) -> bool {
        self.is(other.bytes())
    }
}

impl Eq for Secret {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_secret_is_shown() {
        let secret = Secret::from_text("planted".to_owned());
        let held = Some((1, secret.clone()));
        assert_eq!(format!("{secret:?} {secret:#?}"), "Secret(..) Secret(..)");
        assert_eq!(format!("{held:?}"), "Some((1, Secret(..)))");
        assert_eq!(format!("{:?}", Secret::from_bytes(vec![7; 9])), "Secret(..)", "not its length");
    }

    #[test]
    fn texts_and_bytes_are_what_was_given() {
        let secret = Secret::from_text("pass wörd".to_owned());
        assert_eq!(secret.bytes(), "pass wörd".as_bytes());
        assert_eq!(secret.text(), Some("pass wörd"));
        assert_eq!(Secret::from_bytes(vec![0xff]).text(), None);
        assert_eq!(Secret::from_bytes(Vec::new()).text(), Some(""));
    }

    #[test]
    fn only_the_same_bytes_are_equal() {
        let secret = Secret::from_bytes(b"abc".to_vec());
        for (bytes, same) in
            [(&b"abc"[..], true), (b"abd", false), (b"ab", false), (b"abcd", false), (b"", false)]
        {
            assert_eq!(secret.is(bytes), same, "{bytes:?}");
            assert_eq!(secret == Secret::from_bytes(bytes.to_vec()), same, "{bytes:?}");
        }
        assert!(Secret::from_bytes(Vec::new()).is(b""));
    }

    #[test]
    fn a_text_is_taken_over_and_not_copied() {
        let mut text = String::with_capacity(64);
        text.push_str("planted");
        let at = text.as_ptr();
        assert_eq!(Secret::from_text(text).bytes().as_ptr(), at);
    }

    /// Checks by a trait bound that the type erases its bytes: reading freed memory would be
    /// undefined behavior.
    #[test]
    fn secrets_are_erased_when_they_are_dropped() {
        fn erases<T: zeroize::ZeroizeOnDrop>(_: &T) {}
        let secret = Secret::from_bytes(vec![1]);
        erases(&secret.0);
        assert!(std::mem::needs_drop::<Secret>());
    }
}
