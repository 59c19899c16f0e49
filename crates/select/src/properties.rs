//! The properties of objects, for comparing two of them.

use std::cmp::Ordering;

use document::{DocRef, ValueRef};

/// Which object has more properties. It reads no further than the smaller object goes, so that the
/// work of comparing two objects is bounded by the smaller one.
pub(crate) fn compare_counts(a: DocRef<'_>, b: DocRef<'_>) -> Ordering {
    let (mut a, mut b) = (a.iter(), b.iter());
    loop {
        match (a.next().is_some(), b.next().is_some()) {
            (true, true) => {}
            (a, b) => return a.cmp(&b),
        }
    }
}

/// The properties by their names.
pub(crate) fn sorted_by_name(object: DocRef<'_>) -> Vec<(&str, ValueRef<'_>)> {
    let mut fields: Vec<_> = object.iter().collect();
    fields.sort_by_key(|(name, _)| *name);
    fields
}
