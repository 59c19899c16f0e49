//! What collections are called: their data model, their name, and how the keys of items begin. Not
//! which collections there are; see `catalog`.

use std::fmt;

/// Which data model, and so which door, a database belongs to. Their namespaces are apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Model {
    /// BSON documents with an `_id`.
    Documents,
    /// JSON items with an `id` and a partition key.
    Items,
    /// Receipts of writes: of no door's databases.
    Receipts,
}

impl Model {
    /// In keys and records of the catalog; never changes.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Documents => b'd',
            Self::Items => b'i',
            Self::Receipts => b'r',
        }
    }

    /// The model with this code.
    pub(crate) fn from_code(code: u8) -> Option<Self> {
        [Self::Documents, Self::Items, Self::Receipts]
            .into_iter()
            .find(|model| model.code() == code)
    }
}

/// A collection's name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Namespace {
    /// Database.
    pub database: String,
    /// Collection.
    pub collection: String,
}

impl Namespace {
    /// A name from its parts.
    pub fn new(database: impl Into<String>, collection: impl Into<String>) -> Self {
        Self { database: database.into(), collection: collection.into() }
    }
}

impl fmt::Display for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.database, self.collection)
    }
}

/// The beginning of an item's row key: a hash of fixed length, then the partition key's values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Partition {
    /// Bytes of the hash.
    pub hash_bytes: u8,
    /// Values of the partition key.
    pub values: u8,
}
