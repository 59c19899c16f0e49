//! The description of a collection in replies: its list entry, its UUID and its size.

use document::{Document, Value, doc};
use engine::{Collection, Namespace, Record, Space};

use super::{index::id_index_entry, numbers::int_or_long};
use crate::{
    call::Call, parsers::clustered_index::EXPIRE_AFTER, provisioning::without_provisioning,
    stored_view::is_view,
};

/// Returns the approximate size of a collection on disk in bytes, without data that is only in
/// memory.
pub(crate) fn disk_bytes(call: &Call<'_>, collection: &Collection) -> i64 {
    let store = call.api.engine.store();
    let bytes = store.space_bytes(Space::Rows(collection.id))
        + store.space_bytes(Space::Index(collection.id));
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

pub(crate) fn collection_uuid(collection: &Collection) -> [u8; 16] {
    collection.state().record.uuid()
}

/// Returns the entry of a collection or view in `listCollections` with only names.
pub(crate) fn name_entry(namespace: &Namespace, collection: &Collection) -> Document {
    let kind = if is_view(collection) { "view" } else { "collection" };
    doc! { "name": namespace.collection.as_str(), "type": kind }
}

/// Returns the options of a collection as they were given to `create`, with its current limits.
fn shown_options(record: &Record) -> Document {
    let mut options = Document::new();
    if let Some(capped) = record.capped {
        options.push("capped", true);
        options.push("size", int_or_long(capped.bytes));
        if let Some(documents) = capped.documents {
            options.push("max", int_or_long(documents));
        }
    }
    for (name, value) in without_provisioning(&record.options) {
        options.push(name, value);
    }
    if let Some(seconds) = record.cluster_expire_after() {
        options.push(EXPIRE_AFTER, Value::Int64(seconds));
    }
    options
}

/// Returns the entry of a collection or view in `listCollections`. A view has no UUID and no
/// indexes.
pub(crate) fn collection_entry(namespace: &Namespace, collection: &Collection) -> Document {
    let state = collection.state();
    let mut entry = name_entry(namespace, collection);
    entry.push("options", shown_options(&state.record));
    if is_view(collection) {
        entry.push("info", doc! { "readOnly": true });
        return entry;
    }
    let bytes = collection_uuid(collection).to_vec();
    let uuid = Value::Binary { subtype: 4, bytes };
    entry.push("info", doc! { "readOnly": false, "uuid": uuid });
    // A clustered collection has no index on `_id` besides its rows.
    if state.record.cluster_key.is_none() {
        entry.push("idIndex", id_index_entry(&state.record));
    }
    entry
}
