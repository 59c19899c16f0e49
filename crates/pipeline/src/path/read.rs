//! Field paths read in place. Arrays on the way give arrays of what their documents hold; a
//! number in a path is a field name, not a position.

use document::{ArrayRef, DocRef, Path, Value, ValueRef};
use evaluation::Evaluated;

/// The value at a path, from its part `from` on; borrowed unless an array on the way makes a new
/// one.
/// Missing where a value on the way is neither a document nor an array. A path that is used up is
/// the document itself.
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

/// What the documents of an array hold at the rest of a path.
/// Elements that are no documents, or lack the field, are left out; arrays inside are not entered.
pub(crate) fn read_in_array<'a>(values: ArrayRef<'a>, path: &Path, from: usize) -> Evaluated<'a> {
    // So the result may be shorter than the array.
    let documents = values.iter().filter_map(ValueRef::as_document);
    Evaluated::Own(Value::Array(
        documents.filter_map(|fields| read_path(fields, path, from).into_value()).collect(),
    ))
}

/// The values at a path that a join compares: arrays at the end give their elements, arrays on the
/// way both their documents and, where the part is a number, the element at that position.
/// Nothing where the field is missing, which a join treats as null.
pub fn values_for_join(fields: DocRef<'_>, path: &Path) -> Vec<Value> {
    let mut found = Vec::new();
    visit_values(ValueRef::Document(fields), path, 0, &mut found);
    found
}

/// Adds the values that lie at the rest of a path.
/// An array inside an array is entered by a position only.
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
            // A part may be both a position and a name: the two are added up.
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
