//! Builds every key that the engine writes: big-endian, order-preserving and self-delimiting.
//! `creation` is the stamp of an item's or a document's creation.
//!
//! ```text
//! catalog   m <model> <database> 0 <collection> 0      collection record
//!           n                                          next collection id
//!           g <collection>                             dropped; its data may still exist
//!           f <collection>                             what copies may drop of it
//! counts    <collection> c <class>                     totals of an expiry class
//!           <collection> s <build> <class> <level> <bucket>   sums per second and longer
//!           <collection> s <build> 3 <index> <level> <bucket>   the same by the dates of an index
//!           <collection> t                             written by each trim of the counters
//!           <collection> l                             stamp of the last change of an item
//!           <collection> e                             newest document that was evicted
//! resources r <part components>                        small record of an API
//! rows      <id component>                             row of a document
//!           <hash> <partition components> <id component>   row of an item
//! index     <index> <components> <id component>        entry of an index
//!           <index> <components>                       entry of a unique index; the id is its body
//!           <index> <components> <path component> <component> <components> <id component>
//!                                                      entry of a wildcard index
//!           <index> <components and cells> <id component>   entry of an index of geometries
//!           <index> <path> <component> <creation> <row key>   entry of an item's value at a path
//!           <index> <component> <creation> <row key>   entry of an item in the index of one path
//!           <index> <components> <creation> <row key>   entry of an item in the index of several
//!           <index> <partition> <components>           entry of a unique index of items
//!           <index> <creation> <row key>               entry of a document in the insertion order
//!           0 <stamp> <row key>                        entry of an item in the order of changes
//!           <index> <class> <second> <row key>         entry of an item in a timeline
//!           <index> 3 <date index> <date> <row key>    the same by a date of the document
//!           ffffffff <stamp> <position>                event of a feed
//!           fffffffe                                   floors of published expirations
//! ```

use bytes::Bytes;
use document::{
    ValueRef,
    key::{TypeOrder, encode, skip},
};
use expiry::Class;
use select::sarg::PathStep;
use store::KeyRange;

use crate::names::{Model, Namespace, Partition};

/// Key of the next collection id.
pub(crate) const NEXT_ID: &[u8] = b"n";

/// Key prefix of collections that were dropped and whose data may still exist.
pub(crate) const GONE: &[u8] = b"g";

/// Returns the key that marks a collection as dropped.
pub(crate) fn dropped_collection(collection: u32) -> Bytes {
    Bytes::from([GONE, &collection.to_be_bytes()].concat())
}

/// Parses the collection id in the key of a dropped collection.
pub(crate) fn dropped_collection_id(key: &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(key.strip_prefix(GONE)?.try_into().ok()?))
}

/// Key prefix of the reap floors by which copies may remove rows.
pub(crate) const FLOORS: &[u8] = b"f";

/// Returns the key of a collection's reap floors for copies.
pub(crate) fn collection_floors(collection: u32) -> Bytes {
    Bytes::from([FLOORS, &collection.to_be_bytes()].concat())
}

/// Parses the collection id in the key of a collection's floors.
pub(crate) fn floored_collection_id(key: &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(key.strip_prefix(FLOORS)?.try_into().ok()?))
}

/// Prefix of all collection records.
pub(crate) const RECORDS: &[u8] = b"m";

/// Returns the key of a collection's record. Names contain no zero byte.
pub(crate) fn record(model: Model, namespace: &Namespace) -> Bytes {
    let mut key = vec![b'm', model.code()];
    for part in [&namespace.database, &namespace.collection] {
        key.extend_from_slice(part.as_bytes());
        key.push(0);
    }
    Bytes::from(key)
}

/// Returns the row key of a document id.
pub(crate) fn row(id: ValueRef<'_>) -> Vec<u8> {
    let mut key = Vec::with_capacity(16);
    encode(id, TypeOrder::Bson, false, &mut key);
    key
}

/// Returns the key of a resource record of an API.
pub(crate) fn resource(parts: &[&str]) -> Vec<u8> {
    let mut key = vec![b'r'];
    for part in parts {
        encode(ValueRef::String(part), TypeOrder::Bson, false, &mut key);
    }
    key
}

/// Returns the prefix of a logical partition's row keys.
pub(crate) fn partition_prefix(hash: &[u8], values: &[ValueRef<'_>]) -> Vec<u8> {
    let mut key = Vec::with_capacity(hash.len() + 32);
    key.extend_from_slice(hash);
    for value in values {
        encode(*value, TypeOrder::Json, false, &mut key);
    }
    key
}

/// Returns the logical partition prefix of a row key.
pub(crate) fn partition_of(row_key: &[u8], partition: Partition) -> &[u8] {
    let rest = row_key.get(usize::from(partition.hash_bytes)..);
    let id = (0..partition.values).fold(rest, |rest, _| skip(rest?, false));
    let len = id.map_or(row_key.len(), |id| row_key.len() - id.len());
    row_key.get(..len).unwrap_or(row_key)
}

/// Returns the key prefix of index entries for values at this path.
pub(crate) fn item_path(id: u32, path: &[PathStep]) -> Vec<u8> {
    let mut key = index_prefix(id);
    for step in path {
        match step {
            PathStep::Property(name) => push_property(name, &mut key),
            PathStep::Elements => push_elements(&mut key),
        }
    }
    key.push(PATH_END);
    key
}

/// Appends the encoding of a path step that leads to the property with this name.
pub(crate) fn push_property(name: &str, path: &mut Vec<u8>) {
    encode(ValueRef::String(name), TypeOrder::Json, false, path);
}

/// Appends the encoding of a path step that leads to the elements of an array.
pub(crate) fn push_elements(path: &mut Vec<u8>) {
    path.push(1);
}

/// The byte that ends the steps of a path in a key.
pub(crate) const PATH_END: u8 = 0;

/// Index id under which the order of changes is stored.
pub(crate) const CHANGES: u32 = 0;

/// Returns the key of an item in the order of changes, at its last change.
pub(crate) fn change(stamp: u64, row_key: &[u8]) -> Bytes {
    let mut key = changes_after(stamp);
    key.extend_from_slice(row_key);
    Bytes::from(key)
}

/// Returns the key prefix of the changes of the commit with this stamp, which is also the start of
/// a range of this commit and later ones.
pub(crate) fn changes_after(stamp: u64) -> Vec<u8> {
    let mut key = index_prefix(CHANGES);
    key.extend_from_slice(&stamp.to_be_bytes());
    key
}

/// Parses the stamp in the key of a change or event.
pub(crate) fn stamp_of_change(key: &[u8]) -> Option<u64> {
    Some(u64::from_be_bytes(*key.get(4..)?.first_chunk()?))
}

/// Returns the key prefix of an expiry class's entries in the index of expirations, from this
/// second on.
pub(crate) fn timeline_from(id: u32, class: u8, second: i64) -> Vec<u8> {
    let mut key = index_prefix(id);
    key.push(class);
    key.extend_from_slice(&((second as u64) ^ (1 << 63)).to_be_bytes());
    key
}

/// Returns the key of an item in the index of upcoming expirations, by the second of its write or
/// deadline; `None` if it never expires.
pub(crate) fn timeline_entry(id: u32, class: Class, ts: i64, row_key: &[u8]) -> Option<Bytes> {
    let second = match class {
        Class::Never => return None,
        Class::Inherit => ts,
        Class::Explicit { deadline } => deadline,
    };
    let mut key = timeline_from(id, class_code(class), second);
    key.extend_from_slice(row_key);
    Some(Bytes::from(key))
}

/// Returns the key prefix of the entries by the dates of a date index in the index of expirations.
pub(crate) fn timeline_dates_of(id: u32, date_index: u32) -> Vec<u8> {
    let mut key = index_prefix(id);
    key.push(3);
    key.extend_from_slice(&date_index.to_be_bytes());
    key
}

/// Returns the key of a row in the index of upcoming expirations, by its date for a date index.
pub(crate) fn timeline_date(id: u32, (date_index, ms): (u32, i64), row_key: &[u8]) -> Bytes {
    let mut key = timeline_dates_of(id, date_index);
    key.extend_from_slice(&((ms as u64) ^ (1 << 63)).to_be_bytes());
    key.extend_from_slice(row_key);
    Bytes::from(key)
}

/// Index id under which the events of a feed are stored.
pub(crate) const EVENTS: u32 = u32::MAX;

/// Returns the key of an event: the stamp of its commit and the event's position in the commit.
pub(crate) fn event(stamp: u64, position: u32) -> Bytes {
    let mut key = events_of(stamp);
    key.extend_from_slice(&position.to_be_bytes());
    Bytes::from(key)
}

/// Returns the key prefix of the events of the commit with this stamp, which is also the start of a
/// range of this commit and later ones.
pub(crate) fn events_of(stamp: u64) -> Vec<u8> {
    let mut key = index_prefix(EVENTS);
    key.extend_from_slice(&stamp.to_be_bytes());
    key
}

/// Returns the key of the floors up to which expirations are published.
pub(crate) fn published_floors() -> Bytes {
    Bytes::from((EVENTS - 1).to_be_bytes().to_vec())
}

/// Returns the prefix of all entries of an index.
pub(crate) fn index_prefix(index: u32) -> Vec<u8> {
    index.to_be_bytes().to_vec()
}

/// Appends a path to a prefix of the entries of a wildcard index.
pub(crate) fn push_wildcard_path(path: &str, key: &mut Vec<u8>) {
    encode(ValueRef::String(path), TypeOrder::Bson, false, key);
}

/// Appends the component that stands for the path in the entry of a document without a path that a
/// compound wildcard index covers.
pub(crate) fn push_no_wildcard_path(key: &mut Vec<u8>) {
    encode(ValueRef::MinKey, TypeOrder::Bson, false, key);
}

/// Tag of a cell in the keys of an index of geometries; one without a geometry has the tag before.
const CELL: u8 = 2;

/// Appends a cell to a key of an index of geometries; `None` for a path without a geometry.
pub(crate) fn push_cell(cell: Option<u64>, key: &mut Vec<u8>) {
    match cell {
        None => key.push(CELL - 1),
        Some(id) => {
            key.push(CELL);
            key.extend_from_slice(&id.to_be_bytes());
        }
    }
}

/// Returns the range of the keys with this prefix and a cell between two, both inclusive.
pub(crate) fn cells_between(prefix: &[u8], (first, last): (u64, u64)) -> KeyRange {
    let bound = |id: u64| {
        let mut key = prefix.to_vec();
        push_cell(Some(id), &mut key);
        key
    };
    // The ids of cells are well below the greatest number.
    KeyRange { start: bound(first), end: Some(bound(last.saturating_add(1))) }
}

/// Returns the prefix of an entry before its first cell: the index and a component for each of these
/// fields, which are descending or not.
pub(crate) fn before_cell<'k>(key: &'k [u8], descending: &[bool]) -> Option<&'k [u8]> {
    let mut rest = key.get(size_of::<u32>()..)?;
    for descending in descending {
        rest = skip(rest, *descending)?;
    }
    key.get(..key.len().checked_sub(rest.len())?)
}

/// Parses the cell that follows a prefix of this length in a key.
pub(crate) fn cell_of_entry(key: &[u8], prefix: usize) -> Option<u64> {
    let (tag, rest) = key.get(prefix..)?.split_first()?;
    (*tag == CELL).then_some(u64::from_be_bytes(*rest.first_chunk()?))
}

/// Parses the index id of an entry.
pub(crate) fn index_of(entry: &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(*entry.first_chunk()?))
}

/// Returns the code of an expiry class in counter keys.
pub(crate) fn class_code(class: Class) -> u8 {
    match class {
        Class::Inherit => 0,
        Class::Never => 1,
        Class::Explicit { .. } => 2,
    }
}

/// Returns the key of the totals of an expiry class.
pub(crate) fn class_total(collection: u32, class: u8) -> Bytes {
    let mut key = collection.to_be_bytes().to_vec();
    key.extend_from_slice(&[b'c', class]);
    Bytes::from(key)
}

/// Returns the key that every removal of old counters writes, so that two concurrent removals
/// conflict.
pub(crate) fn trim_marker(collection: u32) -> Vec<u8> {
    let mut key = counter_prefix(collection);
    key.push(b't');
    key
}

/// Returns the key of a container's last change.
pub(crate) fn last_change(collection: u32) -> Bytes {
    let mut key = counter_prefix(collection);
    key.push(b'l');
    Bytes::from(key)
}

/// Returns the key of the creation stamp of the newest document that a capped collection has
/// evicted.
pub(crate) fn evicted(collection: u32) -> Bytes {
    let mut key = counter_prefix(collection);
    key.push(b'e');
    Bytes::from(key)
}

/// Returns the start of the entries in the insertion order after this creation stamp.
pub(crate) fn insertion_after(index: u32, stamp: u64) -> Vec<u8> {
    let mut key = index_prefix(index);
    key.extend_from_slice(&stamp.saturating_add(1).to_be_bytes());
    key
}

/// Parses the creation stamp in the key of an entry in the insertion order.
pub(crate) fn stamp_of_insertion(key: &[u8]) -> Option<u64> {
    Some(u64::from_be_bytes(*key.get(4..)?.first_chunk()?))
}

/// Returns the prefix of all counters of a collection.
pub(crate) fn counter_prefix(collection: u32) -> Vec<u8> {
    collection.to_be_bytes().to_vec()
}

/// Parses the collection id of a counter.
pub(crate) fn collection_of_counter(key: &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(*key.first_chunk()?))
}

/// Returns the key prefix of the counters per time bucket that this build of a collection's
/// counters wrote.
pub(crate) fn bucket_prefix(collection: u32, build: u64) -> Vec<u8> {
    let mut key = collection.to_be_bytes().to_vec();
    key.push(b's');
    key.extend_from_slice(&build.to_be_bytes());
    key
}

/// The points in time that counters of expiring documents are grouped by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Buckets {
    /// Second of the write or of the deadline, for documents of this expiry class.
    Class(u8),
    /// Dates in the date index with this id.
    Date(u32),
}

/// Returns the key of the counter of a bucket. `build` is the number of the counter build that
/// writes it; an abandoned build leaves keys with its own number, which no later build reads.
pub(crate) fn bucket_key(
    collection: u32,
    build: u64,
    of: Buckets,
    level: u8,
    bucket: i64,
) -> Bytes {
    let mut key = bucket_prefix(collection, build);
    match of {
        Buckets::Class(class) => key.push(class),
        Buckets::Date(index) => {
            key.push(3);
            key.extend_from_slice(&index.to_be_bytes());
        }
    }
    key.push(level);
    key.extend_from_slice(&((bucket as u64) ^ (1 << 63)).to_be_bytes());
    Bytes::from(key)
}

/// Parses the number of the bucket in a counter's key.
pub(crate) fn bucket_in_key(key: &[u8]) -> Option<i64> {
    let bucket = u64::from_be_bytes(*key.last_chunk()?);
    Some((bucket ^ (1 << 63)) as i64)
}
