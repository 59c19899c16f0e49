//! The value at a path on which a document may have only one: a field beside the texts or the
//! wildcard of an index.

use document::{DocRef, ValueRef};

/// Returns the value at a path; a missing one is null. Returns `None` if there is an array at the
/// path or on the way to it.
pub(super) fn single_value<'a>(document: DocRef<'a>, path: &str) -> Option<ValueRef<'a>> {
    let mut value = ValueRef::Document(document);
    for name in path.split('.') {
        value = match value {
            ValueRef::Document(inner) => inner.get(name).unwrap_or(ValueRef::Null),
            _ => ValueRef::Null,
        };
        if matches!(value, ValueRef::Array(_)) {
            return None;
        }
    }
    Some(value)
}
