//! Sort orders over documents: keys by dotted path, arrays by their least or greatest element.
//!
//! A document may have several values at a path. An index would have an entry for each combination
//! of them, and the document sorts by the entry that comes first in the order. So sorting in memory
//! and walking an index give the same order.

mod keys;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;

use document::{DocRef, Path, Value, compare};

use evaluation::{Error, Kind};

/// Most keys a sort may have.
/// The parser refuses more.
pub const MAX_SORT_PARTS: usize = 32;

/// One key of a sort.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SortPart {
    /// Where the value is.
    pub path: Path,
    /// Greatest first.
    pub descending: bool,
}

/// A sort order: the first part decides, then the second, and so on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sort {
    /// Its keys.
    pub parts: Vec<SortPart>,
}

/// The values that a document sorts by, one for each part of the order.
/// It is only compared with keys of the same order.
#[derive(Clone, Debug)]
pub struct SortKey(pub Vec<Value>);

impl Sort {
    /// What a document sorts by: of all combinations of values that an index over these paths would
    /// hold for it, the one that this order puts first. A missing value reads as null, an empty
    /// array as undefined. Paths through different arrays, which no index can hold, are taken one
    /// by one. A sort by `_id` alone takes it whole: a stored one is not an array, and a group's
    /// may be one.
    pub fn key_of(&self, document: DocRef<'_>) -> SortKey {
        SortKey(keys::first_key(self, document).0)
    }

    /// The same, but paths through different arrays are refused.
    pub fn strict_key(&self, document: DocRef<'_>) -> Result<SortKey, Error> {
        match keys::first_key(self, document) {
            (values, false) => Ok(SortKey(values)),
            // The order of each part by itself is no order of the document.
            (_, true) => {
                let text = "cannot sort with keys that are parallel arrays";
                Err(Error::new(Kind::Invalid, 2, text))
            }
        }
    }

    /// The values at the paths as they are: an array at the end counts as an array.
    pub fn whole_key(&self, document: DocRef<'_>) -> SortKey {
        let whole = |part: &SortPart| keys::whole_value(document, &part.path).to_value();
        SortKey(self.parts.iter().map(whole).collect())
    }

    /// Orders two keys made by this sort.
    /// A descending part turns its own order round and no other's.
    pub fn compare(&self, a: &SortKey, b: &SortKey) -> Ordering {
        for ((part, a), b) in self.parts.iter().zip(&a.0).zip(&b.0) {
            let order = compare(a.as_ref(), b.as_ref());
            if order.is_ne() {
                return if part.descending { order.reverse() } else { order };
            }
        }
        Ordering::Equal
    }

    /// Orders what a document sorts by and a key, without making a key of the document where none of
    /// its values is in an array.
    pub(crate) fn compare_with_key(&self, document: DocRef<'_>, key: &SortKey) -> Ordering {
        for (part, held) in self.parts.iter().zip(&key.0) {
            // A value beside arrays is the same in all combinations of those after it.
            let Some(value) = keys::plain_value(document, &part.path) else {
                return self.compare(&self.key_of(document), key);
            };
            let order = compare(value, held.as_ref());
            if order.is_ne() {
                return if part.descending { order.reverse() } else { order };
            }
        }
        Ordering::Equal
    }

    /// Orders two documents; keys that are used more than once are better kept.
    pub fn compare_documents(&self, a: DocRef<'_>, b: DocRef<'_>) -> Ordering {
        self.compare(&self.key_of(a), &self.key_of(b))
    }
}

impl SortKey {
    /// About how much memory the key holds, in bytes.
    pub fn memory_bytes(&self) -> usize {
        size_of::<Self>() + self.0.iter().map(value_size).sum::<usize>()
    }
}

/// About how much memory a value holds, in bytes.
/// An estimate: what allocations round up is not in it.
fn value_size(value: &Value) -> usize {
    let held = match value {
        Value::String(text) | Value::JavaScript(text) | Value::Symbol(text) => text.len(),
        Value::Document(fields) => {
            fields.fields().iter().map(|(name, value)| 24 + name.len() + value_size(value)).sum()
        }
        Value::Array(values) => values.iter().map(value_size).sum(),
        Value::Binary { bytes, .. } => bytes.len(),
        Value::Regex { pattern, options } => pattern.len() + options.len(),
        Value::DbPointer { namespace, .. } => namespace.len(),
        Value::JavaScriptWithScope { code, scope } => {
            let fields = scope.fields().iter();
            code.len() + fields.map(|(name, value)| name.len() + value_size(value)).sum::<usize>()
        }
        _ => 0,
    };
    size_of::<Value>() + held
}
