//! Names of collections: data model, namespace and the partition layout of item keys. Which
//! collections exist is in `catalog`.

use std::fmt;

/// The data model of a database, which decides its API. Each model has its own namespaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Model {
    /// BSON documents with an `_id`.
    Documents,
    /// JSON items with an `id` and a partition key.
    Items,
    /// Receipts of writes (`write/receipt.rs`), which belong to no API's databases.
    Receipts,
    /// Records of changes (`changes`), which belong to no API's databases.
    Changes,
}

impl Model {
    /// Returns the model's code in keys and catalog records, which never changes.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Documents => b'd',
            Self::Items => b'i',
            Self::Receipts => b'r',
            Self::Changes => b'c',
        }
    }

    pub(crate) fn from_code(code: u8) -> Option<Self> {
        [Self::Documents, Self::Items, Self::Receipts, Self::Changes]
            .into_iter()
            .find(|model| model.code() == code)
    }
}

/// The name of a collection.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Namespace {
    /// Name of the database, without the collection.
    pub database: String,
    /// Name of the collection within the database.
    pub collection: String,
}

impl Namespace {
    /// Creates a name from its parts.
    pub fn new(database: impl Into<String>, collection: impl Into<String>) -> Self {
        Self { database: database.into(), collection: collection.into() }
    }
}

impl fmt::Display for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.database, self.collection)
    }
}

/// The layout of an item's row key: a hash of fixed length, then the partition key's values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Partition {
    /// Length of the hash in bytes.
    pub hash_bytes: u8,
    /// Number of partition key values.
    pub values: u8,
}
