//! The index of `_id` in a collection with a collation. Rows are ordered by the bytes of their ids and
//! unique by them; in such a collection this index makes the ids unique by the collation, too. No API
//! lists it, since each collection has an index of `_id` in lists.

use std::sync::Arc;

use collation::Collation;
use document::{Document, Value};

use super::{IndexSpec, Record};

/// Name of the index of `_id`. A collection without a collation needs no entries for it, since its
/// rows are ordered by `_id`.
pub const ID_INDEX_NAME: &str = "_id_";

/// Returns the collation in the options of a collection.
pub fn default_collation(options: &Document) -> Option<Arc<Collation>> {
    match options.get("collation") {
        Some(Value::Document(collation)) => Collation::of_document(collation).map(Arc::new),
        _ => None,
    }
}

impl IndexSpec {
    /// Returns whether this is the index of `_id` in a collection with a collation, by which ids
    /// are unique.
    pub fn is_of_id(&self) -> bool {
        self.name == ID_INDEX_NAME
    }

    /// Returns whether clients see the index in lists and counts of indexes. They do not see those
    /// of the insertion order and of `_id`; each list and count has one more index for `_id`.
    pub fn is_listed(&self) -> bool {
        !self.is_insertion_order() && !self.is_of_id() && self.shape != super::IndexShape::Timeline
    }

    /// Returns the index of `_id` for a collection with this collation.
    pub(crate) fn of_id(collation: Arc<Collation>) -> Self {
        let key = vec![("_id".to_owned(), false)];
        Self {
            unique: true,
            ready: true,
            collation: Some(collation),
            ..Self::new(ID_INDEX_NAME, key)
        }
    }
}

impl Record {
    /// Sets the options of a new collection. If they contain a collation, an index makes ids unique
    /// by it: rows are unique by the bytes of their ids.
    pub(crate) fn set_options(&mut self, options: &Document) {
        self.options = options.clone();
        if let Some(collation) = default_collation(options) {
            let id = self.next_index;
            self.next_index += 1;
            self.indexes.push(IndexSpec { id, ..IndexSpec::of_id(collation) });
        }
    }

    /// Returns the index by which ids are unique in a collection with a collation.
    pub fn id_index(&self) -> Option<&IndexSpec> {
        self.indexes.iter().find(|index| index.is_of_id())
    }

    /// Returns the indexes that clients see, without that of `_id`, which each collection has.
    pub fn listed_indexes(&self) -> impl Iterator<Item = &IndexSpec> {
        self.indexes.iter().filter(|index| index.is_listed())
    }
}
