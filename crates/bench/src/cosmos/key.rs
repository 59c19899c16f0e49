//! The account's master key and its signatures.

use std::{fmt, str::FromStr};

use base64::{Engine, prelude::BASE64_STANDARD};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// The public key of every emulator.
pub(crate) const EMULATOR: &str =
    "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==";

/// A signing key with precomputed key blocks, so that a signature only hashes the signed text.
#[derive(Clone)]
pub(crate) struct Key(Hmac<Sha256>);

impl Key {
    /// Appends the value of the header `authorization`, percent-encoded as SDKs send it. `link` is
    /// the link to be signed; `date` has to be in lower case.
    pub(crate) fn sign_request(
        &self,
        verb: &str,
        kind: &str,
        link: &str,
        date: &str,
        out: &mut Vec<u8>,
    ) {
        let mut mac = self.0.clone();
        for part in [verb, "\n", kind, "\n", link, "\n", date, "\n\n"] {
            mac.update(part.as_bytes());
        }
        let mut text = [0; 44];
        let written = BASE64_STANDARD.encode_slice(mac.finalize().into_bytes(), &mut text);
        out.extend_from_slice(b"type%3Dmaster%26ver%3D1.0%26sig%3D");
        for byte in text.iter().take(written.unwrap_or(0)) {
            match byte {
                b'+' => out.extend_from_slice(b"%2B"),
                b'/' => out.extend_from_slice(b"%2F"),
                b'=' => out.extend_from_slice(b"%3D"),
                byte => out.push(*byte),
            }
        }
    }
}

impl FromStr for Key {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bytes = BASE64_STANDARD
            .decode(text)
            .map_err(|error| format!("the key is not base64: {error}"))?;
        if bytes.is_empty() {
            return Err("the key is empty".to_owned());
        }
        Hmac::new_from_slice(&bytes).map(Self).map_err(|error| error.to_string())
    }
}

/// Hides the key, so that no log shows it.
impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures() {
        let documented = "dsZQi3KtZmCv1ljt3VNWNm7sQUF1y5rJfC6kv5JiwvW0EndXdDku/dkKBp8/ufDToSxLzR4y+O/0H/t4bQtVNw==";
        for (key, verb, kind, link, date, want) in [
            (
                documented,
                "get",
                "dbs",
                "dbs/ToDoList",
                "thu, 27 apr 2017 00:51:12 gmt",
                "c09PEVJrgp2uQRkr934kFbTqhByc7TVr3OHyqlu%2Bc%2Bc%3D",
            ),
            (
                EMULATOR,
                "post",
                "docs",
                "dbs/Db/colls/C",
                "tue, 29 feb 2000 00:00:00 gmt",
                "N38j8ZmHieoity8z1gDULZ1p2kc2ZLKcbY%2FcRjfAwAU%3D",
            ),
            (
                EMULATOR,
                "get",
                "",
                "",
                "tue, 29 feb 2000 00:00:00 gmt",
                "rQFX%2Fcaa7S%2BR%2B1ze17QTbssDG8M%2F0pJJoeUPFv9ZRbM%3D",
            ),
        ] {
            let mut out = Vec::new();
            key.parse::<Key>().unwrap().sign_request(verb, kind, link, date, &mut out);
            let want = format!("type%3Dmaster%26ver%3D1.0%26sig%3D{want}");
            assert_eq!(String::from_utf8(out).unwrap(), want, "{verb} {link}");
        }
    }

    #[test]
    fn keys() {
        for (text, want) in [
            (EMULATOR, None),
            ("", Some("empty")),
            ("not base64!", Some("not base64")),
            ("C2y6yDjf5", Some("not base64")),
        ] {
            match (text.parse::<Key>(), want) {
                (Ok(key), None) => assert_eq!(format!("{key:?}"), "Key"),
                (Err(error), Some(want)) => assert!(error.contains(want), "{text}: {error}"),
                (got, want) => panic!("{text}: {got:?} instead of {want:?}"),
            }
        }
    }
}
