//! Derives an item's entries: one per value at an included path, or one for a tuple of paths.
//! Arrays are expanded only at paths where the indexing policy has `[]`; a missing value has no
//! entry.
//!
//! ```text
//!  item {a: 1, b: [2, 2]}    policy: all paths included
//!    /a    1  row key        /b  array  row key        /b/[]  2  row key      (once)
//! ```
//!
//! Long values are truncated and followed by a checksum; objects and arrays are entries without
//! content. An entry therefore only proposes a candidate, and the item itself is checked.

use bytes::Bytes;
use document::{
    ArrayRef, DocRef, Document, ValueRef,
    key::{TypeOrder, encode},
};
use expiry::body_checksum;
use select::sarg::PathStep;

use super::entries::DraftedEntries;
use crate::{
    catalog::{IndexShape, IndexSpec, Policy},
    entry::{NamedRow, naming_body},
    error::{Error, Kind},
    keys,
    limits::{KEPT_PATH_COMPONENT_BYTES, MAX_ENTRIES_PER_ITEM},
    names::Partition,
};

/// Returns the index entries of an item for all paths that the policy includes.
pub(super) fn draft_by_policy(
    index: &IndexSpec,
    policy: &Policy,
    document: DocRef<'_>,
    row: NamedRow<'_>,
) -> Result<DraftedEntries, Error> {
    let mut walk = EntryWalk {
        index,
        policy,
        row,
        body: naming_body(row.key),
        steps: Vec::new(),
        path: keys::index_prefix(index.id),
        entries: Vec::new(),
    };
    walk.walk_properties(document)?;
    let mut entries = walk.entries;
    entries.sort_unstable();
    entries.dedup();
    Ok(DraftedEntries { entries, multikey: false, date: None })
}

/// A step of the path to a value, borrowing names from the document.
enum WalkedStep<'a> {
    Property(&'a str),
    Elements,
}

impl PartialEq<WalkedStep<'_>> for PathStep {
    fn eq(&self, at: &WalkedStep<'_>) -> bool {
        match (self, at) {
            (Self::Property(name), WalkedStep::Property(at)) => name == at,
            (Self::Elements, WalkedStep::Elements) => true,
            (Self::Property(_), WalkedStep::Elements)
            | (Self::Elements, WalkedStep::Property(_)) => false,
        }
    }
}

/// Traverses an item and collects its entries in an index.
struct EntryWalk<'a> {
    index: &'a IndexSpec,
    policy: &'a Policy,
    row: NamedRow<'a>,
    /// Body shared by all entries.
    body: Bytes,
    steps: Vec<WalkedStep<'a>>,
    /// Key prefix that encodes the steps walked so far.
    path: Vec<u8>,
    entries: Vec<(Bytes, Bytes)>,
}

impl<'a> EntryWalk<'a> {
    /// Visits the properties of an object.
    fn walk_properties(&mut self, document: DocRef<'a>) -> Result<(), Error> {
        for (name, value) in document.iter() {
            let len = self.path.len();
            keys::push_property(name, &mut self.path);
            // Both the steps, for the policy, and the key prefix are restored afterwards.
            self.steps.push(WalkedStep::Property(name));
            self.walk_value(value)?;
            self.steps.pop();
            self.path.truncate(len);
        }
        Ok(())
    }

    /// Visits the elements of an array, which share one path.
    fn walk_elements(&mut self, values: ArrayRef<'a>) -> Result<(), Error> {
        let len = self.path.len();
        keys::push_elements(&mut self.path);
        self.steps.push(WalkedStep::Elements);
        for value in values.iter() {
            self.walk_value(value)?;
        }
        self.steps.pop();
        self.path.truncate(len);
        Ok(())
    }

    /// Adds an entry for a value if the policy includes its path, and visits nested values.
    fn walk_value(&mut self, value: ValueRef<'a>) -> Result<(), Error> {
        if self.policy.covers_path(&self.steps) {
            let key = self.entry_key(value);
            self.entries.push((key, self.body.clone()));
            check_count(&mut self.entries)?;
        }
        match value {
            // Subtrees that the policy excludes are skipped.
            ValueRef::Document(inner) if self.policy.may_cover_below(&self.steps) => {
                self.walk_properties(inner)
            }
            ValueRef::Array(values) if self.policy.may_cover_below(&self.steps) => {
                self.walk_elements(values)
            }
            _ => Ok(()),
        }
    }

    /// Returns the key of an entry at the current path.
    fn entry_key(&mut self, value: ValueRef<'_>) -> Bytes {
        let len = self.path.len();
        self.path.push(keys::PATH_END);
        path_component(value, &mut self.path);
        let mut key = Vec::with_capacity(self.path.len() + 8 + self.row.key.len());
        key.extend_from_slice(&self.path);
        self.row.push_name(self.index, &mut key);
        self.path.truncate(len);
        key.into()
    }
}

/// Fails if an item has too many distinct entries in an index.
pub(super) fn check_count(entries: &mut Vec<(Bytes, Bytes)>) -> Result<(), Error> {
    if entries.len() <= MAX_ENTRIES_PER_ITEM {
        return Ok(());
    }
    entries.sort_unstable();
    entries.dedup();
    if MAX_ENTRIES_PER_ITEM / 2 < entries.len() {
        let message = "an item has too many entries in an index";
        return Err(Error::new(Kind::TooLarge, message));
    }
    Ok(())
}

/// Encodes a value for an index by path: objects and arrays by type only, long values truncated and
/// with a checksum.
pub(crate) fn path_component(value: ValueRef<'_>, out: &mut Vec<u8>) {
    let empty = Document::new();
    let value = match value {
        ValueRef::Document(_) => ValueRef::Document(DocRef::Tree(&empty)),
        ValueRef::Array(_) => ValueRef::Array(ArrayRef::Tree(&[])),
        scalar => scalar,
    };
    let start = out.len();
    encode(value, TypeOrder::Json, false, out);
    let behind = start + KEPT_PATH_COMPONENT_BYTES;
    // The checksum distinguishes most long values, so that equality yields few candidates.
    if behind < out.len() {
        let sum = body_checksum(out.get(start..).unwrap_or_default());
        out.truncate(behind);
        out.extend_from_slice(&sum.to_be_bytes());
    }
}

/// Returns the single entry of an item in an index over a tuple of paths. A unique index treats
/// missing values as null.
pub(super) fn draft_tuple(
    index: &IndexSpec,
    scope: Option<Partition>,
    document: DocRef<'_>,
    row: NamedRow<'_>,
) -> DraftedEntries {
    let mut key = keys::index_prefix(index.id);
    if let Some(scope) = scope {
        key.extend_from_slice(keys::partition_of(row.key, scope));
    }
    // Unique indexes treat missing values as equal to each other and to null.
    let nothing = if index.unique { ValueRef::Null } else { ValueRef::Undefined };
    for (pointer, descending) in &index.key {
        let value = value_at(document, pointer_names(pointer)).unwrap_or(nothing);
        encode(value, TypeOrder::Json, *descending, &mut key);
    }
    let body = if index.unique {
        Bytes::copy_from_slice(row.key)
    } else {
        row.push_name(index, &mut key);
        naming_body(row.key)
    };
    let entry = (key.into(), body);
    DraftedEntries { entries: vec![entry], multikey: false, date: None }
}

/// Returns the value at a path of properties.
pub(crate) fn value_at<'a>(
    document: DocRef<'a>,
    names: impl IntoIterator<Item = impl AsRef<str>>,
) -> Option<ValueRef<'a>> {
    let mut value = ValueRef::Document(document);
    for name in names {
        let ValueRef::Document(inner) = value else { return None };
        value = inner.get(name.as_ref())?;
    }
    Some(value)
}

/// Splits an index path into names: `/a/b`, with `~0` for `~` and `~1` for `/` in names.
pub(crate) fn pointer_names(pointer: &str) -> impl Iterator<Item = String> {
    pointer.split('/').skip(1).map(|name| name.replace("~1", "/").replace("~0", "~"))
}

impl IndexSpec {
    /// Creates an index over a tuple of property paths with directions (true: descending); a unique
    /// one applies within a logical partition. The first path is always ascending, since inverting
    /// all directions yields an equivalent index.
    pub fn over_tuple(
        name: impl Into<String>,
        paths: &[(Vec<String>, bool)],
        unique: bool,
    ) -> Self {
        // Normalized so that inverted directions give the same index, scanned backward.
        let turn = paths.first().is_some_and(|(_, descending)| *descending);
        let pointer = |path: &Vec<String>| {
            let escaped = path.iter().map(|name| name.replace('~', "~0").replace('/', "~1"));
            escaped.fold(String::new(), |pointer, name| pointer + "/" + &name)
        };
        let key = paths.iter().map(|(path, descending)| (pointer(path), *descending != turn));
        let key = key.collect();
        let shape = IndexShape::Tuple { scoped: unique };
        // In a unique index the key of an entry is the value alone.
        Self { unique, shape, by_creation: !unique, ..Self::new(name, key) }
    }

    /// Returns whether the index orders items by these paths and directions, or by the reverse.
    pub fn has_order(&self, paths: &[(Vec<String>, bool)]) -> bool {
        let wanted = Self::over_tuple("", paths, false);
        self.shape == wanted.shape && self.key == wanted.key
    }
}

#[cfg(test)]
mod tests {
    use document::{Value, array, doc};

    use super::*;
    use crate::catalog::PolicyRule;

    fn everything() -> Policy {
        Policy(vec![PolicyRule { steps: Vec::new(), below: true, included: true }])
    }

    #[test]
    fn every_value_at_an_included_path_has_an_entry() {
        let document = doc! {
            "a": 1,
            "b": doc! { "c": array![1, 1, "x", doc! { "d": Value::Null }] },
            "e": array![],
        };
        let row = NamedRow { key: b"k", creation_stamp: 7 };
        let drafted = draft_by_policy(
            &IndexSpec::over_policy("w", everything()),
            &everything(),
            DocRef::Tree(&document),
            row,
        );
        // Entries of `a`, `b` and `b.c`, of the two different scalars and the object in `b.c`, of
        // the object's `d`, and of `e`.
        assert_eq!(drafted.unwrap().entries.len(), 8);
        let mut policy = everything();
        policy.0.push(PolicyRule {
            steps: vec![PathStep::Property("b".into())],
            below: true,
            included: false,
        });
        let drafted = draft_by_policy(
            &IndexSpec::over_policy("w", policy.clone()),
            &policy,
            DocRef::Tree(&document),
            row,
        );
        assert_eq!(drafted.unwrap().entries.len(), 2);
    }

    #[test]
    fn a_tuple_is_one_entry_and_a_unique_one_takes_nothing_as_null() {
        let paths = [(vec!["a".to_owned(), "x/y".to_owned()], false), (vec!["b".to_owned()], true)];
        let key = |unique: bool, document: Document| {
            let index = IndexSpec::over_tuple("t", &paths, unique);
            let scope = Partition { hash_bytes: 2, values: 1 };
            let mut row_key = vec![7, 7];
            encode(ValueRef::String("p"), TypeOrder::Json, false, &mut row_key);
            row_key.extend_from_slice(b"rest");
            let row = NamedRow { key: &row_key, creation_stamp: 7 };
            let drafted = draft_tuple(&index, Some(scope), DocRef::Tree(&document), row);
            drafted.entries.into_iter().next().unwrap().0
        };
        let inner = doc! { "a": doc! { "x/y": 1 } };
        assert_eq!(
            key(true, inner.clone()),
            key(true, doc! { "a": doc! { "x/y": 1.0 }, "b": Value::Null })
        );
        assert_ne!(
            key(false, inner.clone()),
            key(false, doc! { "a": doc! { "x/y": 1.0 }, "b": Value::Null })
        );
        assert!(key(true, inner).starts_with(&[0, 0, 0, 0, 7, 7]));
    }
}
