//! One exchange from the server's first message to its last, as a machine without I/O.

use std::fmt;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::{
    attributes::{check_extensions, take, text_of},
    first::ClientFirst,
    malformed::Malformed,
    mechanism::Mechanism,
    verifier::Verifier,
};

/// Why nobody is signed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failed {
    /// The message cannot be read, or belongs to another exchange.
    Malformed(Malformed),
    /// The password is another one, or there is no such user.
    WrongProof,
}

impl From<Malformed> for Failed {
    fn from(malformed: Malformed) -> Self {
        Self::Malformed(malformed)
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(malformed) => malformed.fmt(f),
            Self::WrongProof => f.write_str("the proof of the password is wrong"),
        }
    }
}

impl std::error::Error for Failed {}

/// Returns the server's part of a nonce. The bytes have to be random and new for each exchange: they keep
/// a recorded proof from being used again.
pub fn make_nonce(random: &[u8; 24]) -> String {
    STANDARD.encode(random)
}

/// An exchange whose server-first message was made, and that waits for the client's proof. It has no
/// clock: for how long it waits, and how many there may be, is the caller's business. The user's name
/// is the caller's to remember.
pub struct Exchange {
    mechanism: Mechanism,
    verifier: Verifier,
    /// The nonce of both sides.
    nonce: String,
    /// What the client has to repeat of its first message, in base64.
    binding: String,
    /// What both sides sign, but for the client's last part: the two messages before it, each with a
    /// comma behind it.
    signed: String,
}

impl fmt::Debug for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exchange").field("mechanism", &self.mechanism).finish_non_exhaustive()
    }
}

impl Exchange {
    /// Begins an exchange and returns the server-first message. The verifier is what is stored of the
    /// user's password, or the [faked](Verifier::fake) one of a user who does not exist; both take the
    /// same path. `own_nonce` comes from [`make_nonce`].
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
        (Self { mechanism, verifier, nonce, binding, signed }, message.into_bytes())
    }

    /// Checks the client-final message and returns the server-final one, by which the client sees that
    /// the server knows what is stored of the password. Any other end is final too: whoever wants to try
    /// again begins anew.
    pub fn finish(self, payload: &[u8]) -> Result<Vec<u8>, Failed> {
        let (signed, proof) = self.read_final(payload)?;
        let message = [self.signed.as_bytes(), signed.as_bytes()].concat();
        let signature = self.mechanism.sign(&self.verifier.stored_key, &message);
        let own = self.mechanism.sign(&self.verifier.server_key, &message);
        let client_key: Zeroizing<Vec<u8>> =
            Zeroizing::new(proof.iter().zip(&signature).map(|(a, b)| a ^ b).collect());
        let found = self.mechanism.hash(&client_key);
        if bool::from(found.ct_eq(&self.verifier.stored_key)) {
            Ok(format!("v={}", STANDARD.encode(own)).into_bytes())
        } else {
            Err(Failed::WrongProof)
        }
    }

    /// Returns of a client-final message what is signed, and the proof, which has the length of a hash.
    fn read_final<'a>(&self, payload: &'a [u8]) -> Result<(&'a str, Vec<u8>), Malformed> {
        let text = text_of(payload)?;
        let (signed, proof) =
            text.rsplit_once(",p=").ok_or(Malformed("there is no proof at the end"))?;
        let (binding, rest) =
            take(signed, "c=", Malformed("there is no channel binding where it belongs"))?;
        if binding != self.binding {
            return Err(Malformed("the channel binding is not that of the first message"));
        }
        let rest = rest.ok_or(Malformed("the message ends before the nonce"))?;
        let (nonce, rest) = take(rest, "r=", Malformed("there is no nonce where it belongs"))?;
        if nonce != self.nonce {
            return Err(Malformed("the nonce is not that of this exchange"));
        }
        check_extensions(rest)?;
        let proof = STANDARD.decode(proof).map_err(|_| Malformed("the proof is not base64"))?;
        if proof.len() != self.mechanism.hash_bytes() {
            return Err(Malformed("the proof has not the length of a hash"));
        }
        Ok((signed, proof))
    }
}
