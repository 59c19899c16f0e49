//! What operations and the model both speak of: an index, and the id of a document.

use document::{Document, Value};

/// An index as the model needs to know it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Index {
    /// The field that it is on.
    pub(crate) path: &'static str,
    /// No two live documents share a value; missing ones do not count.
    pub(crate) unique: bool,
    /// It only holds documents with `p: 1`.
    pub(crate) partial: bool,
    /// Seconds after the date; a plain index has none.
    pub(crate) after: Option<i64>,
}

/// The id of a document.
pub(crate) fn id_of(body: &Document) -> i32 {
    match body.get("_id") {
        Some(Value::Int32(id)) => *id,
        _ => -1,
    }
}
