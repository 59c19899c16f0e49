//! A collection as replies show it: its entry in a list, its UUID and its size.

use document::{Document, Value, doc};
use engine::{Collection, Namespace, Space, Store};

use super::index::id_index_entry;
use crate::call::Call;

/// Bytes a collection takes on disk, roughly: what the store counts of its files. What is in memory
/// still is not in them.
pub(crate) fn disk_bytes<S: Store>(call: &Call<'_, S>, collection: &Collection) -> i64 {
    let store = call.door.engine.store();
    let bytes = store.space_bytes(Space::Rows(collection.id))
        + store.space_bytes(Space::Index(collection.id));
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

/// What stands for a collection's UUID: its number and its birth, with the bits that make it one.
/// It is the same after a restart and after a rename, and another one for a collection that is made
/// anew.
pub(crate) fn collection_uuid(collection: &Collection) -> [u8; 16] {
    let state = collection.state();
    let mut bytes = [0; 16];
    bytes[..4].copy_from_slice(&state.record.id.to_be_bytes());
    bytes[8..].copy_from_slice(&state.record.created.to_be_bytes());
    bytes[6] = 0x40;
    bytes[8] = 0x80;
    bytes
}

/// The entry of a collection in `listCollections`.
pub(crate) fn collection_entry(namespace: &Namespace, collection: &Collection) -> Document {
    let state = collection.state();
    let bytes = collection_uuid(collection).to_vec();
    doc! {
        "name": namespace.collection.as_str(),
        "type": "collection",
        "options": state.record.options.clone(),
        "info": doc! {
            "readOnly": false,
            "uuid": Value::Binary { subtype: 4, bytes },
        },
        "idIndex": id_index_entry(),
    }
}
