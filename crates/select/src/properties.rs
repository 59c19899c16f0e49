//! Compares the properties of two objects, independently of their order.

use std::cmp::Ordering;

use document::{DocRef, ValueRef};

/// Compares the numbers of properties. Stops at the end of the smaller object, so that its size
/// bounds the work.
pub(crate) fn compare_counts(a: DocRef<'_>, b: DocRef<'_>) -> Ordering {
    let (mut a, mut b) = (a.iter(), b.iter());
    loop {
        match (a.next().is_some(), b.next().is_some()) {
            (true, true) => {}
            (a, b) => return a.cmp(&b),
        }
    }
}

/// Returns the properties sorted by name.
pub(crate) fn sorted_by_name(object: DocRef<'_>) -> Vec<(&str, ValueRef<'_>)> {
    let mut fields: Vec<_> = object.iter().collect();
    fields.sort_by_key(|(name, _)| *name);
    fields
}
