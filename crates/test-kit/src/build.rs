//! Filters, sorts, indexes, and what an API adds to writes, built without a query language, so that
//! the engine's tests do not depend on a parser.

use document::{DocBuf, DocRef, Document, Path, Value};
use engine::{Dialect, Error, IndexSpec, Model, Writer};
use expiry::Lifetime;
use pipeline::{
    Filter,
    filter::{Comparison, PathTest},
    sort::{Sort, SortPart},
};

/// A filter dialect for tests: a stored filter is a document, and it matches documents whose fields
/// equal its values.
#[derive(Clone, Copy, Debug, Default)]
pub struct EqualityDialect;

impl Dialect for EqualityDialect {
    fn parse_filter(&self, _: Model, filter: DocRef<'_>) -> Result<Filter, String> {
        Ok(Filter::all(filter.iter().map(|(path, value)| equal(path, value.to_value())).collect()))
    }
}

/// Handling of documents in tests: `ttl` at the root is the lifetime, and no ids are assigned.
#[derive(Clone, Copy, Debug, Default)]
pub struct TtlField;

impl Writer for TtlField {
    fn lifetime_of(&self, document: &DocBuf) -> Result<Lifetime, Error> {
        Ok(Lifetime::from_ttl(document.get("ttl")))
    }

    fn with_id(&self, document: DocBuf) -> DocBuf {
        document
    }
}

/// Returns a filter for documents with this value at a path.
pub fn equal(path: &str, value: impl Into<Value>) -> Filter {
    compare(path, Comparison::Eq, value)
}

/// Returns a filter for documents whose value at a path has the relation `comparison` to `value`.
pub fn compare(path: &str, comparison: Comparison, value: impl Into<Value>) -> Filter {
    Filter::Path(Path::new(path), PathTest::Compare(comparison, value.into()))
}

/// Returns a sort by one path.
pub fn sort_by(path: &str, descending: bool) -> Sort {
    Sort { parts: vec![SortPart { path: Path::new(path), descending }] }
}

/// Returns a plain ascending index on one path, named `<path>_1`.
pub fn plain_index(path: &str) -> IndexSpec {
    let mut spec = IndexSpec::new(format!("{path}_1"), vec![(path.to_owned(), false)]);
    spec.shown = Document::new();
    spec
}

/// Returns a unique sparse index on one path.
pub fn unique_index(path: &str) -> IndexSpec {
    IndexSpec { unique: true, sparse: true, ..plain_index(path) }
}

/// Returns an index that expires documents this many seconds after a date.
pub fn date_index(path: &str, seconds: i64) -> IndexSpec {
    IndexSpec { expire_after: Some(seconds), ..plain_index(path) }
}

/// Returns the system index that represents the default TTL; -1 enables TTL without a default.
pub fn system_index(seconds: i64) -> IndexSpec {
    IndexSpec { expire_after: Some(seconds), system_ttl: true, ..plain_index("_ts") }
}
