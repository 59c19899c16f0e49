//! Every key the engine writes is built here. Big-endian, order-preserving, self-delimiting.
//!
//! ```text
//! catalog   m <model> <database> 0 <collection> 0      collection record
//!           n                                          next collection id
//!           g <collection>                             dropped, but its rows may still be there
//!           f <collection>                             what copies may drop of it
//! counts    <collection> c <class>                     totals of a class
//!           <collection> s <build> <class> <level> <bucket>   sums by second and coarser
//!           <collection> s <build> 3 <index> <level> <bucket>   the same by the dates of an index
//!           <collection> t                             written by whoever trims the counters
//!           <collection> l                             stamp of the last change of an item
//! resources r <part components>                        small record of a door
//! rows      <id component>                             row of a document
//!           <hash> <partition components> <id component>   row of an item
//! index     <index> <components> <id component>        entry of an index
//!           <index> <components>                       entry of a unique index; the id is its body
//!           <index> <path> <component> <birth> <row key>   entry of an item's value at a path
//!           <index> <component> <birth> <row key>      entry of an item in the index of one path
//!           <index> <components> <birth> <row key>     entry of an item in the index of several
//!           <index> <partition> <components>           entry of a unique index of items
//!           0 <stamp> <row key>                        entry of an item in the order of changes
//!           <index> <class> <second> <row key>         entry of an item in a timeline
//!           ffffffff <stamp> <position>                event of a feed
//!           fffffffe                                   how far expirations have been published
//! ```

use bytes::Bytes;
use document::{
    ValueRef,
    key::{TypeOrder, encode, skip},
};
use expiry::Class;
use select::sarg::PathStep;

use crate::names::{Model, Namespace, Partition};

/// Key of the counter of collection ids.
pub(crate) const NEXT_ID: &[u8] = b"n";

/// Prefix of the ids of dropped collections whose spaces may still be there.
pub(crate) const GONE: &[u8] = b"g";

/// Key of a dropped collection's id.
pub(crate) fn dropped_collection(collection: u32) -> Bytes {
    Bytes::from([GONE, &collection.to_be_bytes()].concat())
}

/// The id in the key of a dropped collection.
pub(crate) fn dropped_collection_id(key: &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(key.strip_prefix(GONE)?.try_into().ok()?))
}

/// Prefix of what copies may drop of each collection.
pub(crate) const FLOORS: &[u8] = b"f";

/// Key of what copies may drop of a collection.
pub(crate) fn collection_floors(collection: u32) -> Bytes {
    Bytes::from([FLOORS, &collection.to_be_bytes()].concat())
}

/// The id in the key of what copies may drop of a collection.
pub(crate) fn floored_collection_id(key: &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(key.strip_prefix(FLOORS)?.try_into().ok()?))
}

/// Prefix of all collection records.
pub(crate) const RECORDS: &[u8] = b"m";

/// Key of a collection's record. A name has no zero byte.
pub(crate) fn record(model: Model, namespace: &Namespace) -> Bytes {
    let mut key = vec![b'm', model.code()];
    for part in [&namespace.database, &namespace.collection] {
        key.extend_from_slice(part.as_bytes());
        key.push(0);
    }
    Bytes::from(key)
}

/// Key of a row by its id.
pub(crate) fn row(id: ValueRef<'_>) -> Vec<u8> {
    let mut key = Vec::with_capacity(16);
    encode(id, TypeOrder::Bson, false, &mut key);
    key
}

/// Key of a door's small record.
pub(crate) fn resource(parts: &[&str]) -> Vec<u8> {
    let mut key = vec![b'r'];
    for part in parts {
        encode(ValueRef::String(part), TypeOrder::Bson, false, &mut key);
    }
    key
}

/// Beginning of the row keys of a logical partition.
pub(crate) fn partition_prefix(hash: &[u8], values: &[ValueRef<'_>]) -> Vec<u8> {
    let mut key = Vec::with_capacity(hash.len() + 32);
    key.extend_from_slice(hash);
    for value in values {
        encode(*value, TypeOrder::Json, false, &mut key);
    }
    key
}

/// The logical partition that a row key begins with.
pub(crate) fn partition_of(row_key: &[u8], partition: Partition) -> &[u8] {
    let rest = row_key.get(usize::from(partition.hash_bytes)..);
    let id = (0..partition.values).fold(rest, |rest, _| skip(rest?, false));
    let len = id.map_or(row_key.len(), |id| row_key.len() - id.len());
    row_key.get(..len).unwrap_or(row_key)
}

/// Beginning of the entries of values at a path.
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

/// Appends the step to a property of this name.
pub(crate) fn push_property(name: &str, path: &mut Vec<u8>) {
    encode(ValueRef::String(name), TypeOrder::Json, false, path);
}

/// Appends the step to any element of an array.
pub(crate) fn push_elements(path: &mut Vec<u8>) {
    path.push(1);
}

/// Behind the steps of a path.
pub(crate) const PATH_END: u8 = 0;

/// The index that holds items in the order of their last changes.
pub(crate) const CHANGES: u32 = 0;

/// Key of an item's last change.
pub(crate) fn change(stamp: u64, row_key: &[u8]) -> Bytes {
    let mut key = changes_after(stamp);
    key.extend_from_slice(row_key);
    Bytes::from(key)
}

/// Where the changes of a commit begin.
pub(crate) fn changes_after(stamp: u64) -> Vec<u8> {
    let mut key = index_prefix(CHANGES);
    key.extend_from_slice(&stamp.to_be_bytes());
    key
}

/// The stamp in the key of an item's last change.
pub(crate) fn stamp_of_change(key: &[u8]) -> Option<u64> {
    Some(u64::from_be_bytes(*key.get(4..)?.first_chunk()?))
}

/// Where the entries of a class in a timeline begin from this second on.
pub(crate) fn timeline_from(id: u32, class: u8, second: i64) -> Vec<u8> {
    let mut key = index_prefix(id);
    key.push(class);
    key.extend_from_slice(&((second as u64) ^ (1 << 63)).to_be_bytes());
    key
}

/// Key of an item in a timeline: when it was written or will expire. `None` for one that never
/// expires.
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

/// The index that holds the events of a feed.
pub(crate) const EVENTS: u32 = u32::MAX;

/// Key of an event: the commit that entered it, and its position in that.
pub(crate) fn event(stamp: u64, position: u32) -> Bytes {
    let mut key = events_after(stamp);
    key.extend_from_slice(&position.to_be_bytes());
    Bytes::from(key)
}

/// Where the events of a commit begin.
pub(crate) fn events_after(stamp: u64) -> Vec<u8> {
    let mut key = index_prefix(EVENTS);
    key.extend_from_slice(&stamp.to_be_bytes());
    key
}

/// Key of how far expirations have been published.
pub(crate) fn published_floors() -> Bytes {
    Bytes::from((EVENTS - 1).to_be_bytes().to_vec())
}

/// Prefix of all entries of an index.
pub(crate) fn index_prefix(index: u32) -> Vec<u8> {
    index.to_be_bytes().to_vec()
}

/// The index an entry belongs to.
pub(crate) fn index_of(entry: &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(*entry.first_chunk()?))
}

/// Code of a class in keys of counts.
pub(crate) fn class_code(class: Class) -> u8 {
    match class {
        Class::Inherit => 0,
        Class::Never => 1,
        Class::Explicit { .. } => 2,
    }
}

/// Key of the totals of a class.
pub(crate) fn class_total(collection: u32, class: u8) -> Bytes {
    let mut key = collection.to_be_bytes().to_vec();
    key.extend_from_slice(&[b'c', class]);
    Bytes::from(key)
}

/// Key that a commit which trims the counters writes, so that no two trim the same.
pub(crate) fn trim_marker(collection: u32) -> Vec<u8> {
    let mut key = counter_prefix(collection);
    key.push(b't');
    key
}

/// Key of the stamp of a container's last change.
pub(crate) fn last_change(collection: u32) -> Bytes {
    let mut key = counter_prefix(collection);
    key.push(b'l');
    Bytes::from(key)
}

/// Prefix of everything counted of a collection.
pub(crate) fn counter_prefix(collection: u32) -> Vec<u8> {
    collection.to_be_bytes().to_vec()
}

/// The collection that a count belongs to.
pub(crate) fn collection_of_counter(key: &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(*key.first_chunk()?))
}

/// Prefix of the sums of one build.
pub(crate) fn bucket_prefix(collection: u32, build: u64) -> Vec<u8> {
    let mut key = collection.to_be_bytes().to_vec();
    key.push(b's');
    key.extend_from_slice(&build.to_be_bytes());
    key
}

/// Which instants sums by second are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Buckets {
    /// `_ts` or the deadline of a class.
    Class(u8),
    /// The dates of an index.
    Date(u32),
}

/// Key of the sum of one bucket; `build` keeps abandoned counters apart.
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

/// The bucket of the key of a sum.
pub(crate) fn bucket_in_key(key: &[u8]) -> Option<i64> {
    let bucket = u64::from_be_bytes(*key.last_chunk()?);
    Some((bucket ^ (1 << 63)) as i64)
}
