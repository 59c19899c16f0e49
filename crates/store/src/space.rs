//! Where a key lives. The embedded LSM store gives each collection's spaces keyspaces of their own.

/// A space of keys; keys of different spaces never meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Space {
    /// Catalog records and the engine's own small state.
    Catalog,
    /// Counts, by collection.
    Counts,
    /// One collection's rows.
    Rows(u32),
    /// One collection's index entries.
    Index(u32),
}

impl Space {
    /// A short name, unique and stable: directory names and logs use it.
    pub fn name(self) -> String {
        match self {
            Self::Catalog => "catalog".to_owned(),
            Self::Counts => "counts".to_owned(),
            Self::Rows(collection) => format!("rows-{collection}"),
            Self::Index(collection) => format!("index-{collection}"),
        }
    }

    /// The space with this name.
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
