//! Derives a document's entries in a wildcard index: one per path and scalar value. Elements of an
//! array have the path of the array; an array inside an array is a value of its own.
//!
//! ```text
//!  {a: 1, b: {c: [2, {d: 3}, [4]]}, e: {}}   ──▶   a 1    b.c 2    b.c.d 3    b.c [4]    e undefined
//! ```
//!
//! The entries of a compound index have the values of its other fields before and behind path and
//! value. There, a document has at least one entry.

use bytes::Bytes;
use document::{DocRef, Document, Value, ValueRef};

use super::{DraftedEntries, single_value::single_value};
use crate::{
    access::push_component,
    catalog::{IndexSpec, WildcardKey, WildcardPaths},
    entry::{NamedRow, naming_body},
    error::{Error, Kind},
    keys,
    limits::MAX_ENTRIES_PER_DOCUMENT,
};

/// Error number: an array at a field beside the wildcard.
const ARRAY_BESIDE: i32 = 7_246_301;

/// Name of the path in the key pattern of a scan of a wildcard index.
pub(crate) const PATH_FIELD: &str = "$_path";

/// The values of the fields beside the wildcard of a compound index, as parts of its keys.
struct Around {
    before: Vec<u8>,
    behind: Vec<u8>,
}

impl Around {
    /// Encodes the values of a document; fails if one of them is an array.
    fn of(index: &IndexSpec, document: DocRef<'_>, row_key: &[u8]) -> Result<Self, Error> {
        let key = WildcardKey::of(&index.key);
        let encode = |fields: &[(String, bool)], out: &mut Vec<u8>| -> Result<(), Error> {
            for (path, descending) in fields {
                let value = single_value(document, path).ok_or_else(|| array_beside(path))?;
                push_component(index.collation.as_deref(), value, *descending, out);
            }
            Ok(())
        };
        let (mut before, mut behind) = (keys::index_prefix(index.id), Vec::new());
        encode(key.before, &mut before)?;
        encode(key.behind, &mut behind)?;
        behind.extend_from_slice(row_key);
        Ok(Self { before, behind })
    }

    /// Returns the key of an entry.
    fn entry_key(&self, index: &IndexSpec, path: &str, value: ValueRef<'_>) -> Bytes {
        let mut key = self.before.clone();
        keys::push_wildcard_path(path, &mut key);
        let descending = WildcardKey::of(&index.key).descending;
        push_component(index.collation.as_deref(), value, descending, &mut key);
        key.extend_from_slice(&self.behind);
        key.into()
    }

    /// Returns the key of the entry of a document without a value that the wildcard covers, by
    /// which conditions on the other fields find it.
    fn bare_key(&self) -> Bytes {
        let mut key = self.before.clone();
        keys::push_no_wildcard_path(&mut key);
        key.extend_from_slice(&self.behind);
        key.into()
    }
}

fn array_beside(path: &str) -> Error {
    let message =
        format!("cannot index an array at '{path}', a field beside the wildcard of an index");
    evaluation::Error::new(evaluation::Kind::Invalid, ARRAY_BESIDE, message).into()
}

/// Returns a document's entries in a wildcard index.
pub(super) fn draft_wildcard(
    index: &IndexSpec,
    paths: &WildcardPaths,
    document: DocRef<'_>,
    row: NamedRow<'_>,
) -> Result<DraftedEntries, Error> {
    let mut entries = Vec::new();
    let body = naming_body(row.key);
    let around = Around::of(index, document, row.key)?;
    let multikey = walk(index, paths, document, &mut |path, value| {
        entries.push((around.entry_key(index, path, value), body.clone()));
    })?;
    if entries.is_empty() && WildcardKey::of(&index.key).is_compound() {
        entries.push((around.bare_key(), body));
    }
    entries.sort_unstable();
    entries.dedup();
    Ok(DraftedEntries { entries, multikey, date: None })
}

/// Returns the keys of a document's entries, each with its path and values.
pub(super) fn values_of(
    index: &IndexSpec,
    paths: &WildcardPaths,
    document: DocRef<'_>,
    row_key: &[u8],
) -> Result<Vec<(Bytes, Document)>, Error> {
    let around = Around::of(index, document, row_key)?;
    let key = WildcardKey::of(&index.key);
    let push = |fields: &[(String, bool)], shown: &mut Document| {
        for (path, _) in fields {
            let value = single_value(document, path).unwrap_or(ValueRef::Null);
            shown.push(path.as_str(), value.to_value());
        }
    };
    let mut found = Vec::new();
    walk(index, paths, document, &mut |path, value| {
        let mut shown = Document::new();
        push(key.before, &mut shown);
        shown.push(PATH_FIELD, path);
        shown.push(path, value.to_value());
        push(key.behind, &mut shown);
        found.push((around.entry_key(index, path, value), shown));
    })?;
    if found.is_empty() && key.is_compound() {
        let mut shown = Document::new();
        push(key.before, &mut shown);
        shown.push(PATH_FIELD, Value::MinKey);
        push(key.behind, &mut shown);
        found.push((around.bare_key(), shown));
    }
    Ok(found)
}

/// Calls `visit` with each path and value that have an entry. Returns whether the document has an
/// array at one of the paths, or on the way to one. Fails if there are too many entries.
fn walk<'a>(
    index: &IndexSpec,
    paths: &WildcardPaths,
    document: DocRef<'a>,
    visit: &mut dyn FnMut(&str, ValueRef<'a>),
) -> Result<bool, Error> {
    let mut walk = Walk { index, paths, visit, path: String::new(), entries: 0, multikey: false };
    walk.fields(document)?;
    Ok(walk.multikey)
}

/// The traversal of a document. Its depth is limited by that of valid documents.
struct Walk<'w, 'a> {
    index: &'w IndexSpec,
    paths: &'w WildcardPaths,
    visit: &'w mut dyn FnMut(&str, ValueRef<'a>),
    path: String,
    entries: usize,
    multikey: bool,
}

impl<'a> Walk<'_, 'a> {
    fn fields(&mut self, document: DocRef<'a>) -> Result<(), Error> {
        for (name, value) in document.iter() {
            // No query reaches a field whose name contains a dot.
            if name.contains('.') {
                continue;
            }
            let len = self.path.len();
            if 0 < len {
                self.path.push('.');
            }
            self.path.push_str(name);
            if self.paths.may_cover_below(&self.path) {
                self.value(value)?;
            }
            self.path.truncate(len);
        }
        Ok(())
    }

    fn value(&mut self, value: ValueRef<'a>) -> Result<(), Error> {
        match value {
            ValueRef::Document(inner) => self.inner(inner),
            ValueRef::Array(values) => {
                self.multikey = true;
                if values.is_empty() {
                    return self.enter(ValueRef::Undefined);
                }
                values.iter().try_for_each(|element| match element {
                    ValueRef::Document(inner) => self.inner(inner),
                    element => self.enter(element),
                })
            }
            scalar => self.enter(scalar),
        }
    }

    /// Visits the fields of an inner document. One without entries is entered itself, so that its
    /// path is known to exist.
    fn inner(&mut self, document: DocRef<'a>) -> Result<(), Error> {
        let before = self.entries;
        self.fields(document)?;
        if self.entries == before { self.enter(ValueRef::Undefined) } else { Ok(()) }
    }

    fn enter(&mut self, value: ValueRef<'a>) -> Result<(), Error> {
        if !self.paths.covers(&self.path) {
            return Ok(());
        }
        self.entries += 1;
        if MAX_ENTRIES_PER_DOCUMENT < self.entries {
            let message = format!("a document has too many entries in index '{}'", self.index.name);
            return Err(Error::new(Kind::TooLarge, message));
        }
        (self.visit)(&self.path, value);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use document::{array, doc, shell};

    use super::*;
    use crate::catalog::IndexShape;

    #[test]
    fn each_scalar_has_an_entry_at_its_path() {
        let document = doc! {
            "_id": 7,
            "a": 1,
            "b": doc! { "c": array![2, doc! { "d": 3 }, array![4]] },
            "e": doc! {},
            "f": array![],
            "g.h": 5,
            "n": Value::Null,
        };
        let paths = WildcardPaths::default();
        let shape = IndexShape::Wildcard(paths.clone());
        let index = IndexSpec { shape, ..IndexSpec::new("w", vec![("$**".into(), false)]) };
        let mut found = Vec::new();
        let multikey = walk(&index, &paths, DocRef::Tree(&document), &mut |path, value| {
            found.push(format!("{path} {}", shell(value)));
        });
        let want = ["a 1", "b.c 2", "b.c.d 3", "b.c [ 4 ]", "e undefined", "f undefined", "n null"];
        assert_eq!(found, want);
        assert!(multikey.unwrap());
    }
}
