//! Arrays in another order: by whole elements, or by fields of their documents.

use std::cmp::Ordering;

use document::{DocRef, Document, Value, ValueRef};

use crate::sort::Sort;

/// What elements are ordered by.
#[derive(Clone, Debug)]
pub enum SortBy {
    /// The whole element, greatest first if set.
    Whole(bool),
    /// Fields of elements that are documents, taken whole; others have none.
    Fields(Sort),
}

/// Orders values; equal ones keep their order. Elements that are not documents have no fields.
/// Keys are made once for each element and not for each comparison.
pub fn sort_values(values: &mut Vec<Value>, by: &SortBy) {
    match by {
        SortBy::Whole(descending) => values.sort_by(|a, b| {
            let order = document::compare(a.as_ref(), b.as_ref());
            if *descending { order.reverse() } else { order }
        }),
        SortBy::Fields(sort) => {
            let empty = Document::new();
            let mut keyed: Vec<_> = std::mem::take(values)
                .into_iter()
                .map(|value| {
                    let key = match value.as_ref() {
                        ValueRef::Document(fields) => sort.whole_key(fields),
                        _ => sort.whole_key(DocRef::Tree(&empty)),
                    };
                    (key, value)
                })
                .collect();
            keyed.sort_by(|(a, _), (b, _)| -> Ordering { sort.compare(a, b) });
            values.extend(keyed.into_iter().map(|(_, value)| value));
        }
    }
}
