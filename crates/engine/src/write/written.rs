//! The documents that a group writes, and whether one may match a later statement's filter. In
//! doubt the answer is yes, which costs one wait for the disk.
//!
//! Most statements of a long list select their document by equalities (`{_id: 5}`, `{key: "a",
//! value: "b"}`). For each set of paths with equalities, documents are indexed by their values
//! there, so that a statement is compared with few of them.

use std::collections::{HashMap, HashSet};

use bytes::Bytes;
use document::{DocRef, Path, ValueRef};
use evaluation::Context;
use pipeline::Filter;

use crate::{
    access::{KeyTexts, collect_conjuncts, equality_component},
    catalog::IndexSpec,
    row::Row,
};

/// Maximum number of distinct sets of filter paths by which the documents that a command writes are
/// indexed. A statement whose filter has yet another set is matched against all of these documents.
const MAX_SHAPES: usize = 8;
/// Maximum number of documents that a filter is compared with; if there are more, a match is
/// assumed.
const MAX_COMPARED: usize = 64;

/// A document that a group writes.
pub(super) struct WrittenDocument {
    pub(super) key: Bytes,
    /// The document as the view sees it; `None` if it is new.
    pub(super) before: Option<Row>,
    /// The document after the write; `None` if it is deleted.
    pub(super) after: Option<Bytes>,
    /// Index, among the group's writes, of the update that wrote this document and no other, so
    /// that a later update may replace that write; `None` for any other write.
    pub(super) write: Option<usize>,
}

/// A document whose write a later update replaces.
#[derive(Clone, Copy)]
pub(super) struct Rewritten {
    pub(super) document: usize,
    /// Index of the replaced write among the group's writes.
    pub(super) write: usize,
}

impl WrittenDocument {
    /// Returns the total size in bytes of the document before and after the write.
    pub(super) fn bytes(&self) -> usize {
        self.before.as_ref().map_or(0, |row| row.value.len())
            + self.after.as_ref().map_or(0, Bytes::len)
    }

    /// Returns whether the document may match the filter, before or after its write, or may make it
    /// fail.
    fn may_match(&self, filter: &Filter, context: &Context) -> bool {
        let mut versions = self.versions();
        versions.any(|version| !matches!(filter.matches(version, context), Ok(false)))
    }

    /// Returns the document before and after the write.
    fn versions(&self) -> impl Iterator<Item = DocRef<'_>> {
        let before = self.before.as_ref().map(Row::document);
        before.into_iter().chain(self.after.as_ref().map(|after| DocRef::Raw(after)))
    }
}

/// The documents of a group that the filter of a later statement may match.
pub(super) enum Overlap {
    /// The filter matches no document of the group.
    None,
    /// Only this document, which an update wrote without writing any other. The filter selects the
    /// document by `_id` or by the values of a unique index, and matches its new version.
    Document(Rewritten),
    /// The filter may match other documents or documents that were not compared, or its evaluation
    /// may fail.
    Possible,
}

/// The documents that a group writes in one collection.
#[derive(Default)]
pub(super) struct WrittenDocuments {
    documents: Vec<WrittenDocument>,
    keys: HashSet<Bytes>,
    /// Unique keys that the documents take or release; for each the index of the document that
    /// does so, unless a statement with several documents does.
    unique: HashMap<Bytes, Option<usize>>,
    shapes: Vec<Shape>,
}

/// An index in memory of written documents by their values at some paths.
struct Shape {
    paths: Vec<Path>,
    /// For the encoded values at all paths, the indexes of the documents that have them.
    by_values: HashMap<Vec<u8>, Vec<usize>>,
    /// Documents with an array at one of the paths, which may have several values.
    with_arrays: Vec<usize>,
    /// Number of documents that are already in the index.
    seen: usize,
}

/// The values of a document at the paths by which documents are indexed.
enum Values {
    /// The document lacks a value at one of the paths.
    Missing,
    Encoded(Vec<u8>),
    Arrays,
}

impl WrittenDocuments {
    /// Adds a document, whose key must be new.
    pub(super) fn add(&mut self, document: WrittenDocument) {
        self.keys.insert(document.key.clone());
        self.documents.push(document);
    }

    /// Replaces the write of a document by a later one of the same document.
    pub(super) fn replace(&mut self, at: usize, document: WrittenDocument) {
        let Some(held) = self.documents.get_mut(at) else { return };
        held.after = document.after;
        for shape in self.shapes.iter_mut().filter(|shape| at < shape.seen) {
            shape.add(at, held);
        }
    }

    /// Returns the document at an index.
    pub(super) fn get(&self, at: usize) -> Option<&WrittenDocument> {
        self.documents.get(at)
    }

    /// Returns the number of documents.
    pub(super) fn len(&self) -> usize {
        self.documents.len()
    }

    /// Records unique keys that a statement takes or releases; `document` is the index of the only
    /// document that it writes.
    pub(super) fn claim(&mut self, unique: HashSet<Bytes>, document: Option<usize>) {
        self.unique.extend(unique.into_iter().map(|key| (key, document)));
    }

    /// Returns whether the document with this key is written.
    pub(super) fn has_key(&self, key: &Bytes) -> bool {
        self.keys.contains(key)
    }

    /// Returns whether a write of the group takes or releases a unique key, other than writes of
    /// `document` alone.
    pub(super) fn has_claimed(&self, key: &Bytes, document: Option<usize>) -> bool {
        self.unique.get(key).is_some_and(|owner| owner.is_none() || *owner != document)
    }

    /// Compares the filter of a statement with the documents, before and after their writes.
    /// `indexes` are those of the collection.
    pub(super) fn overlap(
        &mut self,
        filter: &Filter,
        context: &Context,
        indexes: &[IndexSpec],
    ) -> Overlap {
        let equalities = equalities_of(filter, context);
        let selects_one = select_one(&equalities, indexes);
        let Some(compared) = self.compared_with(equalities) else { return Overlap::Possible };
        let mut met = compared.into_iter().filter(|at| {
            self.documents.get(*at).is_some_and(|document| document.may_match(filter, context))
        });
        let Some(at) = met.next() else { return Overlap::None };
        if selects_one
            && met.next().is_none()
            && let Some(document) = self.documents.get(at)
            && let (Some(after), Some(write)) = (&document.after, document.write)
            && matches!(filter.matches(DocRef::Raw(after), context), Ok(true))
        {
            return Overlap::Document(Rewritten { document: at, write });
        }
        Overlap::Possible
    }

    /// Returns the documents with which a filter with these equalities has to be compared; `None`
    /// if they are too many.
    fn compared_with(&mut self, equalities: Vec<(&Path, Vec<u8>)>) -> Option<Vec<usize>> {
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

    /// Returns the index (shape) by the paths of the equalities, with all written documents added;
    /// `None` without equalities or if there are too many shapes.
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

    /// Adds to the index the documents that were written since the last call.
    fn add_new(&mut self, documents: &[WrittenDocument]) {
        for (at, document) in documents.iter().enumerate().skip(self.seen) {
            self.add(at, document);
        }
        self.seen = documents.len();
    }

    /// Indexes the versions of the document with the index `at`, each value once.
    fn add(&mut self, at: usize, document: &WrittenDocument) {
        for version in document.versions() {
            let indexes = match self.values_of(version) {
                Values::Missing => continue,
                Values::Encoded(values) => self.by_values.entry(values).or_default(),
                Values::Arrays => &mut self.with_arrays,
            };
            // Sorted, so that a document occurs once however often it is rewritten.
            if let Err(place) = indexes.binary_search(&at) {
                indexes.insert(place, at);
            }
        }
    }

    /// Returns the values of a document at the paths of this index.
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
                Some(value) => values.extend(KeyTexts::BYTES.encode_component(value, false)),
            }
        }
        Values::Encoded(values)
    }
}

/// Returns whether at most one document can have these values: the values include an `_id`, or all
/// fields of a unique index in which no document has several entries.
fn select_one(equalities: &[(&Path, Vec<u8>)], indexes: &[IndexSpec]) -> bool {
    let value_at = |path: &str| {
        equalities.iter().find(|(at, _)| at.as_str() == path).map(|(_, value)| value.as_slice())
    };
    let null = KeyTexts::BYTES.encode_component(ValueRef::Null, false);
    let is_complete = |index: &IndexSpec| {
        // Null is also equal to values that have other keys, or none in a sparse index.
        let mut values = index.key.iter().map(|(path, _)| value_at(path));
        values.all(|value| value.is_some_and(|value| value != null))
    };
    value_at("_id").is_some()
        || indexes.iter().any(|index| {
            index.unique
                && index.ready
                && index.has_fields()
                && !index.multikey
                && index.partial.is_none()
                && index.collation.is_none()
                && is_complete(index)
        })
}

/// Returns the equalities that a filter requires, one per path, in path order. Empty for a filter
/// that may fail, since it may fail on any document.
fn equalities_of<'f>(filter: &'f Filter, context: &Context) -> Vec<(&'f Path, Vec<u8>)> {
    // A text that is equal by a collation may have other bytes.
    let texts = KeyTexts::of(None, context.collation());
    if filter.has_expression() {
        return Vec::new();
    }
    let mut parts = Vec::new();
    collect_conjuncts(filter, &mut parts);
    let mut equalities: Vec<(&Path, Vec<u8>)> = Vec::new();
    for part in parts {
        if let Filter::Path(path, test) = part
            && let Some(value) = equality_component(test, texts)
            && equalities.iter().all(|(held, _)| *held != path)
        {
            equalities.push((path, value));
        }
    }
    equalities.sort_by_key(|(path, _)| *path);
    equalities
}
