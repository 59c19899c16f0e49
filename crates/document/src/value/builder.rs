//! Builds raw documents field by field, nested ones in place, without an intermediate tree.
//!
//! A document's length precedes its fields and is known only once they are written, so each level
//! reserves four bytes for it and fills them in when the level is closed.

use super::{ArrayRef, DocBuf, DocRef, Document, Value, ValueRef};
use crate::kind::Kind;

/// A raw document under construction. Lengths are filled in when a level is finished.
#[derive(Debug)]
pub struct DocBuilder {
    /// The encoded fields, preceded by a placeholder for the document's length.
    bytes: Vec<u8>,
}

impl Default for DocBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl DocBuilder {
    /// Creates a builder without any fields.
    pub fn new() -> Self {
        Self::with_buffer(Vec::with_capacity(64))
    }

    /// Creates an empty document in `bytes`, whose contents are dropped and whose memory is reused.
    pub fn with_buffer(mut bytes: Vec<u8>) -> Self {
        bytes.clear();
        bytes.extend_from_slice(&[0; 4]);
        Self { bytes }
    }

    /// Returns the length in bytes that the document would have if it were finished now.
    pub fn len(&self) -> usize {
        self.bytes.len() + 1
    }

    /// Returns whether no field has been appended yet.
    pub fn is_empty(&self) -> bool {
        self.bytes.len() == 4
    }

    /// Appends a field to the document.
    pub fn append(&mut self, name: &str, value: ValueRef<'_>) {
        append(&mut self.bytes, name.as_bytes(), value);
    }

    /// Appends a field whose value is already encoded; `kind` is its BSON type code. Used to copy
    /// fields from another document. The caller guarantees that name and value are well-formed.
    pub fn append_raw(&mut self, name: &[u8], kind: u8, value: &[u8]) {
        self.bytes.push(kind);
        self.bytes.extend_from_slice(name);
        self.bytes.push(0);
        self.bytes.extend_from_slice(value);
    }

    /// Appends a nested document that `fill` builds in place.
    pub fn document(&mut self, name: &str, fill: impl FnOnce(&mut DocBuilder)) {
        self.bytes.push(Kind::Document as u8);
        push_name(&mut self.bytes, name.as_bytes());
        self.nested(|builder| fill(builder));
    }

    /// Appends a nested array that `fill` builds in place.
    pub fn array(&mut self, name: &str, fill: impl FnOnce(&mut ArrayBuilder<'_>)) {
        self.bytes.push(Kind::Array as u8);
        push_name(&mut self.bytes, name.as_bytes());
        self.nested(|builder| fill(&mut ArrayBuilder { builder, next: 0 }));
    }

    /// Builds a document in place, from the placeholder of its length to its terminator.
    fn nested(&mut self, fill: impl FnOnce(&mut DocBuilder)) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(&[0; 4]);
        fill(self);
        close(&mut self.bytes, start);
    }

    /// Completes the encoding and returns the document.
    pub fn finish(self) -> DocBuf {
        DocBuf::from_trusted(self.into_vec())
    }

    /// Returns the bytes of the finished document.
    pub fn into_vec(mut self) -> Vec<u8> {
        close(&mut self.bytes, 0);
        self.bytes
    }
}

/// An array under construction inside a document.
#[derive(Debug)]
pub struct ArrayBuilder<'a> {
    builder: &'a mut DocBuilder,
    /// Index of the next element, which is also its name.
    next: usize,
}

impl ArrayBuilder<'_> {
    /// Appends an element to the array.
    pub fn push(&mut self, value: ValueRef<'_>) {
        let mut name = [0; 20];
        let name = index_name(self.next, &mut name);
        self.next += 1;
        append(&mut self.builder.bytes, name, value);
    }

    /// Appends a document that `fill` builds in place.
    pub fn document(&mut self, fill: impl FnOnce(&mut DocBuilder)) {
        self.open(Kind::Document);
        self.builder.nested(|builder| fill(builder));
    }

    /// Appends an array that `fill` builds in place.
    pub fn array(&mut self, fill: impl FnOnce(&mut ArrayBuilder<'_>)) {
        self.open(Kind::Array);
        self.builder.nested(|builder| fill(&mut ArrayBuilder { builder, next: 0 }));
    }

    /// Starts an element of the array: writes its type and its index.
    fn open(&mut self, kind: Kind) {
        let mut name = [0; 20];
        self.builder.bytes.push(kind as u8);
        push_name(&mut self.builder.bytes, index_name(self.next, &mut name));
        self.next += 1;
    }

    /// Returns the length in bytes that the whole document would have if it were finished now.
    pub fn len(&self) -> usize {
        self.builder.len()
    }

    /// Returns whether no element has been appended yet.
    pub fn is_empty(&self) -> bool {
        self.next == 0
    }

    /// Returns the number of elements appended so far.
    pub fn count(&self) -> usize {
        self.next
    }
}

/// Returns the decimal text of an array index, the name of its element. It is written into the
/// caller's buffer to save an allocation per element.
fn index_name(index: usize, buffer: &mut [u8; 20]) -> &[u8] {
    let mut at = buffer.len();
    let mut rest = index;
    loop {
        at -= 1;
        buffer[at] = b'0' + u8::try_from(rest % 10).unwrap_or(0);
        rest /= 10;
        if rest == 0 {
            return &buffer[at..];
        }
    }
}

/// Appends a NUL-terminated name. The name is truncated at its first NUL, since a reader would
/// parse the rest as the value.
fn push_name(out: &mut Vec<u8>, name: &[u8]) {
    let end = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
    out.extend_from_slice(&name[..end]);
    out.push(0);
}

/// Appends a string: its length including the NUL, its bytes, the NUL.
fn push_string(out: &mut Vec<u8>, text: &str) {
    push_len(out, text.len() + 1);
    out.extend_from_slice(text.as_bytes());
    out.push(0);
}

/// Appends a length. A length beyond `i32` is clamped; no such document is stored or sent.
fn push_len(out: &mut Vec<u8>, len: usize) {
    out.extend_from_slice(&i32::try_from(len).unwrap_or(i32::MAX).to_le_bytes());
}

/// Finishes the document that starts at `start`: appends the NUL and fills in the length.
fn close(out: &mut Vec<u8>, start: usize) {
    out.push(0);
    let len = i32::try_from(out.len() - start).unwrap_or(i32::MAX);
    out[start..start + 4].copy_from_slice(&len.to_le_bytes());
}

/// Appends type, name and value.
fn append(out: &mut Vec<u8>, name: &[u8], value: ValueRef<'_>) {
    out.push(value.kind() as u8);
    push_name(out, name);
    append_value(out, value);
}

/// Appends an encoded value. Raw documents are copied unchanged.
fn append_value(out: &mut Vec<u8>, value: ValueRef<'_>) {
    match value {
        ValueRef::Double(v) => out.extend_from_slice(&v.to_le_bytes()),
        ValueRef::String(v) | ValueRef::JavaScript(v) | ValueRef::Symbol(v) => push_string(out, v),
        ValueRef::Document(DocRef::Raw(bytes)) | ValueRef::Array(ArrayRef::Raw(bytes)) => {
            out.extend_from_slice(bytes);
        }
        ValueRef::Document(DocRef::Tree(tree)) => append_tree(out, tree),
        ValueRef::Array(ArrayRef::Tree(values)) => append_values(out, values),
        ValueRef::Binary { subtype, bytes } => {
            push_len(out, bytes.len());
            out.push(subtype);
            out.extend_from_slice(bytes);
        }
        ValueRef::ObjectId(v) => out.extend_from_slice(&v.0),
        ValueRef::Bool(v) => out.push(u8::from(v)),
        ValueRef::DateTime(v) | ValueRef::Int64(v) => out.extend_from_slice(&v.to_le_bytes()),
        ValueRef::Regex { pattern, options } => {
            push_name(out, pattern.as_bytes());
            push_name(out, options.as_bytes());
        }
        ValueRef::DbPointer { namespace, id } => {
            push_string(out, namespace);
            out.extend_from_slice(&id.0);
        }
        ValueRef::JavaScriptWithScope { code, scope } => {
            // The length covers itself, the code and the scope, so it is filled in at the end.
            let start = out.len();
            out.extend_from_slice(&[0; 4]);
            push_string(out, code);
            append_value(out, ValueRef::Document(scope));
            let len = i32::try_from(out.len() - start).unwrap_or(i32::MAX);
            out[start..start + 4].copy_from_slice(&len.to_le_bytes());
        }
        ValueRef::Int32(v) => out.extend_from_slice(&v.to_le_bytes()),
        ValueRef::Timestamp(v) => out.extend_from_slice(&v.to_le_bytes()),
        ValueRef::Decimal128(v) => out.extend_from_slice(&v.to_le_bytes()),
        ValueRef::Undefined | ValueRef::Null | ValueRef::MaxKey | ValueRef::MinKey => {}
    }
}

fn append_tree(out: &mut Vec<u8>, tree: &Document) {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    for (name, value) in tree.fields() {
        append(out, name.as_bytes(), value.as_ref());
    }
    close(out, start);
}

fn append_values(out: &mut Vec<u8>, values: &[Value]) {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    let mut buffer = [0; 20];
    for (index, value) in values.iter().enumerate() {
        append(out, index_name(index, &mut buffer), value.as_ref());
    }
    close(out, start);
}
