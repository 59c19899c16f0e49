//! Dotted paths over documents. Filters and expressions read the same path differently: a filter
//! visits every value at it (`walk`), an expression reads a single value ([`read_path`]). For an
//! expression, an array on the path is replaced by an array of the values in its documents, and a
//! numeric part is a field name, not an index.
//!
//! For the path `a.b` over `{a: [{b: 1}, {b: [2, 3]}]}`:
//!
//! ```text
//! walk   1, 2, 3, [2, 3]          each value, and arrays at the end as a whole
//! read   [1, [2, 3]]              one array of the documents' values
//! ```

#[cfg(test)]
mod tests;
mod walk;

pub use walk::{PathEnd, SeenValue, any_value, array_index};

use document::{ArrayRef, DocRef, Path, Value, ValueRef};
use evaluation::Evaluated;

/// Returns the value at the parts of a path from index `from` on; the document itself if there are
/// no such parts. The value is borrowed unless an array on the path requires a new one. It is
/// missing if a value on the path is neither a document nor an array.
pub fn read_path<'a>(fields: DocRef<'a>, path: &Path, from: usize) -> Evaluated<'a> {
    let mut fields = fields;
    for at in from..path.len() {
        match fields.get(path.part(at)) {
            None => return Evaluated::Missing,
            Some(value) if at + 1 == path.len() => return Evaluated::Ref(value),
            Some(ValueRef::Document(below)) => fields = below,
            Some(ValueRef::Array(values)) => return read_in_array(values, path, at + 1),
            Some(_) => return Evaluated::Missing,
        }
    }
    Evaluated::Ref(ValueRef::Document(fields))
}

/// Returns an array of the values that the parts of a path from index `from` on reach in the
/// documents of an array. Elements that are not documents, or lack the field, are omitted, so the
/// result may be shorter. Arrays inside the array are not traversed.
pub(crate) fn read_in_array<'a>(values: ArrayRef<'a>, path: &Path, from: usize) -> Evaluated<'a> {
    let documents = values.iter().filter_map(ValueRef::as_document);
    Evaluated::Owned(Value::Array(
        documents.filter_map(|fields| read_path(fields, path, from).into_value()).collect(),
    ))
}

/// Returns the values at a path that a join compares. An array at the end of the path contributes
/// its elements. An array on the path contributes the values in its documents and, if the part is a
/// number, in the element at that index. Empty if the field is missing, which a join treats as
/// null.
pub fn values_for_join(fields: DocRef<'_>, path: &Path) -> Vec<Value> {
    let mut found = Vec::new();
    visit_values(ValueRef::Document(fields), path, 0, &mut found);
    found
}

/// Appends to `found` the values that the parts of a path from index `at` on reach from a value. An
/// array inside an array is traversed only by a numeric part, that is, by index.
fn visit_values(value: ValueRef<'_>, path: &Path, at: usize, found: &mut Vec<Value>) {
    if at == path.len() {
        match value {
            ValueRef::Array(values) => found.extend(values.iter().map(ValueRef::to_value)),
            other => found.push(other.to_value()),
        }
        return;
    }
    match value {
        ValueRef::Document(fields) => {
            if let Some(below) = fields.get(path.part(at)) {
                visit_values(below, path, at + 1, found);
            }
        }
        ValueRef::Array(values) => {
            // A numeric part is both an index and a name: both are added.
            let position = path.part(at).parse().ok();
            if let Some(below) = position.and_then(|position| values.get(position)) {
                visit_values(below, path, at + 1, found);
            }
            for element in values.iter().filter(|value| value.as_document().is_some()) {
                visit_values(element, path, at, found);
            }
        }
        _ => {}
    }
}
