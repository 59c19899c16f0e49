//! Sorts arrays by whole elements, or by fields of their documents.

use std::cmp::Ordering;

use collation::Collation;
use document::{DocRef, Document, Value, ValueRef};
use evaluation::compare_by;

use crate::sort::Sort;

/// The order of the elements.
#[derive(Clone, Debug)]
pub enum SortBy {
    /// By the elements themselves; true for descending order.
    Whole(bool),
    /// By fields of elements that are documents. An array in a field is compared as a whole. An
    /// element of another type is sorted like an empty document.
    Fields(Sort),
}

/// Sorts values; stable. Sort keys are computed once per element, not per comparison.
pub fn sort_values(values: &mut Vec<Value>, by: &SortBy, collation: Option<&Collation>) {
    match by {
        SortBy::Whole(descending) => values.sort_by(|a, b| {
            let order = compare_by(collation, a.as_ref(), b.as_ref());
            if *descending { order.reverse() } else { order }
        }),
        SortBy::Fields(sort) => {
            let empty = Document::new();
            let mut keyed: Vec<_> = std::mem::take(values)
                .into_iter()
                .map(|value| {
                    let key = match value.as_ref() {
                        ValueRef::Document(fields) => sort.whole_key(fields, collation),
                        _ => sort.whole_key(DocRef::Tree(&empty), collation),
                    };
                    (key, value)
                })
                .collect();
            keyed.sort_by(|(a, _), (b, _)| -> Ordering { sort.compare(a, b) });
            values.extend(keyed.into_iter().map(|(_, value)| value));
        }
    }
}
