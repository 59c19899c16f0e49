//! Derives a document's entries in an index: one tuple of values per combination of array elements.
//!
//! ```text
//!  index (a, b.c)   document {a: [1, 2], b: {c: 3}}    ──▶  (1, 3) (2, 3)
//!                   document {a: [1, 2], b: [..]}      ──▶  error: parallel arrays
//!                   document {a: []}                   ──▶  (undefined, null)
//! ```

use bytes::Bytes;
use document::{
    ArrayRef, DocRef, Document, Value, ValueRef,
    key::{component_hash, hashed_component},
};
use evaluation::Context;
use pipeline::Filter;
use store::KeyRange;

use super::{geo, items, text, values, wildcard};
use crate::{
    access::push_component,
    catalog::{IndexShape, IndexSpec},
    entry::{NamedRow, naming_body},
    error::{Error, Kind},
    keys,
    limits::MAX_ENTRIES_PER_DOCUMENT,
    names::Partition,
};

/// A document's entries in an index, before its commit is stamped.
#[derive(Debug)]
pub(crate) struct DraftedEntries {
    /// Keys and bodies without headers, sorted by key.
    pub(crate) entries: Vec<(Bytes, Bytes)>,
    /// Whether a value was an array that was expanded to an entry per element.
    pub(crate) multikey: bool,
    /// The earliest date among the values, for a date index.
    pub(crate) date: Option<i64>,
}

/// Returns a document's entries in an index; `None` if the index does not cover it. `scope` is the
/// layout of row keys if documents are items.
pub(crate) fn draft_entries(
    index: &IndexSpec,
    partial: Option<&Filter>,
    document: DocRef<'_>,
    row: NamedRow<'_>,
    scope: Option<Partition>,
) -> Result<Option<DraftedEntries>, Error> {
    match &index.shape {
        IndexShape::Fields
        | IndexShape::Hashed(_)
        | IndexShape::Wildcard(_)
        | IndexShape::Text(_)
        | IndexShape::Geo(_) => {}
        IndexShape::Wild(policy) => {
            return items::draft_by_policy(index, policy, document, row).map(Some);
        }
        IndexShape::Tuple { scoped } => {
            let scope = scope.filter(|_| *scoped);
            return Ok(Some(items::draft_tuple(index, scope, document, row)));
        }
        IndexShape::Path(kept) => {
            return values::draft_by_path(index, &kept.steps, document, row).map(Some);
        }
        IndexShape::InsertionOrder => {
            let mut key = keys::index_prefix(index.id);
            row.push_name(index, &mut key);
            let entries = vec![(Bytes::from(key), naming_body(row.key))];
            return Ok(Some(DraftedEntries { entries, multikey: false, date: None }));
        }
        // An index that only holds a policy has no entries, and those of the index of upcoming
        // expirations (timeline) are derived from headers.
        IndexShape::Allowed(_) | IndexShape::Timeline => return Ok(None),
    }
    if let Some(filter) = partial {
        let collation = index.collation.clone();
        if !filter.matches(document, &Context { collation, ..Context::default() })? {
            return Ok(None);
        }
    }
    match &index.shape {
        IndexShape::Wildcard(paths) => {
            return wildcard::draft_wildcard(index, paths, document, row).map(Some);
        }
        IndexShape::Text(rules) => {
            return text::draft_text(index, rules, document, row).map(Some);
        }
        IndexShape::Geo(rules) => return geo::draft_geo(index, rules, document, row),
        _ => {}
    }
    let tuples = field_tuples(index, document)?;
    let Some(tuples) = tuples else { return Ok(None) };
    if let Some(path) = index.hashed_path().filter(|_| tuples.multikey) {
        let message = format!(
            "Error: hashed indexes do not currently support array values. Found an array at a path \
             of the index that hashes '{path}'"
        );
        return Err(Error::new(Kind::HashedArray, message));
    }
    let multikey = tuples.multikey;
    let date = index.expire_after.and_then(|_| {
        // Array elements are expanded already, and dates in nested arrays expire nothing.
        let dates = tuples.values.iter().filter_map(|tuple| match tuple.first() {
            Some(ValueRef::DateTime(ms)) => Some(*ms),
            _ => None,
        });
        dates.min()
    });
    let mut entries: Vec<(Bytes, Bytes)> =
        tuples.values.iter().map(|tuple| entry_of_tuple(index, tuple, row.key)).collect();
    // Equal elements give equal entries, and lookups rely on the order.
    entries.sort();
    entries.dedup();
    Ok(Some(DraftedEntries { entries, multikey, date }))
}

/// Returns key and body of the index entry for one combination of values.
fn entry_of_tuple(index: &IndexSpec, tuple: &[ValueRef<'_>], row_key: &[u8]) -> (Bytes, Bytes) {
    let mut key = keys::index_prefix(index.id);
    for (value, (path, descending)) in tuple.iter().zip(&index.key) {
        let start = key.len();
        push_component(index.collation.as_deref(), *value, *descending, &mut key);
        if index.hashed_path() == Some(path) {
            let hashed = hashed_component(key.get(start..).unwrap_or_default());
            key.truncate(start);
            key.extend_from_slice(&hashed);
        }
    }
    if index.unique {
        return (key.into(), Bytes::copy_from_slice(row_key));
    }
    key.extend_from_slice(row_key);
    (key.into(), naming_body(row_key))
}

/// Returns the paths and values of the first entry of a document, in the direction of a scan, that
/// lies within the scanned ranges of an index; `None` if there is no such entry.
pub(crate) fn entry_within(
    index: &IndexSpec,
    ranges: &[KeyRange],
    backward: bool,
    document: DocRef<'_>,
    row_key: &[u8],
) -> Option<Document> {
    let within = |key: &[u8]| {
        ranges.iter().any(|range| {
            range.start.as_slice() <= key
                && range.end.as_ref().is_none_or(|end| key < end.as_slice())
        })
    };
    let mut found: Vec<(Bytes, Document)> = match &index.shape {
        IndexShape::Wildcard(paths) => wildcard::values_of(index, paths, document, row_key).ok()?,
        _ => {
            let tuples = field_tuples(index, document).ok()??;
            let named = |tuple: &Vec<ValueRef<'_>>| {
                let parts = index.key.iter().zip(tuple);
                let value = |path: &str, value: ValueRef<'_>| match index.hashed_path() {
                    Some(hashed) if hashed == path => hash_of(index, value),
                    _ => value.to_value(),
                };
                let shown = parts.map(|((path, _), it)| (path.clone(), value(path, *it)));
                (entry_of_tuple(index, tuple, row_key).0, shown.collect())
            };
            tuples.values.iter().map(named).collect()
        }
    };
    found.retain(|(key, _)| within(key));
    found.sort_by(|(a, _), (b, _)| a.cmp(b));
    let first = if backward { found.pop() } else { found.into_iter().next() };
    first.map(|(_, shown)| shown)
}

/// Returns the number by which a hashed index represents a value.
fn hash_of(index: &IndexSpec, value: ValueRef<'_>) -> Value {
    let mut component = Vec::new();
    push_component(index.collation.as_deref(), value, false, &mut component);
    Value::Int64(component_hash(&component))
}

/// The combinations of values for which a document has index entries.
struct Tuples<'a> {
    /// Combinations with one value per field of the index.
    values: Vec<Vec<ValueRef<'a>>>,
    /// Whether a value was an array that was expanded to a combination per element.
    multikey: bool,
}

/// State of the traversal of one field's path.
#[derive(Clone, Copy, Debug)]
enum FieldPosition<'a> {
    /// The path leads to this value.
    Value(ValueRef<'a>),
    /// The path has no value.
    Missing,
    /// The remaining path continues within this document.
    Inside(DocRef<'a>, &'a str),
    /// The traversal has reached an array, with the remaining path; if that is empty, the elements
    /// are the values.
    Array(ArrayRef<'a>, &'a str),
}

/// The values at one path, and whether an array was expanded to a value per element.
pub(super) struct PathValues<'a> {
    pub(super) values: Vec<ValueRef<'a>>,
    pub(super) expanded: bool,
}

/// Returns the values at a path; null for a missing one.
pub(super) fn values_of_path<'a>(
    index: &IndexSpec,
    document: DocRef<'a>,
    path: &'a str,
) -> Result<PathValues<'a>, Error> {
    let mut out = Tuples { values: Vec::new(), multikey: false };
    expand_arrays(index, vec![FieldPosition::Inside(document, path)], &mut out, &mut true)?;
    let values = out.values.into_iter().flatten().collect();
    Ok(PathValues { values, expanded: out.multikey })
}

fn field_tuples<'a>(
    index: &'a IndexSpec,
    document: DocRef<'a>,
) -> Result<Option<Tuples<'a>>, Error> {
    let start = index.key.iter().map(|(path, _)| FieldPosition::Inside(document, path)).collect();
    let mut out = Tuples { values: Vec::new(), multikey: false };
    let mut all_missing = true;
    expand_arrays(index, start, &mut out, &mut all_missing)?;
    Ok((!(index.sparse && all_missing)).then_some(out))
}

/// Resolves every field to a value or an array, then recurses for each element of the array.
fn expand_arrays<'a>(
    index: &IndexSpec,
    fields: Vec<FieldPosition<'a>>,
    out: &mut Tuples<'a>,
    all_missing: &mut bool,
) -> Result<(), Error> {
    // Advance all fields as far as possible without choosing an element.
    let fields: Vec<FieldPosition<'a>> = fields.into_iter().map(advance_field).collect();
    let mut arrays = fields.iter().filter_map(|at| match at {
        FieldPosition::Array(array, _) => Some(*array),
        _ => None,
    });
    let Some(array) = arrays.next() else {
        let tuple = fields.iter().map(|at| match at {
            FieldPosition::Value(value) => {
                *all_missing = false;
                *value
            }
            _ => ValueRef::Null,
        });
        out.values.push(tuple.collect());
        return check_count(index, out);
    };
    // Two arrays would give as many entries as the product of their lengths.
    if arrays.any(|other| !same_array(array, other)) {
        let message = format!("cannot index parallel arrays in index '{}'", index.name);
        return Err(Error::new(Kind::ParallelArrays, message));
    }
    out.multikey = true;
    // An empty array is indexed as a value of its own; paths into it are missing.
    if array.is_empty() {
        let next = fields.iter().map(|at| match at {
            FieldPosition::Array(_, "") => FieldPosition::Value(ValueRef::Undefined),
            FieldPosition::Array(..) => FieldPosition::Missing,
            other => *other,
        });
        return expand_arrays(index, next.collect(), out, all_missing);
    }
    // All fields within this array take the same element; other fields are unchanged.
    for element in array.iter() {
        let next = fields.iter().map(|at| match at {
            FieldPosition::Array(_, "") => FieldPosition::Value(element),
            FieldPosition::Array(array, rest) => into_element(*array, element, rest),
            other => *other,
        });
        expand_arrays(index, next.collect(), out, all_missing)?;
    }
    Ok(())
}

/// Fails if a document has too many entries.
fn check_count(index: &IndexSpec, out: &Tuples<'_>) -> Result<(), Error> {
    if MAX_ENTRIES_PER_DOCUMENT < out.values.len() {
        let message = format!("a document has too many entries in index '{}'", index.name);
        return Err(Error::new(Kind::TooLarge, message));
    }
    Ok(())
}

/// Returns whether both values are the same array in memory, as for the fields `a.b` and `a.c`.
fn same_array(a: ArrayRef<'_>, b: ArrayRef<'_>) -> bool {
    match (a, b) {
        (ArrayRef::Raw(a), ArrayRef::Raw(b)) => std::ptr::eq(a, b),
        (ArrayRef::Tree(a), ArrayRef::Tree(b)) => std::ptr::eq(a, b),
        _ => false,
    }
}

/// Descends into an array element, or to a position of the array if the path names one.
fn into_element<'a>(
    array: ArrayRef<'a>,
    element: ValueRef<'a>,
    rest: &'a str,
) -> FieldPosition<'a> {
    let (name, behind) = rest.split_once('.').unwrap_or((rest, ""));
    let position = name.parse().ok().and_then(|position| array.get(position));
    match (position, element) {
        (Some(value), _) if behind.is_empty() => FieldPosition::Value(value),
        (Some(ValueRef::Document(inner)), _) => FieldPosition::Inside(inner, behind),
        (Some(_), _) => FieldPosition::Missing,
        (None, ValueRef::Document(inner)) => FieldPosition::Inside(inner, rest),
        (None, _) => FieldPosition::Missing,
    }
}

/// Follows a path to its value or to an array on the way.
fn advance_field(mut at: FieldPosition<'_>) -> FieldPosition<'_> {
    while let FieldPosition::Inside(document, path) = at {
        let (name, rest) = path.split_once('.').unwrap_or((path, ""));
        at = match document.get(name) {
            None => FieldPosition::Missing,
            Some(ValueRef::Array(array)) => FieldPosition::Array(array, rest),
            Some(value) if rest.is_empty() => FieldPosition::Value(value),
            Some(ValueRef::Document(inner)) => FieldPosition::Inside(inner, rest),
            Some(_) => FieldPosition::Missing,
        };
    }
    at
}

/// Returns the value that violates a unique index, as a document of its paths.
pub(crate) fn refused_value(index: &IndexSpec, document: DocRef<'_>) -> Document {
    let Ok(Some(tuples)) = field_tuples(index, document) else { return Document::new() };
    let first = tuples.values.into_iter().next().unwrap_or_default();
    index.key.iter().zip(first).map(|((path, _), value)| (path.clone(), value.to_value())).collect()
}

#[cfg(test)]
mod tests {
    use document::{array, doc, shell};

    use super::*;

    fn spec(paths: &[&str], sparse: bool) -> IndexSpec {
        IndexSpec {
            id: 1,
            name: "i".into(),
            key: paths.iter().map(|path| ((*path).to_owned(), false)).collect(),
            unique: false,
            sparse,
            partial: None,
            hidden: false,
            expire_after: None,
            system_ttl: false,
            multikey: false,
            ready: true,
            shown: Document::new(),
            shape: crate::IndexShape::Fields,
            by_creation: false,
            collation: None,
        }
    }

    fn check(paths: &[&str], document: Document, want: &str) {
        let index = spec(paths, false);
        for reference in [DocRef::Tree(&document), document.to_buf().as_ref()] {
            let found = field_tuples(&index, reference);
            let text = match found {
                Err(error) => format!("{:?}", error.kind),
                Ok(None) => "left out".to_owned(),
                Ok(Some(tuples)) => tuples
                    .values
                    .iter()
                    .map(|tuple| {
                        let parts: Vec<_> =
                            tuple.iter().map(|value| shell(*value).to_string()).collect();
                        parts.join(",")
                    })
                    .collect::<Vec<_>>()
                    .join(" "),
            };
            assert_eq!(text, want, "{paths:?} {document:?}");
        }
    }

    #[test]
    fn arrays_give_an_entry_per_element() {
        check(&["a"], doc! { "a": 1 }, "1");
        check(&["a"], doc! {}, "null");
        check(&["a"], doc! { "a": array![1, 2] }, "1 2");
        check(&["a"], doc! { "a": array![] }, "undefined");
        check(&["a"], doc! { "a": array![array![1, 2], 3] }, "[ 1, 2 ] 3");
        check(&["a.b"], doc! { "a": doc! { "b": 1 } }, "1");
        check(&["a.b"], doc! { "a": array![doc! { "b": 1 }, doc! { "b": array![2, 3] }] }, "1 2 3");
        check(&["a.b"], doc! { "a": array![1, doc! {}] }, "null null");
        check(&["a.b"], doc! { "a": array![] }, "null");
        check(&["a.0"], doc! { "a": array![7, 8] }, "7 7");
        check(&["a.b"], doc! { "a": 5 }, "null");
        check(&["a", "b"], doc! { "a": array![1, 2], "b": 3 }, "1,3 2,3");
        check(
            &["a.x", "a.y"],
            doc! { "a": array![doc! { "x": 1, "y": 2 }, doc! { "x": 3 }] },
            "1,2 3,null",
        );
        check(&["a", "b"], doc! { "a": array![1], "b": array![2] }, "ParallelArrays");
        check(&["a", "b"], doc! { "a": Value::Null }, "null,null");
    }

    #[test]
    fn a_sparse_index_leaves_out_what_has_none_of_its_fields() {
        let index = spec(&["a", "b"], true);
        let row = NamedRow { key: b"k", creation_stamp: 0 };
        for (document, entries) in [
            (doc! { "c": 1 }, None),
            (doc! { "a": 1 }, Some(1)),
            (doc! { "b": Value::Null }, Some(1)),
        ] {
            let drafted = draft_entries(&index, None, DocRef::Tree(&document), row, None).unwrap();
            assert_eq!(drafted.map(|drafted| drafted.entries.len()), entries, "{document:?}");
        }
    }
}
