//! The stored credentials of a user: SCRAM keys, one set for each mechanism. Passwords are not
//! stored. This module neither computes nor compares keys.
//!
//! ```text
//! {"SCRAM-SHA-256": {iterationCount, salt, storedKey, serverKey}, ..}   base64, as in MongoDB
//! {external: true}                                                     authenticated externally
//! ```

use std::fmt;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use document::{DocRef, Document, Value, doc};

use crate::{
    arguments::Args,
    errors::{BadValue, Error, Result, UserDataInconsistent},
};

/// SCRAM with SHA-1, over a digest of the password.
pub(crate) const SCRAM_SHA_1: &str = "SCRAM-SHA-1";
pub(crate) const SCRAM_SHA_256: &str = "SCRAM-SHA-256";

const EXTERNAL: &str = "external";

/// Maximum length of a salt in bytes. MongoDB's salts have 16 and 28 bytes.
const MAX_SALT: usize = 256;

/// The credentials of a user. A user without any cannot log in with a password.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Credentials {
    /// Keys for SCRAM-SHA-1, of 20 bytes.
    pub(crate) sha1: Option<StoredCredential>,
    /// Keys for SCRAM-SHA-256, of 32 bytes.
    pub(crate) sha256: Option<StoredCredential>,
}

/// SCRAM's keys for one mechanism, named as in RFC 5802.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct StoredCredential {
    /// Number of hash iterations, at least 1.
    pub(crate) iterations: u32,
    pub(crate) salt: Vec<u8>,
    /// The key with which a client's proof is verified.
    pub(crate) stored_key: Vec<u8>,
    /// The key from which the server computes its own proof.
    pub(crate) server_key: Vec<u8>,
}

/// Omits the keys, so that no log shows them.
impl fmt::Debug for StoredCredential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredCredential")
            .field("iterations", &self.iterations)
            .finish_non_exhaustive()
    }
}

impl Credentials {
    pub(crate) fn is_empty(&self) -> bool {
        self.sha1.is_none() && self.sha256.is_none()
    }

    /// Returns MongoDB's names of the password mechanisms that the user has keys for, in MongoDB's
    /// order.
    pub(crate) fn mechanisms(&self) -> Vec<&'static str> {
        self.each().map(|(name, _)| name).collect()
    }

    /// Returns the keys for a mechanism, if the user has them.
    pub(crate) fn of(&self, mechanism: &str) -> Option<&StoredCredential> {
        self.each().find(|(name, _)| *name == mechanism).map(|(_, credential)| credential)
    }

    /// Removes the keys of all other mechanisms.
    ///
    /// Fails with 2 if the user has no keys for one of `mechanisms`, since creating them requires
    /// the password.
    pub(crate) fn keep_only(&mut self, mechanisms: &[&str]) -> Result<()> {
        if mechanisms.iter().any(|name| self.of(name).is_none()) {
            let text = "mechanisms field must be a subset of previously set mechanisms";
            return Err(Error::new(BadValue, text));
        }
        if !mechanisms.contains(&SCRAM_SHA_1) {
            self.sha1 = None;
        }
        if !mechanisms.contains(&SCRAM_SHA_256) {
            self.sha256 = None;
        }
        Ok(())
    }

    fn each(&self) -> impl Iterator<Item = (&'static str, &StoredCredential)> {
        let sha1 = self.sha1.iter().map(|credential| (SCRAM_SHA_1, credential));
        sha1.chain(self.sha256.iter().map(|credential| (SCRAM_SHA_256, credential)))
    }

    /// Returns the document that is stored, and shown by `showCredentials`.
    pub(crate) fn to_document(&self) -> Document {
        if self.is_empty() {
            return doc! { "external": true };
        }
        let credentials = self.each();
        credentials
            .map(|(name, credential)| (name.to_owned(), Value::from(credential.to_document())))
            .collect()
    }

    /// Reads a stored document. Fails with 45 if this server cannot have stored it.
    pub(super) fn from_document(document: DocRef<'_>) -> Result<Self> {
        let args = Args::new("credentials", document);
        args.allow_only(&[SCRAM_SHA_1, SCRAM_SHA_256, EXTERNAL])?;
        let credentials = Self {
            sha1: args
                .document(SCRAM_SHA_1)?
                .map(|of| StoredCredential::from_document(of, 20))
                .transpose()?,
            sha256: args
                .document(SCRAM_SHA_256)?
                .map(|of| StoredCredential::from_document(of, 32))
                .transpose()?,
        };
        let is_external = args.bool(EXTERNAL)? == Some(true);
        if is_external == credentials.is_empty() { Ok(credentials) } else { Err(bad(EXTERNAL)) }
    }
}

impl StoredCredential {
    fn to_document(&self) -> Document {
        doc! {
            "iterationCount": i64::from(self.iterations),
            "salt": STANDARD.encode(&self.salt),
            "storedKey": STANDARD.encode(&self.stored_key),
            "serverKey": STANDARD.encode(&self.server_key),
        }
    }

    /// Reads credentials with keys of this many bytes.
    fn from_document(document: DocRef<'_>, key_bytes: usize) -> Result<Self> {
        let args = Args::new("credentials", document);
        args.allow_only(&["iterationCount", "salt", "storedKey", "serverKey"])?;
        let iterations = args.int("iterationCount")?.and_then(|count| u32::try_from(count).ok());
        let credential = Self {
            iterations: iterations
                .filter(|count| 0 < *count)
                .ok_or_else(|| bad("iterationCount"))?,
            salt: bytes(&args, "salt", 1, MAX_SALT)?,
            stored_key: bytes(&args, "storedKey", key_bytes, key_bytes)?,
            server_key: bytes(&args, "serverKey", key_bytes, key_bytes)?,
        };
        Ok(credential)
    }
}

fn bytes(args: &Args<'_>, name: &str, least: usize, most: usize) -> Result<Vec<u8>> {
    let decoded = STANDARD.decode(args.need_str(name)?).map_err(|_| bad(name))?;
    if (least..=most).contains(&decoded.len()) { Ok(decoded) } else { Err(bad(name)) }
}

/// Returns the error for an invalid field. The text names the field and omits its value.
fn bad(name: &str) -> Error {
    Error::new(UserDataInconsistent, format!("stored credentials with an invalid {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn credential(key_bytes: usize) -> StoredCredential {
        StoredCredential {
            iterations: 15000,
            salt: vec![1; 28],
            stored_key: vec![250; key_bytes],
            server_key: vec![3; key_bytes],
        }
    }

    fn read(document: &Document) -> Result<Credentials> {
        Credentials::from_document(DocRef::Tree(document))
    }

    #[test]
    fn credentials_are_read_as_they_were_stored() {
        let (sha1, sha256) = (Some(credential(20)), Some(credential(32)));
        for (credentials, mechanisms) in [
            (Credentials::default(), &[][..]),
            (Credentials { sha1: sha1.clone(), sha256: None }, &[SCRAM_SHA_1]),
            (Credentials { sha1: None, sha256: sha256.clone() }, &[SCRAM_SHA_256]),
            (Credentials { sha1, sha256 }, &[SCRAM_SHA_1, SCRAM_SHA_256]),
        ] {
            assert_eq!(credentials.mechanisms(), mechanisms);
            for mechanism in [SCRAM_SHA_1, SCRAM_SHA_256] {
                let is_there = mechanisms.contains(&mechanism);
                assert_eq!(credentials.of(mechanism).is_some(), is_there, "{mechanism}");
            }
            assert_eq!(read(&credentials.to_document()).unwrap(), credentials);
        }
        let document = Credentials { sha1: Some(credential(20)), sha256: None }.to_document();
        let Some(Value::Document(shown)) = document.get(SCRAM_SHA_1) else {
            panic!("{document:?}")
        };
        assert_eq!(shown.get("serverKey"), Some(&Value::from("AwMDAwMDAwMDAwMDAwMDAwMDAwM=")));
    }

    #[test]
    fn other_credentials_are_refused() {
        let with = |field: &str, value: Value| {
            let mut one = credential(32).to_document();
            one.insert(field, value);
            doc! { "SCRAM-SHA-256": one }
        };
        for document in [
            doc! {},
            doc! { "external": false },
            doc! { "external": true, "SCRAM-SHA-256": credential(32).to_document() },
            doc! { "SCRAM-SHA-1": credential(32).to_document() },
            doc! { "SCRAM-SHA-256": credential(20).to_document() },
            doc! { "SCRAM-SHA-512": credential(20).to_document() },
            doc! { "SCRAM-SHA-256": 1 },
            with("iterationCount", 0.into()),
            with("iterationCount", (-1).into()),
            with("iterationCount", (1_i64 << 40).into()),
            with("salt", "".into()),
            with("salt", "not base64".into()),
            with("salt", STANDARD.encode([0; MAX_SALT + 1]).into()),
            with("storedKey", "AwM=".into()),
            with("serverKey", Value::Null),
            with("more", 1.into()),
        ] {
            assert!(read(&document).is_err(), "{document:?}");
        }
    }

    #[test]
    fn keys_are_not_printed() {
        let printed = format!("{:?}", Credentials { sha1: Some(credential(20)), sha256: None });
        assert!(printed.contains("15000") && !printed.contains("250"), "{printed}");
    }
}
