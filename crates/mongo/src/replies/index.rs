//! The description of an index in replies.

use document::{Document, doc};
use engine::{IndexSpec, Record};

use super::numbers::int_or_long;

/// Returns the entry of the `_id` index. This index is not stored, since rows are ordered by `_id`.
pub(crate) fn id_index_entry() -> Document {
    doc! { "v": 2, "key": doc! { "_id": 1 }, "name": "_id_" }
}

/// Returns the entries of all indexes of a collection, that of `_id` first.
pub(crate) fn index_entries(record: &Record) -> Vec<Document> {
    std::iter::once(id_index_entry()).chain(record.indexes.iter().map(index_entry)).collect()
}

/// Returns an index as MongoDB lists it. Flags are included if they are true, and `sparse` also if
/// it was given as false; `expireAfterSeconds` is the current value.
pub(crate) fn index_entry(index: &IndexSpec) -> Document {
    let mut entry = index.shown.clone();
    for (name, value) in
        [("unique", index.unique), ("sparse", index.sparse), ("hidden", index.hidden)]
    {
        let given = entry.remove(name);
        if value {
            entry.push(name, true);
        } else if let Some(given) = given {
            entry.push(name, given);
        }
    }
    entry.remove("expireAfterSeconds");
    if let Some(seconds) = index.expire_after {
        entry.push("expireAfterSeconds", int_or_long(seconds));
    }
    entry
}
