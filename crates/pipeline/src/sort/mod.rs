//! Sort orders over documents, by dotted paths; arrays sort by their least or greatest element.
//!
//! A document may have several values at a path. An index has an entry for each combination of
//! them, and the document sorts by the entry that comes first in the order. So sorting in memory
//! and scanning an index yield the same order.

mod keys;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;

use collation::Collation;
use document::{DocRef, Path, Value, ValueRef, compare};
use evaluation::{Error, Kind};

/// Maximum number of parts of a sort; the parser refuses more.
pub const MAX_SORT_PARTS: usize = 32;

/// One part of a sort order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SortPart {
    /// The path of the values to sort by.
    pub path: Path,
    /// Whether the order is descending.
    pub descending: bool,
}

/// A sort order: the first part decides, then the second, and so on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sort {
    /// The parts in order of significance.
    pub parts: Vec<SortPart>,
}

/// The sort key of a document: a value for each part. If texts sort by a collation, they are
/// replaced by the collation's keys, so keys compare in the plain order. Keys of different sorts or
/// collations must not be compared.
#[derive(Clone, Debug)]
pub struct SortKey(pub Vec<Value>);

impl Sort {
    /// Returns the sort key of a document: of all combinations of values that an index over these
    /// paths would contain for it, the first in this order. A missing value is null, an empty array
    /// undefined. For paths through different arrays, which no index can have, each part's own
    /// first value is used. A sort by `_id` alone uses the whole value: a stored `_id` is never an
    /// array, but the `_id` of a group may be one.
    pub fn key_of(&self, document: DocRef<'_>, collation: Option<&Collation>) -> SortKey {
        SortKey(keys::first_key(self, document, collation).0)
    }

    /// Returns the sort key as [`key_of`](Self::key_of) does, but fails if paths go through
    /// different arrays.
    pub fn strict_key(
        &self,
        document: DocRef<'_>,
        collation: Option<&Collation>,
    ) -> Result<SortKey, Error> {
        match keys::first_key(self, document, collation) {
            (values, false) => Ok(SortKey(values)),
            // Keys of each part's own first value are refused: no index has them.
            (_, true) => {
                let text = "cannot sort with keys that are parallel arrays";
                Err(Error::new(Kind::Invalid, 2, text))
            }
        }
    }

    /// Returns the values at the paths. An array to which a path leads is one value here; it is not
    /// replaced by its least or greatest element.
    pub fn whole_key(&self, document: DocRef<'_>, collation: Option<&Collation>) -> SortKey {
        let whole = |part: &SortPart| key_value(keys::whole_value(document, &part.path), collation);
        SortKey(self.parts.iter().map(whole).collect())
    }

    /// Compares two keys of this sort. A descending part reverses only its own order.
    pub fn compare(&self, a: &SortKey, b: &SortKey) -> Ordering {
        for ((part, a), b) in self.parts.iter().zip(&a.0).zip(&b.0) {
            let order = compare(a.as_ref(), b.as_ref());
            if order.is_ne() {
                return if part.descending { order.reverse() } else { order };
            }
        }
        Ordering::Equal
    }

    /// Compares a document with a key, without building the document's key unless one of its values
    /// is in an array.
    pub(crate) fn compare_with_key(
        &self,
        document: DocRef<'_>,
        key: &SortKey,
        collation: Option<&Collation>,
    ) -> Ordering {
        for (part, held) in self.parts.iter().zip(&key.0) {
            // A value outside of arrays is the same in all combinations of values, so it can be
            // compared without building the key.
            let Some(value) = keys::plain_value(document, &part.path) else {
                return self.compare(&self.key_of(document, collation), key);
            };
            let order = match collation {
                None => compare(value, held.as_ref()),
                Some(collation) => compare(collation.key_of_value(value).as_ref(), held.as_ref()),
            };
            if order.is_ne() {
                return if part.descending { order.reverse() } else { order };
            }
        }
        Ordering::Equal
    }

    /// Compares two documents, texts by their bytes. For repeated comparisons, computing keys once
    /// is cheaper.
    pub fn compare_documents(&self, a: DocRef<'_>, b: DocRef<'_>) -> Ordering {
        self.compare(&self.key_of(a, None), &self.key_of(b, None))
    }
}

impl SortKey {
    /// Returns the approximate memory of the key, in bytes.
    pub fn memory_bytes(&self) -> usize {
        size_of::<Self>() + self.0.iter().map(value_size).sum::<usize>()
    }
}

/// Returns a value as part of a sort key.
pub(crate) fn key_value(value: ValueRef<'_>, collation: Option<&Collation>) -> Value {
    collation.map_or_else(|| value.to_value(), |collation| collation.key_of_value(value))
}

/// Returns the approximate memory of a value, in bytes, without the overhead of allocations.
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
