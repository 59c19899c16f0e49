//! The two hash functions of SCRAM, and the computations with them. This module does not parse
//! messages.

use hmac::{
    Hmac, KeyInit, Mac,
    digest::{Digest, Key},
};
use pbkdf2::pbkdf2_hmac;
use sha1::Sha1;
use sha2::Sha256;
use zeroize::{Zeroize, Zeroizing};

/// The hash function of a SCRAM mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mechanism {
    /// SHA-1, for clients without SHA-256.
    Sha1,
    /// SHA-256, for `SCRAM-SHA-256` of current clients.
    Sha256,
}

impl Mechanism {
    /// All mechanisms, the stronger one first.
    pub const ALL: [Self; 2] = [Self::Sha256, Self::Sha1];

    /// Returns the mechanism's name in SASL.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sha1 => "SCRAM-SHA-1",
            Self::Sha256 => "SCRAM-SHA-256",
        }
    }

    /// Returns the mechanism with this SASL name, which is compared case-sensitively.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mechanism| mechanism.name() == name)
    }

    /// Returns the default number of hash iterations of a new password.
    pub fn iterations(self) -> u32 {
        match self {
            Self::Sha1 => 10_000,
            Self::Sha256 => 15_000,
        }
    }

    /// Returns the length of a hash in bytes, which is also that of a key and of a proof.
    pub fn hash_bytes(self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Sha256 => 32,
        }
    }

    /// Returns the length of a new salt in bytes: with PBKDF2's counter appended, it has the length
    /// of a hash.
    pub fn salt_bytes(self) -> usize {
        self.hash_bytes() - 4
    }

    /// Returns the hash of some bytes.
    pub(super) fn hash(self, bytes: &[u8]) -> Vec<u8> {
        match self {
            Self::Sha1 => Sha1::digest(bytes).to_vec(),
            Self::Sha256 => Sha256::digest(bytes).to_vec(),
        }
    }

    /// Returns the HMAC of some bytes with a key of any length.
    pub(super) fn sign(self, key: &[u8], bytes: &[u8]) -> Vec<u8> {
        match self {
            Self::Sha1 => sign::<Sha1, Hmac<Sha1>>(key, bytes),
            Self::Sha256 => sign::<Sha256, Hmac<Sha256>>(key, bytes),
        }
    }

    /// Returns a password hashed `iterations` times with a salt (PBKDF2), the expensive step of a
    /// login.
    pub(super) fn stretch(
        self,
        password: &[u8],
        salt: &[u8],
        iterations: u32,
    ) -> Zeroizing<Vec<u8>> {
        let mut salted = Zeroizing::new(vec![0; self.hash_bytes()]);
        match self {
            Self::Sha1 => pbkdf2_hmac::<Sha1>(password, salt, iterations, &mut salted),
            Self::Sha256 => pbkdf2_hmac::<Sha256>(password, salt, iterations, &mut salted),
        }
        salted
    }
}

/// Returns the HMAC of some bytes. The key is hashed or padded to block length here, as HMAC itself
/// does, because the constructor for a key of that length cannot fail.
fn sign<D, M>(key: &[u8], bytes: &[u8]) -> Vec<u8>
where
    D: Digest,
    M: Mac + KeyInit,
{
    let mut block = Key::<M>::default();
    let hashed;
    let key = if key.len() <= block.len() {
        key
    } else {
        hashed = D::digest(key);
        &hashed
    };
    for (to, from) in block.iter_mut().zip(key) {
        *to = *from;
    }
    let mut state = <M as KeyInit>::new(&block);
    block.as_mut_slice().zeroize();
    state.update(bytes);
    state.finalize().into_bytes().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_sizes() {
        for (mechanism, name, iterations, hash, salt) in [
            (Mechanism::Sha1, "SCRAM-SHA-1", 10_000, 20, 16),
            (Mechanism::Sha256, "SCRAM-SHA-256", 15_000, 32, 28),
        ] {
            assert_eq!(mechanism.name(), name);
            assert_eq!(Mechanism::from_name(name), Some(mechanism));
            assert_eq!(mechanism.iterations(), iterations);
            assert_eq!((mechanism.hash_bytes(), mechanism.salt_bytes()), (hash, salt));
            assert_eq!(mechanism.hash(b"").len(), hash);
            assert_eq!(mechanism.sign(b"", b"").len(), hash);
        }
        let long = "SCRAM-SHA-256".repeat(1000);
        for name in ["", "scram-sha-1", "SCRAM-SHA-1-PLUS", "SCRAM-SHA-256 ", "PLAIN", &long] {
            assert_eq!(Mechanism::from_name(name), None, "{name}");
        }
    }

    /// The expected values are from the HMAC library, which accepts keys of any length.
    #[test]
    fn keys_of_all_lengths_sign_as_hmac_does() {
        for length in 0..200 {
            let key: Vec<u8> = (1..=length).collect();
            let mut sha1 = Hmac::<Sha1>::new_from_slice(&key).unwrap();
            sha1.update(b"bytes");
            assert_eq!(Mechanism::Sha1.sign(&key, b"bytes"), sha1.finalize().into_bytes().to_vec());
            let mut sha256 = Hmac::<Sha256>::new_from_slice(&key).unwrap();
            sha256.update(b"bytes");
            let want = sha256.finalize().into_bytes().to_vec();
            assert_eq!(Mechanism::Sha256.sign(&key, b"bytes"), want, "{length}");
        }
    }
}
