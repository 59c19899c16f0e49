//! Copies the included part of a document, or all but the excluded part, without decoding it.

use document::{ArrayBuilder, ArrayRef, DocBuf, DocBuilder, DocRef, Reader, ValueRef};

use super::{Item, Mode, Node};

/// The copy.
/// Computed fields are left for the next pass: an inclusion leaves them out, an exclusion keeps
/// what stood there, so that they are set in their place.
pub(super) fn copy_document(document: DocRef<'_>, node: &Node, mode: Mode) -> DocBuf {
    let mut out = DocBuilder::new();
    copy_fields(document, node, mode, &mut out);
    out.finish()
}

/// Copies the fields of a document that stay. Values that stay whole are copied without being
/// decoded.
/// Fields stay in the order of the document, not of the projection.
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

/// Copies a field of which only parts are named: they are chosen in a document, and in each
/// document of an array.
fn copy_nested(name: &str, value: ValueRef<'_>, node: &Node, mode: Mode, out: &mut DocBuilder) {
    match value {
        ValueRef::Document(inner) => out.document(name, |out| copy_fields(inner, node, mode, out)),
        ValueRef::Array(array) => out.array(name, |out| copy_elements(array, node, mode, out)),
        // A computed field turns a plain value into a document later, where it stands.
        value if mode == Mode::Exclusion || node.has_computed() => out.append(name, value),
        _ => {}
    }
}

/// Copies the elements of an array: of documents the fields that stay, of anything else the whole,
/// where the projection leaves it.
/// Arrays inside arrays are entered at any depth.
fn copy_elements(array: ArrayRef<'_>, node: &Node, mode: Mode, out: &mut ArrayBuilder<'_>) {
    for value in array.iter() {
        match value {
            ValueRef::Document(inner) => out.document(|out| copy_fields(inner, node, mode, out)),
            ValueRef::Array(inner) => out.array(|out| copy_elements(inner, node, mode, out)),
            // A computed field turns plain elements into documents later.
            value if mode == Mode::Exclusion || node.has_computed() => out.push(value),
            _ => {}
        }
    }
}
