//! Copies the included part of a document, or all but the excluded part, without decoding it.

use document::{ArrayBuilder, ArrayRef, DocBuf, DocBuilder, DocRef, Reader, ValueRef};

use super::{Item, Mode, Node};

/// Copies the fields of a projection. Computed fields are set in the next pass: an inclusion omits
/// them, an exclusion keeps their old values, so that they are replaced in place.
pub(super) fn copy_document(document: DocRef<'_>, node: &Node, mode: Mode) -> DocBuf {
    let mut out = DocBuilder::new();
    copy_fields(document, node, mode, &mut out);
    out.finish()
}

/// Copies the fields that stay, in the order of the document. Whole values are copied without
/// decoding.
fn copy_fields(document: DocRef<'_>, node: &Node, mode: Mode, out: &mut DocBuilder) {
    match document {
        DocRef::Raw(bytes) => {
            for element in Reader::new(bytes) {
                match (node.get(element.name_str()), mode) {
                    (None, Mode::Exclusion) | (Some(Item::Named), Mode::Inclusion) => {
                        out.append_raw(element.name, element.kind, element.value);
                    }
                    (Some(Item::Node(inner)), mode) => {
                        if let Some(value) = element.decode() {
                            copy_nested(element.name_str(), value, inner, mode, out);
                        }
                    }
                    (Some(Item::Computed(_)), Mode::Exclusion) => {
                        out.append_raw(element.name, element.kind, element.value);
                    }
                    _ => {}
                }
            }
        }
        DocRef::Tree(tree) => {
            for (name, value) in tree.fields() {
                match (node.get(name), mode) {
                    (Some(Item::Node(inner)), mode) => {
                        copy_nested(name, value.as_ref(), inner, mode, out);
                    }
                    (None | Some(Item::Computed(_)), Mode::Exclusion)
                    | (Some(Item::Named), Mode::Inclusion) => out.append(name, value.as_ref()),
                    _ => {}
                }
            }
        }
    }
}

/// Copies a field of which only parts are named: from a document, or from each document of an
/// array.
fn copy_nested(name: &str, value: ValueRef<'_>, node: &Node, mode: Mode, out: &mut DocBuilder) {
    match value {
        ValueRef::Document(inner) => out.document(name, |out| copy_fields(inner, node, mode, out)),
        ValueRef::Array(array) => out.array(name, |out| copy_elements(array, node, mode, out)),
        // A computed field replaces the scalar by a document later.
        value if mode == Mode::Exclusion || node.has_computed() => out.append(name, value),
        _ => {}
    }
}

/// Copies the elements of an array: the remaining fields of documents, and other elements as the
/// mode requires. Nested arrays are traversed at any depth.
fn copy_elements(array: ArrayRef<'_>, node: &Node, mode: Mode, out: &mut ArrayBuilder<'_>) {
    for value in array.iter() {
        match value {
            ValueRef::Document(inner) => out.document(|out| copy_fields(inner, node, mode, out)),
            ValueRef::Array(inner) => out.array(|out| copy_elements(inner, node, mode, out)),
            // A computed field replaces scalars by documents later.
            value if mode == Mode::Exclusion || node.has_computed() => out.push(value),
            _ => {}
        }
    }
}
