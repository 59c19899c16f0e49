//! Resource ids: short base64 texts that encode the parents of a resource and are never reused.
//! Clients decode these ids: SDKs extract the id of a container from the ids of its items.
//!
//! ```text
//! 4 bytes    database
//! 8 bytes    database, container or user (distinguished by its first bit)
//! 9 bytes    database, client encryption key, the byte 2
//! 16 bytes   the 8 bytes of the container or user, a number of 60 bits, a type of 4 bits
//! ```
//!
//! The number of an item is the commit that created it.

use base64::{
    Engine as _, alphabet,
    engine::general_purpose::{GeneralPurpose, PAD},
};

/// Number of bits of the resource's number in the last eight bytes of an id; the type has the other
/// four.
const NUMBER_BITS: u32 = 60;

/// The standard alphabet with `-` in place of `/`, which separates the parts of a link.
const BASE64: GeneralPurpose = {
    match alphabet::Alphabet::new(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-",
    ) {
        Ok(alphabet) => GeneralPurpose::new(&alphabet, PAD),
        Err(_) => GeneralPurpose::new(&alphabet::URL_SAFE, PAD),
    }
};

/// Type of a resource below a container or user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leaf {
    Item,
    /// A permission; it belongs to a user and shares its type tag with items.
    Permission,
    Range,
    Udf,
    Trigger,
    Procedure,
}

impl Leaf {
    /// Returns the high half of an id's last byte. The values are those of Azure Cosmos DB, since
    /// SDKs decode them.
    const fn type_tag(self) -> u8 {
        match self {
            Self::Item | Self::Permission => 0,
            Self::Range => 5,
            Self::Udf => 6,
            Self::Trigger => 7,
            Self::Procedure => 8,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rid {
    /// A database by its number.
    Database(u32),
    Container {
        database: u32,
        container: u32,
    },
    User {
        database: u32,
        user: u32,
    },
    ClientKey {
        database: u32,
        key: u32,
    },
    /// A resource in a container or of a user; `owner` is the second half of the id of that
    /// container or user.
    Leaf {
        database: u32,
        owner: u32,
        number: u64,
        leaf: Leaf,
    },
}

/// Last byte of a client encryption key's id. Without it the id would equal that of a user.
const CLIENT_KEY: u8 = 2;

/// The bit that distinguishes container numbers from user numbers.
const CONTAINER: u32 = 1 << 31;

/// Returns the text of a resource id that is given as bytes, whether or not it can be assigned.
pub(crate) fn encode_bytes(bytes: &[u8]) -> String {
    BASE64.encode(bytes)
}

impl Rid {
    /// Returns the id as text.
    pub(crate) fn encode(self) -> String {
        let (bytes, len) = self.bytes();
        BASE64.encode(bytes.get(..len).unwrap_or_default())
    }

    /// Appends the id as text without an allocation, since every item read contains two ids.
    pub(crate) fn write_text(self, out: &mut Vec<u8>) {
        let (bytes, len) = self.bytes();
        let mut text = [0; 24];
        let bytes = bytes.get(..len).unwrap_or_default();
        let written = BASE64.encode_slice(bytes, &mut text).unwrap_or(0);
        out.extend(text.iter().take(written));
    }

    /// Returns a buffer with the encoded id, and the length of the id in it.
    fn bytes(self) -> ([u8; 16], usize) {
        let mut bytes = [0; 16];
        let (database, owner, last, len) = match self {
            Self::Database(database) => (database, 0, 0, 4),
            Self::Container { database, container } => (database, container | CONTAINER, 0, 8),
            Self::User { database, user } => (database, user & !CONTAINER, 0, 8),
            Self::ClientKey { database, key } => (database, key & !CONTAINER, CLIENT_KEY.into(), 9),
            Self::Leaf { database, owner, number, leaf } => {
                let number = number & ((1 << NUMBER_BITS) - 1);
                (database, owner, number | u64::from(leaf.type_tag()) << NUMBER_BITS, 16)
            }
        };
        // Big-endian, so that the container bit is the first bit.
        let parts = database.to_be_bytes().into_iter().chain(owner.to_be_bytes());
        for (to, from) in bytes.iter_mut().zip(parts.chain(last.to_le_bytes())) {
            *to = from;
        }
        (bytes, len)
    }

    /// Returns the id of a resource in a container.
    pub(crate) fn in_container(database: u32, container: u32, number: u64, leaf: Leaf) -> Self {
        Self::Leaf { database, owner: container | CONTAINER, number, leaf }
    }

    /// Returns whether this server may assign the id. Databases are numbered from one, so an id
    /// with a large database number is never assigned, and its text is permitted as a name.
    pub(crate) fn may_be_given(self) -> bool {
        let (Self::Database(database)
        | Self::Container { database, .. }
        | Self::User { database, .. }
        | Self::ClientKey { database, .. }
        | Self::Leaf { database, .. }) = self;
        database < 1 << 24
    }

    /// Parses an id; returns `None` if the text is not one.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if 24 < text.len() {
            return None;
        }
        let mut buffer = [0; 18];
        let len = BASE64.decode_slice(text, &mut buffer).ok()?;
        let bytes = buffer.get(..len)?;
        let four = |at: usize| -> Option<u32> {
            Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
        };
        let database = four(0)?;
        match len {
            4 => Some(Self::Database(database)),
            8 => Some(match four(4)? {
                owner if owner & CONTAINER == 0 => Self::User { database, user: owner },
                owner => Self::Container { database, container: owner & !CONTAINER },
            }),
            9 if bytes.get(8) == Some(&CLIENT_KEY) && four(4)? & CONTAINER == 0 => {
                Some(Self::ClientKey { database, key: four(4)? })
            }
            16 => {
                let last = u64::from_le_bytes(bytes.get(8..16)?.try_into().ok()?);
                let owner = four(4)?;
                let leaf = match ((last >> NUMBER_BITS) as u8, owner & CONTAINER) {
                    (0, 0) => Leaf::Permission,
                    (0, _) => Leaf::Item,
                    (5, _) => Leaf::Range,
                    (6, _) => Leaf::Udf,
                    (7, _) => Leaf::Trigger,
                    (8, _) => Leaf::Procedure,
                    _ => return None,
                };
                let number = last & ((1 << NUMBER_BITS) - 1);
                Some(Self::Leaf { database, owner, number, leaf })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_come_back() {
        let container = Rid::Container { database: 7, container: 0x7fff_ffff };
        let leaf = |leaf, number| Rid::in_container(7, 9, number, leaf);
        for (rid, len) in [
            (Rid::Database(1), 8),
            (Rid::Database(u32::MAX), 8),
            (container, 12),
            (Rid::User { database: 7, user: 9 }, 12),
            (Rid::ClientKey { database: 7, key: 9 }, 12),
            (leaf(Leaf::Item, (1 << 60) - 1), 24),
            (leaf(Leaf::Udf, 1), 24),
            (leaf(Leaf::Trigger, 1), 24),
            (leaf(Leaf::Procedure, 1), 24),
            (leaf(Leaf::Range, 0), 24),
            (Rid::Leaf { database: 7, owner: 9, number: 5, leaf: Leaf::Permission }, 24),
        ] {
            let text = rid.encode();
            assert_eq!(text.len(), len, "{text}");
            assert!(!text.contains('/'), "{text}");
            assert_eq!(Rid::parse(&text), Some(rid), "{text}");
            let mut written = Vec::new();
            rid.write_text(&mut written);
            assert_eq!(written, text.as_bytes());
        }
    }

    #[test]
    fn other_texts_are_no_ids() {
        for text in
            ["", "db1", "AAAA", "AAAAAAA", "AAAAAA=", "orders", &"A".repeat(100), "日本日本"]
        {
            assert_eq!(Rid::parse(text), None, "{text}");
        }
    }
}
