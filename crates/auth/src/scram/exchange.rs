//! A SCRAM exchange from the server's first message to its last, without I/O.

use std::fmt;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::{
    Malformed,
    attributes::{check_extensions, take, text_of},
    first::ClientFirst,
    mechanism::Mechanism,
    verifier::Verifier,
};

/// Reason why a SCRAM exchange was rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExchangeError {
    /// The message cannot be parsed, or belongs to another exchange.
    Malformed(Malformed),
    /// The password is wrong, or the user does not exist.
    WrongProof,
}

impl From<Malformed> for ExchangeError {
    fn from(malformed: Malformed) -> Self {
        Self::Malformed(malformed)
    }
}

impl fmt::Display for ExchangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(malformed) => malformed.fmt(f),
            Self::WrongProof => f.write_str("the password proof is wrong"),
        }
    }
}

impl std::error::Error for ExchangeError {}

/// Returns the server's part of a nonce. The bytes must be random and new for each exchange: they
/// prevent replays of a recorded proof.
pub fn make_nonce(random: &[u8; 24]) -> String {
    STANDARD.encode(random)
}

/// An exchange that waits for the client's proof, after the server-first message. The caller
/// enforces timeouts and the number of exchanges, and keeps the user's name.
pub struct Exchange {
    mechanism: Mechanism,
    verifier: Verifier,
    /// Verifiers of further passwords that are accepted, with the same salt as `verifier`.
    others: Vec<Verifier>,
    /// The nonce of both sides.
    nonce: String,
    /// The header of the client's first message, in base64, which its final message has to repeat.
    binding: String,
    /// The start of the text that the proof signs: the first messages of client and server, each
    /// followed by a comma. The client's final message completes the text.
    signed: String,
}

impl fmt::Debug for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exchange").field("mechanism", &self.mechanism).finish_non_exhaustive()
    }
}

impl Exchange {
    /// Starts an exchange and returns the server-first message. The verifier is the stored one of
    /// the user's password, or the [faked](Verifier::fake) one of an unknown user; both are handled
    /// alike, so that a client cannot distinguish them. `own_nonce` is from [`make_nonce`].
    pub fn begin(
        mechanism: Mechanism,
        first: &ClientFirst,
        verifier: Verifier,
        own_nonce: &str,
    ) -> (Self, Vec<u8>) {
        let nonce = format!("{}{own_nonce}", first.nonce);
        let salt = STANDARD.encode(&verifier.salt);
        let message = format!("r={nonce},s={salt},i={}", verifier.iterations);
        let signed = format!("{},{message},", first.bare);
        let binding = STANDARD.encode(&first.header);
        let others = Vec::new();
        (Self { mechanism, verifier, others, nonce, binding, signed }, message.into_bytes())
    }

    /// Makes the exchange accept further passwords. Their verifiers must have the salt and the
    /// number of iterations of the verifier passed to `begin`; a verifier with others matches no
    /// proof.
    pub fn with_others(self, others: Vec<Verifier>) -> Self {
        Self { others, ..self }
    }

    /// Checks the client-final message and returns the server-final one, which proves to the client
    /// that the server has the verifier. An error is final, too: a new attempt needs a new
    /// exchange.
    pub fn finish(self, payload: &[u8]) -> Result<Vec<u8>, ExchangeError> {
        self.finish_with_any(payload).map(|(message, _)| message)
    }

    /// Checks the client-final message. Returns the server-final message and the index of the
    /// password that was proved: 0 for the verifier passed to `begin`, 1 and up for those passed to
    /// `with_others`.
    pub fn finish_with_any(self, payload: &[u8]) -> Result<(Vec<u8>, usize), ExchangeError> {
        let (signed, proof) = self.read_final(payload)?;
        let message = [self.signed.as_bytes(), signed.as_bytes()].concat();
        let mut proved = None;
        // All verifiers are checked, so that the time does not reveal which one matches.
        for (at, verifier) in std::iter::once(&self.verifier).chain(&self.others).enumerate() {
            let signature = self.mechanism.sign(&verifier.stored_key, &message);
            let own = self.mechanism.sign(&verifier.server_key, &message);
            let client_key: Zeroizing<Vec<u8>> =
                Zeroizing::new(proof.iter().zip(&signature).map(|(a, b)| a ^ b).collect());
            let found = self.mechanism.hash(&client_key);
            if bool::from(found.ct_eq(&verifier.stored_key)) {
                proved.get_or_insert((own, at));
            }
        }
        let (own, at) = proved.ok_or(ExchangeError::WrongProof)?;
        Ok((format!("v={}", STANDARD.encode(own)).into_bytes(), at))
    }

    /// Returns the signed part of a client-final message, and the proof, which has the length of a
    /// hash.
    fn read_final<'a>(&self, payload: &'a [u8]) -> Result<(&'a str, Vec<u8>), Malformed> {
        let text = text_of(payload)?;
        let (signed, proof) = text.rsplit_once(",p=").ok_or(Malformed("the proof is missing"))?;
        let (binding, rest) = take(signed, "c=", Malformed("the channel binding is missing"))?;
        if binding != self.binding {
            return Err(Malformed("channel binding mismatch"));
        }
        let rest = rest.ok_or(Malformed("the message ends before the nonce"))?;
        let (nonce, rest) = take(rest, "r=", Malformed("the nonce is missing"))?;
        if nonce != self.nonce {
            return Err(Malformed("nonce mismatch"));
        }
        check_extensions(rest)?;
        let proof = STANDARD.decode(proof).map_err(|_| Malformed("the proof is not base64"))?;
        if proof.len() != self.mechanism.hash_bytes() {
            return Err(Malformed("the proof has the wrong length"));
        }
        Ok((signed, proof))
    }
}
