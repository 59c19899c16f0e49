//! The documents that a group of statements writes, with which of them meet a later statement's
//! filter. In doubt a document is said to meet it: that costs a wait for the disk.
//!
//! Most statements of a long list name their document by equalities (`{_id: 5}`, `{key: "a", value:
//! "b"}`). For each set of paths that statements have equalities on, documents are kept by their
//! values there, so that a statement is compared with few of them.

use std::collections::{HashMap, HashSet};

use bytes::Bytes;
use document::{DocRef, Path, ValueRef};
use evaluation::Context;
use pipeline::Filter;

use crate::{
    access::{collect_conjuncts, encode_component, equality_component},
    row::Row,
};

/// Sets of paths by which documents are kept. Statements with further ones are compared with all.
const MAX_SHAPES: usize = 8;
/// Documents that a statement is compared with; with more it is said to meet one of them.
const MAX_COMPARED: usize = 64;

/// A document that a group writes.
pub(super) struct WrittenDocument {
    /// The key of its row.
    pub(super) key: Bytes,
    /// As it is in the view; none where it is new.
    pub(super) before: Option<Row>,
    /// As it will be; none where it is removed.
    pub(super) after: Option<Bytes>,
}

impl WrittenDocument {
    /// Bytes of both versions.
    pub(super) fn bytes(&self) -> usize {
        self.before.as_ref().map_or(0, |row| row.value.len())
            + self.after.as_ref().map_or(0, Bytes::len)
    }

    /// The document as it was and as it will be.
    fn versions(&self) -> impl Iterator<Item = DocRef<'_>> {
        let before = self.before.as_ref().map(Row::document);
        before.into_iter().chain(self.after.as_ref().map(|after| DocRef::Raw(after)))
    }
}

/// The documents that a group writes in one collection.
#[derive(Default)]
pub(super) struct WrittenDocuments {
    documents: Vec<WrittenDocument>,
    keys: HashSet<Bytes>,
    /// Keys in unique indexes that they take or give up.
    unique: HashSet<Bytes>,
    shapes: Vec<Shape>,
}

/// Documents by their values at some paths.
struct Shape {
    paths: Vec<Path>,
    /// Places of documents by the encoded values at all paths.
    by_values: HashMap<Vec<u8>, Vec<usize>>,
    /// Documents with an array at one of the paths: they may have several values.
    with_arrays: Vec<usize>,
    /// How many of the documents are in here.
    seen: usize,
}

/// The values of a document at the paths of a shape.
enum Values {
    /// It has none at one of the paths.
    Missing,
    Encoded(Vec<u8>),
    Arrays,
}

impl WrittenDocuments {
    /// Adds a document; none with its key is in here.
    pub(super) fn add(&mut self, document: WrittenDocument) {
        self.keys.insert(document.key.clone());
        self.documents.push(document);
    }

    /// Adds keys in unique indexes.
    pub(super) fn claim(&mut self, unique: HashSet<Bytes>) {
        self.unique.extend(unique);
    }

    /// Whether the document with this key is written.
    pub(super) fn has_key(&self, key: &Bytes) -> bool {
        self.keys.contains(key)
    }

    /// Whether a key in a unique index is taken or given up.
    pub(super) fn has_claimed(&self, key: &Bytes) -> bool {
        self.unique.contains(key)
    }

    /// Whether a document may meet the filter, as it was or as it will be, or the filter may fail on
    /// one.
    pub(super) fn may_meet(&mut self, filter: &Filter, context: &Context) -> bool {
        let Some(compared) = self.compared_with(filter) else { return true };
        compared.into_iter().filter_map(|at| self.documents.get(at)).any(|document| {
            let mut versions = document.versions();
            versions.any(|version| !matches!(filter.matches(version, context), Ok(false)))
        })
    }

    /// The documents that the filter has to be compared with; `None`: too many.
    fn compared_with(&mut self, filter: &Filter) -> Option<Vec<usize>> {
        let equalities = equalities_of(filter);
        let compared = match self.shape_of(&equalities) {
            Some(shape) => {
                let values: Vec<u8> = equalities.into_iter().flat_map(|(_, value)| value).collect();
                let mut compared = shape.with_arrays.clone();
                compared.extend(shape.by_values.get(&values).into_iter().flatten());
                compared
            }
            None => (0..self.documents.len()).collect(),
        };
        (compared.len() <= MAX_COMPARED).then_some(compared)
    }

    /// The shape of the paths of equalities, with all documents; `None` without equalities, or when
    /// there are too many shapes.
    fn shape_of(&mut self, equalities: &[(&Path, Vec<u8>)]) -> Option<&Shape> {
        if equalities.is_empty() {
            return None;
        }
        let is_it = |shape: &Shape| shape.paths.iter().eq(equalities.iter().map(|(path, _)| *path));
        let at = match self.shapes.iter().position(is_it) {
            Some(at) => at,
            None if self.shapes.len() < MAX_SHAPES => {
                self.shapes.push(Shape::new(equalities));
                self.shapes.len() - 1
            }
            None => return None,
        };
        let shape = self.shapes.get_mut(at)?;
        shape.add_new(&self.documents);
        Some(shape)
    }
}

impl Shape {
    fn new(equalities: &[(&Path, Vec<u8>)]) -> Self {
        let paths = equalities.iter().map(|(path, _)| Path::clone(path)).collect();
        Self { paths, by_values: HashMap::new(), with_arrays: Vec::new(), seen: 0 }
    }

    /// Takes in the documents that were written since the last time.
    fn add_new(&mut self, documents: &[WrittenDocument]) {
        for (at, document) in documents.iter().enumerate().skip(self.seen) {
            for version in document.versions() {
                match self.values_of(version) {
                    Values::Missing => {}
                    Values::Encoded(values) => self.by_values.entry(values).or_default().push(at),
                    Values::Arrays => self.with_arrays.push(at),
                }
            }
        }
        self.seen = documents.len();
    }

    /// The values of a document at the paths.
    fn values_of(&self, document: DocRef<'_>) -> Values {
        let mut values = Vec::new();
        for path in &self.paths {
            let mut value = Some(ValueRef::Document(document));
            for part in path.parts() {
                value = match value {
                    Some(ValueRef::Document(inner)) => inner.get(part),
                    Some(ValueRef::Array(_)) => return Values::Arrays,
                    _ => None,
                };
            }
            match value {
                None => return Values::Missing,
                Some(ValueRef::Array(_)) => return Values::Arrays,
                Some(value) => values.extend(encode_component(value, false)),
            }
        }
        Values::Encoded(values)
    }
}

/// The equalities that a filter demands, one for each path, in the order of paths. Of a filter that
/// may fail there are none, since it may fail on any document.
fn equalities_of(filter: &Filter) -> Vec<(&Path, Vec<u8>)> {
    if filter.has_expression() {
        return Vec::new();
    }
    let mut parts = Vec::new();
    collect_conjuncts(filter, &mut parts);
    let mut equalities: Vec<(&Path, Vec<u8>)> = Vec::new();
    for part in parts {
        if let Filter::Path(path, test) = part
            && let Some(value) = equality_component(test)
            && equalities.iter().all(|(held, _)| *held != path)
        {
            equalities.push((path, value));
        }
    }
    equalities.sort_by_key(|(path, _)| *path);
    equalities
}
