//! The collections whose changes a reader of the change log wants.

use crate::names::Namespace;

/// The collections whose changes a reader of the change log wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeScope {
    /// One collection, by its name.
    Collection(Namespace),
    /// All collections of a database.
    Database(String),
    /// The changes of all collections of all databases.
    All,
}

impl ChangeScope {
    /// Returns whether the scope contains a collection; an empty name denotes all collections of
    /// the database.
    pub fn contains(&self, database: &str, collection: &str) -> bool {
        match self {
            Self::Collection(namespace) => {
                namespace.database == database && namespace.collection == collection
            }
            Self::Database(name) => name == database,
            Self::All => true,
        }
    }
}
