//! The description of an index in replies.

use document::{Document, Value, doc};
use engine::{ID_INDEX_NAME, IndexSpec, Record};

use super::numbers::int_or_long;
use crate::parsers::clustered_index::CLUSTERED_INDEX;

/// Returns the entry of the `_id` index, which has the collection's collation.
pub(crate) fn id_index_entry(record: &Record) -> Document {
    let mut entry = doc! { "v": 2, "key": doc! { "_id": 1 }, "name": ID_INDEX_NAME };
    push_collation(&mut entry, record.id_index());
    entry
}

/// Adds the collation of an index, if it has one.
fn push_collation(entry: &mut Document, index: Option<&IndexSpec>) {
    if let Some(collation) = index.and_then(|index| index.collation.as_ref()) {
        entry.push("collation", collation.to_document());
    }
}

/// Returns the entry of the primary key: that of the cluster key or of the `_id` index.
pub(crate) fn primary_key_entry(record: &Record) -> Document {
    let Some(Value::Document(spec)) = record.options.get(CLUSTERED_INDEX) else {
        return id_index_entry(record);
    };
    let mut entry = spec.clone();
    if let Some(seconds) = record.cluster_expire_after() {
        entry.push("expireAfterSeconds", Value::Int64(seconds));
    }
    entry.push("clustered", true);
    push_collation(&mut entry, record.id_index());
    entry
}

/// Returns the entries of all indexes of a collection, that of the primary key first.
pub(crate) fn index_entries(record: &Record) -> Vec<Document> {
    std::iter::once(primary_key_entry(record))
        .chain(record.listed_indexes().map(index_entry))
        .collect()
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
    push_collation(&mut entry, Some(index));
    entry
}
