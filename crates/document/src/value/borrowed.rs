//! Borrowed documents and arrays, as raw bytes or as a tree, with one interface for both.
//!
//! All readers use these types, so evaluation, filters and key encoding work on stored bytes
//! without decoding them, and on computed trees.

use bytes::Bytes;

use super::{
    Document, Value, ValueRef,
    raw::{Elements, RawElements},
};

/// An owned raw document: well-formed BSON bytes with a reference count, so clones are cheap. It
/// may be a slice of a larger buffer, which it then keeps in memory.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct DocBuf(Bytes);

impl DocBuf {
    /// Wraps bytes without checking them; they must come from a builder, the validator or a
    /// checksummed row. Malformed bytes are memory-safe, but reading them ends early.
    pub fn from_trusted(bytes: impl Into<Bytes>) -> Self {
        Self(bytes.into())
    }

    /// Returns a borrowed form of the document.
    pub fn as_ref(&self) -> DocRef<'_> {
        DocRef::Raw(&self.0)
    }

    /// Returns the document's encoded bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the encoded bytes, owned.
    pub fn into_bytes(self) -> Bytes {
        self.0
    }

    /// Returns a copy in a buffer of its own. Use it for documents that are kept long, since a
    /// slice would keep its whole message or store block in memory.
    pub fn detached(&self) -> Self {
        self.as_ref().to_buf()
    }

    /// Returns the value of the first field with this name.
    pub fn get(&self, name: &str) -> Option<ValueRef<'_>> {
        self.as_ref().get(name)
    }
}

impl Default for DocBuf {
    fn default() -> Self {
        Self(Bytes::from_static(&[5, 0, 0, 0, 0]))
    }
}

/// A borrowed document: raw bytes or a tree.
#[derive(Clone, Copy)]
pub enum DocRef<'a> {
    /// The well-formed BSON bytes of a document.
    Raw(&'a [u8]),
    /// A borrowed tree of owned values.
    Tree(&'a Document),
}

impl<'a> DocRef<'a> {
    /// Iterates over the fields in stored order.
    pub fn iter(self) -> impl Iterator<Item = (&'a str, ValueRef<'a>)> + use<'a> {
        // Two iterators, one of them empty, give both forms one type without an allocation.
        let (raw, tree) = match self {
            Self::Raw(bytes) => (Elements::new(bytes), [].iter()),
            Self::Tree(tree) => (Elements::empty(), tree.fields().iter()),
        };
        raw.chain(tree.map(|(name, value)| (name.as_str(), value.as_ref())))
    }

    /// Iterates over the field names without decoding the values.
    pub fn names(self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let (raw, tree) = match self {
            Self::Raw(bytes) => (RawElements::new(bytes), [].iter()),
            Self::Tree(tree) => (RawElements::new(&[]), tree.fields().iter()),
        };
        raw.map(|element| element.name).chain(tree.map(|(name, _)| name.as_bytes()))
    }

    /// Returns the value of the first field with this name.
    pub fn get(self, name: &str) -> Option<ValueRef<'a>> {
        match self {
            Self::Raw(bytes) => super::raw::find(bytes, name),
            Self::Tree(tree) => tree.get(name).map(Value::as_ref),
        }
    }

    /// Returns the value of the first field with this name and the number of fields that were
    /// compared, by which the caller is charged for the search.
    pub fn search(self, name: &str) -> (Option<ValueRef<'a>>, usize) {
        match self {
            Self::Raw(bytes) => super::raw::search(bytes, name),
            Self::Tree(_) => {
                let mut looked = 0;
                let found = self.iter().inspect(|_| looked += 1).find(|(field, _)| *field == name);
                (found.map(|(_, value)| value), looked)
            }
        }
    }

    /// Stores the value of the first field with `names[i]` in `found[i]`. The names must be
    /// distinct and all slots `None`. The document is read once, until all names are found.
    pub fn pick(self, names: &[impl AsRef<str>], found: &mut [Option<ValueRef<'a>>]) {
        match self {
            Self::Raw(bytes) => super::raw::pick(bytes, names, found),
            Self::Tree(tree) => {
                for (name, value) in names.iter().zip(found) {
                    *value = tree.get(name.as_ref()).map(Value::as_ref);
                }
            }
        }
    }

    /// Returns whether the document has no fields.
    pub fn is_empty(self) -> bool {
        self.iter().next().is_none()
    }

    /// Returns the number of fields. This walks raw bytes, since BSON does not store the number.
    pub fn len(self) -> usize {
        self.iter().count()
    }

    /// Returns an owned copy as a tree.
    pub fn to_tree(self) -> Document {
        match self {
            Self::Raw(bytes) => {
                let fields = self.iter().map(|(name, value)| (name.to_owned(), value.to_value()));
                let mut all = room(bytes, || self.len());
                all.extend(fields);
                all.into_iter().collect()
            }
            Self::Tree(tree) => tree.clone(),
        }
    }

    /// Returns an owned copy as raw bytes.
    pub fn to_buf(self) -> DocBuf {
        match self {
            Self::Raw(bytes) => DocBuf(Bytes::copy_from_slice(bytes)),
            Self::Tree(tree) => tree.to_buf(),
        }
    }
}

/// Size in bytes from which the fields of a document are counted before they are copied. In smaller
/// documents counting would cost more than the spare capacity of a growing vector.
const LONG_BYTES: usize = 16 * 1024;

/// Returns a vector for the elements of `bytes`. Large documents get the exact capacity, because
/// spare capacity would stay allocated as long as the copy.
fn room<T>(bytes: &[u8], count: impl FnOnce() -> usize) -> Vec<T> {
    if LONG_BYTES <= bytes.len() { Vec::with_capacity(count()) } else { Vec::new() }
}

/// A borrowed array: raw bytes (a document with keys "0", "1", ...) or a tree.
#[derive(Clone, Copy)]
pub enum ArrayRef<'a> {
    /// Well-formed BSON bytes of the array's document.
    Raw(&'a [u8]),
    /// A borrowed slice of owned values.
    Tree(&'a [Value]),
}

impl<'a> ArrayRef<'a> {
    /// Iterates over the elements in order.
    pub fn iter(self) -> impl Iterator<Item = ValueRef<'a>> + use<'a> {
        let (raw, tree) = match self {
            Self::Raw(bytes) => (Elements::new(bytes), [].iter()),
            Self::Tree(values) => (Elements::empty(), values.iter()),
        };
        raw.map(|(_, value)| value).chain(tree.map(Value::as_ref))
    }

    /// Returns the element at this index.
    pub fn get(self, index: usize) -> Option<ValueRef<'a>> {
        match self {
            Self::Raw(_) => self.iter().nth(index),
            Self::Tree(values) => values.get(index).map(Value::as_ref),
        }
    }

    /// Returns the number of elements; this walks raw bytes.
    pub fn len(self) -> usize {
        match self {
            Self::Raw(_) => self.iter().count(),
            Self::Tree(values) => values.len(),
        }
    }

    /// Returns whether the array has no elements.
    pub fn is_empty(self) -> bool {
        self.iter().next().is_none()
    }

    /// Returns owned copies of the elements.
    pub fn to_values(self) -> Vec<Value> {
        match self {
            Self::Raw(bytes) => {
                let mut values = room(bytes, || self.len());
                values.extend(self.iter().map(ValueRef::to_value));
                values
            }
            Self::Tree(values) => values.to_vec(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doc;

    #[test]
    fn names_are_those_of_all_fields() {
        let tree = doc! { "a": 1, "": "x", "bé": doc! { "c": 3 }, "a": 2 };
        let raw = tree.to_buf();
        for document in [DocRef::Tree(&tree), raw.as_ref()] {
            let names: Vec<&[u8]> = document.names().collect();
            assert_eq!(names, [&b"a"[..], b"", "bé".as_bytes(), b"a"]);
        }
        assert_eq!(DocBuf::default().as_ref().names().count(), 0);
    }

    #[test]
    fn copies_of_long_raw_values_have_no_room_to_spare() {
        for count in [3, 3_000, 5_000] {
            let numbers = Value::Array((0..count).map(Value::Int32).collect());
            let raw = doc! { "a": numbers.clone() }.to_buf();
            let Some(ValueRef::Array(array)) = raw.as_ref().get("a") else { panic!("it is one") };
            let values = array.to_values();
            assert_eq!(Value::Array(values.clone()), numbers);
            assert!(count < 3_000 || array.to_values().capacity() == values.len(), "{count}");
            assert_eq!(raw.as_ref().to_tree(), doc! { "a": numbers });
        }
    }
}
