//! Types shared by operations and the model: an index, and the id of a document.

use document::{Document, Value};

/// The properties of an index that the model needs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Index {
    pub(crate) path: &'static str,
    /// Whether no two live documents may have the same value. Missing values do not count.
    pub(crate) unique: bool,
    /// Whether the index holds only documents with `p: 1`.
    pub(crate) partial: bool,
    /// Number of seconds between the date and the expiration; `None` for an index that does not
    /// expire documents.
    pub(crate) after: Option<i64>,
}

/// Returns the id of a document.
pub(crate) fn id_of(body: &Document) -> i32 {
    match body.get("_id") {
        Some(Value::Int32(id)) => *id,
        _ => -1,
    }
}
