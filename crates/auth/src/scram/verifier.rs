//! The verifier of a password, and the fake one of an unknown user. Storage is the caller's task.

use std::fmt;

use zeroize::Zeroizing;

use super::mechanism::Mechanism;
use crate::key::Key;

/// Minimum number of hash iterations of a password, from RFC 7677; clients abort an exchange with
/// fewer.
const MIN_ITERATIONS: u32 = 4096;

/// The stored form of a password, against which proofs are checked. It does not contain the
/// password and does not permit a login, but allows guessing passwords offline and impersonating
/// the server. Its debug output therefore hides the keys.
#[derive(Clone, PartialEq, Eq)]
pub struct Verifier {
    /// Number of iterations of the password hash.
    pub iterations: u32,
    /// Random bytes that were hashed with the password.
    pub salt: Vec<u8>,
    /// The key that a client's proof is checked against.
    pub stored_key: Vec<u8>,
    /// The key of the server's own signature.
    pub server_key: Vec<u8>,
}

impl fmt::Debug for Verifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Verifier").field("iterations", &self.iterations).finish_non_exhaustive()
    }
}

/// Labels for the derived bytes of a fake verifier. In the signed text, the names of mechanism and
/// user follow the label.
const FAKED: [&[u8]; 3] = [b"scram salt\0", b"scram stored key\0", b"scram server key\0"];

impl Verifier {
    /// Computes the verifier of a password. The salt is [`Mechanism::salt_bytes`] new random bytes.
    /// Fewer iterations than `MIN_ITERATIONS` are raised to that
    /// number.
    ///
    /// The password is in the form that clients hash: [prepared](super::prepare_password) for
    /// SHA-256, and the protocol's digest for SHA-1.
    ///
    /// This takes milliseconds and must not block a thread that serves others.
    pub fn of_password(
        mechanism: Mechanism,
        password: &[u8],
        salt: Vec<u8>,
        iterations: u32,
    ) -> Self {
        let iterations = iterations.max(MIN_ITERATIONS);
        let salted = mechanism.stretch(password, &salt, iterations);
        let client_key = Zeroizing::new(mechanism.sign(&salted, b"Client Key"));
        Self {
            iterations,
            salt,
            stored_key: mechanism.hash(&client_key),
            server_key: mechanism.sign(&salted, b"Server Key"),
        }
    }

    /// Returns the verifier of an unknown user. To a client it looks like one stored with the
    /// default number of iterations, and it is always the same for a name and a key of the server.
    /// No proof matches it, since the preimage of its stored key is unknown. Like an exchange of an
    /// existing user, this computes no password hash, so that the duration does not reveal that the
    /// user is unknown.
    pub fn fake(mechanism: Mechanism, user: &str, key: &Key) -> Self {
        let [salt, stored_key, server_key] = FAKED
            .map(|label| key.sign(&[label, mechanism.name().as_bytes(), b"\0", user.as_bytes()]));
        let cut = |bytes: [u8; 32], length| bytes.into_iter().take(length).collect::<Vec<_>>();
        Self {
            iterations: mechanism.iterations(),
            salt: cut(salt, mechanism.salt_bytes()),
            stored_key: cut(stored_key, mechanism.hash_bytes()),
            server_key: cut(server_key, mechanism.hash_bytes()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_user_has_the_same_salt_each_time_and_another_than_others() {
        let (key, other) = (Key::of(&[1; 32]).unwrap(), Key::of(&[2; 32]).unwrap());
        for mechanism in Mechanism::ALL {
            let fake = Verifier::fake(mechanism, "ada", &key);
            assert_eq!(fake, Verifier::fake(mechanism, "ada", &key));
            assert_eq!(fake.salt.len(), mechanism.salt_bytes());
            assert_eq!(fake.stored_key.len(), mechanism.hash_bytes());
            assert_eq!(fake.server_key.len(), mechanism.hash_bytes());
            assert_eq!(fake.iterations, mechanism.iterations());
            let others = [
                Verifier::fake(mechanism, "bob", &key),
                Verifier::fake(mechanism, "ada ", &key),
                Verifier::fake(mechanism, "", &key),
                Verifier::fake(mechanism, "ada", &other),
            ];
            for other in others {
                assert_ne!(fake.salt, other.salt);
                assert_ne!(fake.stored_key, other.stored_key);
                assert_ne!(fake.server_key, other.server_key);
            }
            let keys = [&fake.stored_key[..16], &fake.server_key[..16], &fake.salt[..16]];
            assert!(keys[0] != keys[1] && keys[1] != keys[2] && keys[0] != keys[2]);
        }
        let salts = Mechanism::ALL.map(|mechanism| Verifier::fake(mechanism, "ada", &key).salt);
        assert_ne!(salts[0][..16], salts[1][..16], "one mechanism says nothing of the other");
    }

    #[test]
    fn few_iterations_are_raised() {
        let few =
            |iterations| Verifier::of_password(Mechanism::Sha1, b"pencil", vec![7; 16], iterations);
        for iterations in [0, 1, MIN_ITERATIONS - 1] {
            assert_eq!(few(iterations), few(MIN_ITERATIONS));
        }
        assert_eq!(few(MIN_ITERATIONS + 1).iterations, MIN_ITERATIONS + 1);
    }

    #[test]
    fn keys_are_not_printed() {
        let verifier = Verifier {
            iterations: 4096,
            salt: b"planted salt".to_vec(),
            stored_key: b"planted key".to_vec(),
            server_key: b"planted key".to_vec(),
        };
        assert_eq!(format!("{verifier:?}"), "Verifier { iterations: 4096, .. }");
    }
}
