//! The client side of a SCRAM-SHA-256 login (RFC 7677), as in drivers. Names and passwords are
//! plain ASCII.

use std::fmt;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};

use crate::{Error, Result};

/// Maximum number of hash iterations that a server may request. Higher numbers would only keep the
/// client busy.
const MAX_ROUNDS: u32 = 1_000_000;

/// The client's side of a SCRAM exchange in progress.
pub struct Scram<'a> {
    user: &'a str,
    password: &'a str,
    nonce: String,
}

impl fmt::Debug for Scram<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scram").field("user", &self.user).finish_non_exhaustive()
    }
}

impl<'a> Scram<'a> {
    /// Starts a login with a random nonce.
    pub fn begin(user: &'a str, password: &'a str) -> Self {
        let nonce: [u8; 18] = std::array::from_fn(|_| fastrand::u8(..));
        Self { user, password, nonce: STANDARD.encode(nonce) }
    }

    /// Returns the client's first message without its GS2 header (`n,,`).
    fn bare(&self) -> String {
        let user = self.user.replace('=', "=3D").replace(',', "=2C");
        format!("n={user},r={}", self.nonce)
    }

    /// Returns the client's first message.
    pub fn first(&self) -> String {
        format!("n,,{}", self.bare())
    }

    /// Returns the client's final message for the server's first one, and the server message that
    /// is expected next.
    pub fn answer(&self, server: &str) -> Result<(String, String)> {
        let field = |name: &str| {
            let mut fields = server.split(',');
            let found = fields.find_map(|field| field.strip_prefix(name)?.strip_prefix('='));
            found.ok_or_else(|| Error::Protocol(format!("a login without {name}")))
        };
        let (nonce, rounds) = (field("r")?, field("i")?);
        let salt = STANDARD.decode(field("s")?);
        let salt = salt.map_err(|_| Error::Protocol("a login with a broken salt".to_owned()))?;
        let rounds = rounds.parse().ok().filter(|rounds| (1..=MAX_ROUNDS).contains(rounds));
        let rounds = rounds.filter(|_| nonce.starts_with(&self.nonce));
        let rounds = rounds.ok_or_else(|| Error::Protocol("a login of another".to_owned()))?;
        let password = self.password.as_bytes();
        let salted = pbkdf2::pbkdf2_hmac_array::<Sha256, 32>(password, &salt, rounds);
        let without_proof = format!("c=biws,r={nonce}");
        let signed = format!("{},{server},{without_proof}", self.bare());
        let client_key = keyed(&salted, b"Client Key");
        let signature = keyed(&Sha256::digest(client_key), signed.as_bytes());
        let mut proof = client_key;
        proof.iter_mut().zip(signature).for_each(|(byte, with)| *byte ^= with);
        let of_server = keyed(&keyed(&salted, b"Server Key"), signed.as_bytes());
        let last = format!("{without_proof},p={}", STANDARD.encode(proof));
        Ok((last, format!("v={}", STANDARD.encode(of_server))))
    }
}

fn keyed(key: &[u8], text: &[u8]) -> [u8; 32] {
    // HMAC accepts keys of any length, so this cannot fail.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else { return [0; 32] };
    mac.update(text);
    mac.finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vector_of_rfc_7677() {
        let nonce = "rOprNGfwEbeRWgbNEkqO".to_owned();
        let scram = Scram { user: "user", password: "pencil", nonce };
        assert!(!format!("{scram:?}").contains("pencil"));
        assert_eq!(scram.first(), "n,,n=user,r=rOprNGfwEbeRWgbNEkqO");
        let server = "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096";
        let (last, of_server) = scram.answer(server).unwrap();
        let proof = "p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=";
        let nonce = "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0";
        assert_eq!(last, format!("c=biws,{nonce},{proof}"));
        assert_eq!(of_server, "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=");
        let other = "r=other,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096".to_owned();
        for refused in [other, server.replace("4096", "0"), server.replace("4096", "4000000000")] {
            assert!(scram.answer(&refused).is_err(), "{refused}");
        }
    }
}
