//! The keys of the Cosmos DB account: two with all rights and two that are read-only, so that one
//! can be replaced while the other is in use.

use secret::Secret;

use crate::key::{InvalidKey, Key};

/// The public key that is built into Azure's emulators and tools. It protects nothing; a server
/// that uses it listens on loopback only.
pub const WELL_KNOWN_KEY: &str =
    "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==";

/// The rights of a key's holder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Right {
    /// All operations, including changes of resources.
    Write,
    /// Only reads of resources, and queries.
    Read,
}

/// A key with its text and its right. The text is kept because the portal shows it to users with
/// that right.
#[derive(Clone, Debug)]
struct NamedKey {
    key: Key,
    text: Secret,
    right: Right,
}

/// The keys of the Cosmos DB account, in the order in which they are tried. A key is identified by
/// its index.
#[derive(Clone, Debug)]
pub struct Keys {
    keys: Vec<NamedKey>,
}

/// Names of the keys in a key file, and their rights.
const NAMES: [(&str, Right); 4] = [
    ("primary", Right::Write),
    ("secondary", Right::Write),
    ("primary-readonly", Right::Read),
    ("secondary-readonly", Right::Read),
];

impl Keys {
    /// Returns keys that consist of the public emulator key alone.
    pub fn well_known() -> Result<Self, InvalidKey> {
        Self::new(&[(WELL_KNOWN_KEY, Right::Write)])
    }

    /// Creates the account's keys from base64 texts.
    pub fn new(keys: &[(&str, Right)]) -> Result<Self, InvalidKey> {
        let keys = keys.iter().map(|(text, right)| {
            let text = text.trim();
            Ok(NamedKey {
                key: Key::parse(text)?,
                text: Secret::from_text(text.to_owned()),
                right: *right,
            })
        });
        Ok(Self { keys: keys.collect::<Result<_, InvalidKey>>()? })
    }

    /// Parses a key file: a line with only a key is the primary one; others are `name = key` with
    /// the names primary, secondary, primary-readonly and secondary-readonly. `#` starts a comment.
    /// The error message contains no key.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut found: Vec<(&str, Right)> = Vec::new();
        let mut seen: Vec<&str> = Vec::new();
        for line in text.lines() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            // A key may end with '=', so only a known name makes the line `name = key`.
            let named = line.split_once('=').and_then(|(name, key)| {
                let name = name.trim();
                let (name, right) = NAMES.iter().find(|(known, _)| *known == name)?;
                Some((*name, key, *right))
            });
            let (name, key, right) = named.unwrap_or(("primary", line, Right::Write));
            if seen.contains(&name) {
                return Err(format!("duplicate key '{name}'"));
            }
            seen.push(name);
            found.push((key, right));
        }
        if !seen.contains(&"primary") {
            return Err("the primary key is missing".to_owned());
        }
        Self::new(&found).map_err(|error| error.to_string())
    }

    /// Returns whether one of the account's keys is the public emulator key.
    pub fn are_well_known(&self) -> bool {
        self.keys.iter().any(|named| named.text.is(WELL_KNOWN_KEY.as_bytes()))
    }

    /// Returns the first key as text, which clients are given.
    pub fn primary(&self) -> &str {
        self.keys.first().and_then(|named| named.text.text()).unwrap_or_default()
    }

    /// Returns the index and right of a key given as text. All keys are compared in constant time,
    /// so that the timing does not reveal how wrong a text is.
    pub fn find_key(&self, text: &str) -> Option<(usize, Right)> {
        let mut found = None;
        for (at, named) in self.keys.iter().enumerate() {
            if named.text.is(text.trim().as_bytes()) && found.is_none() {
                found = Some((at, named.right));
            }
        }
        found
    }

    /// Derives a key for another use from each key of the account. The derived keys change with the
    /// account's keys and reveal nothing about them.
    pub fn derive_keys(&self, label: &[u8]) -> Result<Vec<(Key, Right)>, InvalidKey> {
        let derived = |named: &NamedKey| Ok((Key::of(&named.key.sign(&[label]))?, named.right));
        self.keys.iter().map(derived).collect()
    }

    /// Returns the keys with their rights, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Key, Right)> {
        self.keys.iter().map(|named| (&named.key, named.right))
    }

    /// Returns the keys' texts with their rights, in order.
    pub fn texts(&self) -> impl Iterator<Item = (&Secret, Right)> {
        self.keys.iter().map(|named| (&named.text, named.right))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_files() {
        let key = "MDEyMzQ1Njc4OWFiY2RlZg==";
        for (text, rights) in [
            (format!("{key}\n"), Ok(vec![Right::Write])),
            (
                format!("# keys\nprimary = {key}\nprimary-readonly={key} # r\n\n"),
                Ok(vec![Right::Write, Right::Read]),
            ),
            (format!("{key}\nsecondary={key}"), Ok(vec![Right::Write, Right::Write])),
            (format!("secondary={key}"), Err("the primary key is missing")),
            (format!("{key}\n{key}"), Err("duplicate key 'primary'")),
            (String::new(), Err("the primary key is missing")),
            ("nonsense".to_owned(), Err("a key must be 16 to 256 bytes encoded in base64")),
        ] {
            let found = Keys::parse(&text);
            let found = found.map(|keys| keys.iter().map(|(_, right)| right).collect::<Vec<_>>());
            assert_eq!(found, rights.map_err(str::to_owned), "{text}");
        }
        assert!(Keys::well_known().unwrap().are_well_known());
        assert!(!Keys::parse(key).unwrap().are_well_known());
    }

    #[test]
    fn keys_are_found_by_their_text() {
        let (one, other) = ("MDEyMzQ1Njc4OWFiY2RlZg==", "ZmVkY2JhOTg3NjU0MzIxMA==");
        let keys = Keys::new(&[(one, Right::Write), (other, Right::Read)]).unwrap();
        for (text, want) in [
            (one, Some((0, Right::Write))),
            (" ZmVkY2JhOTg3NjU0MzIxMA==\n", Some((1, Right::Read))),
            ("MDEyMzQ1Njc4OWFiY2RlZg=", None),
            (WELL_KNOWN_KEY, None),
            ("", None),
        ] {
            assert_eq!(keys.find_key(text), want, "{text}");
        }
    }

    #[test]
    fn keys_are_not_printed() {
        let planted = "cGxhbnRlZCBwbGFudGVkIGtleQ==";
        let keys = Keys::parse(&format!("{planted}\nsecondary-readonly = {planted}")).unwrap();
        assert_eq!(keys.primary(), planted);
        for text in [format!("{keys:?}"), format!("{keys:#?}")] {
            assert!(text.contains("Read") && !text.contains(planted), "{text}");
        }
    }

    #[test]
    fn derived_keys_differ_by_key_and_use() {
        let keys =
            Keys::new(&[("MDEyMzQ1Njc4OWFiY2RlZg==", Right::Write), (WELL_KNOWN_KEY, Right::Read)]);
        let keys = keys.unwrap();
        let signed = |label: &[u8]| -> Vec<[u8; 32]> {
            keys.derive_keys(label).unwrap().iter().map(|(key, _)| key.sign(&[b"x"])).collect()
        };
        let (a, b) = (signed(b"a"), signed(b"b"));
        assert_eq!(a, signed(b"a"));
        assert!(a[0] != a[1] && a[0] != b[0] && b[0] != keys.keys[0].key.sign(&[b"x"]));
        assert_eq!(keys.derive_keys(b"a").unwrap()[1].1, Right::Read);
    }
}
