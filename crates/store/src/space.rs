//! Key spaces: a store divides its keys into separate sets, such as the rows of one collection. The
//! embedded LSM store has a separate tree for each space.

/// A set of keys, separate from all other spaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Space {
    /// Catalog records and other small engine state.
    Catalog,
    /// Counters of documents and bytes by collection.
    Counts,
    /// The rows of one collection.
    Rows(u32),
    /// The index entries of one collection.
    Index(u32),
}

impl Space {
    /// Returns a short, unique and stable name, used in directory names and logs.
    pub fn name(self) -> String {
        match self {
            Self::Catalog => "catalog".to_owned(),
            Self::Counts => "counts".to_owned(),
            Self::Rows(collection) => format!("rows-{collection}"),
            Self::Index(collection) => format!("index-{collection}"),
        }
    }

    /// Parses the stored name of a space.
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "catalog" => return Some(Self::Catalog),
            "counts" => return Some(Self::Counts),
            _ => {}
        }
        let (kind, id) = name.split_once('-')?;
        let id = id.parse().ok()?;
        match kind {
            "rows" => Some(Self::Rows(id)),
            "index" => Some(Self::Index(id)),
            _ => None,
        }
    }
}
