//! Derives a document's entries in a wildcard index: one per path and scalar value. Elements of an
//! array have the path of the array; an array inside an array is a value of its own.
//!
//! ```text
//!  {a: 1, b: {c: [2, {d: 3}, [4]]}, e: {}}   ──▶   a 1    b.c 2    b.c.d 3    b.c [4]    e undefined
//! ```

use bytes::Bytes;
use document::{DocRef, Document, ValueRef};

use super::DraftedEntries;
use crate::{
    access::push_component,
    catalog::{IndexSpec, WildcardPaths},
    entry::{NamedRow, naming_body},
    error::{Error, Kind},
    keys,
    limits::MAX_ENTRIES_PER_DOCUMENT,
};

/// Name of the path in the key pattern of a scan of a wildcard index.
pub(crate) const PATH_FIELD: &str = "$_path";

/// Returns a document's entries in a wildcard index.
pub(super) fn draft_wildcard(
    index: &IndexSpec,
    paths: &WildcardPaths,
    document: DocRef<'_>,
    row: NamedRow<'_>,
) -> Result<DraftedEntries, Error> {
    let mut entries = Vec::new();
    let body = naming_body(row.key);
    let multikey = walk(index, paths, document, &mut |path, value| {
        entries.push((entry_key(index, path, value, row.key), body.clone()));
    })?;
    entries.sort_unstable();
    entries.dedup();
    Ok(DraftedEntries { entries, multikey, date: None })
}

/// Returns the keys of a document's entries, each with its path and value.
pub(super) fn values_of(
    index: &IndexSpec,
    paths: &WildcardPaths,
    document: DocRef<'_>,
    row_key: &[u8],
) -> Result<Vec<(Bytes, Document)>, Error> {
    let mut found = Vec::new();
    walk(index, paths, document, &mut |path, value| {
        let mut shown = Document::new();
        shown.push(PATH_FIELD, path);
        shown.push(path, value.to_value());
        found.push((entry_key(index, path, value, row_key), shown));
    })?;
    Ok(found)
}

fn entry_key(index: &IndexSpec, path: &str, value: ValueRef<'_>, row_key: &[u8]) -> Bytes {
    let mut key = keys::wildcard_path(index.id, path);
    push_component(index.collation.as_deref(), value, false, &mut key);
    key.extend_from_slice(row_key);
    key.into()
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
    use document::{Value, array, doc, shell};

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
