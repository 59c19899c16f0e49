//! Every key the engine writes is built here. Big-endian, order-preserving, self-delimiting.
//!
//! ```text
//! catalog   m <model> <database> 0 <collection> 0      collection record
//!           n                                          next collection id
//! counts    <collection> c <class>                     totals of a class
//!           <collection> s <build> <class> <level> <bucket>   sums by second and coarser
//!           <collection> s <build> 3 <index> <level> <bucket>   the same by the dates of an index
//!           <collection> t                             written by whoever trims the books
//! rows      <id component>                             row
//! index     <index> <components> <id component>        entry of an index
//!           <index> <components>                       entry of a unique index; the id is its body
//! ```

use bytes::Bytes;
use document::{
    ValueRef,
    key::{TypeOrder, encode},
};
use expiry::Class;

use crate::catalog::{Model, Namespace};

/// Key of the counter of collection ids.
pub(crate) const NEXT_ID: &[u8] = b"n";

/// Prefix of all collection records.
pub(crate) const RECORDS: &[u8] = b"m";

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

/// Prefix of all entries of an index.
pub(crate) fn index(index: u32) -> Vec<u8> {
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
pub(crate) fn total(collection: u32, class: u8) -> Bytes {
    let mut key = collection.to_be_bytes().to_vec();
    key.extend_from_slice(&[b'c', class]);
    Bytes::from(key)
}

/// Key that a unit which trims the books writes, so that no two trim the same.
pub(crate) fn trim(collection: u32) -> Vec<u8> {
    let mut key = counts(collection);
    key.push(b't');
    key
}

/// Prefix of everything counted of a collection.
pub(crate) fn counts(collection: u32) -> Vec<u8> {
    collection.to_be_bytes().to_vec()
}

/// The collection that a count belongs to.
pub(crate) fn counted(key: &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(*key.first_chunk()?))
}

/// Prefix of the sums of one build.
pub(crate) fn sums(collection: u32, build: u64) -> Vec<u8> {
    let mut key = collection.to_be_bytes().to_vec();
    key.push(b's');
    key.extend_from_slice(&build.to_be_bytes());
    key
}

/// Which instants sums by second are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sums {
    /// `_ts` or the deadline of a class.
    Class(u8),
    /// The dates of an index.
    Date(u32),
}

/// Key of the sum of one bucket; `build` keeps abandoned books apart.
pub(crate) fn sum(collection: u32, build: u64, of: Sums, level: u8, bucket: i64) -> Bytes {
    let mut key = sums(collection, build);
    match of {
        Sums::Class(class) => key.push(class),
        Sums::Date(index) => {
            key.push(3);
            key.extend_from_slice(&index.to_be_bytes());
        }
    }
    key.push(level);
    key.extend_from_slice(&((bucket as u64) ^ (1 << 63)).to_be_bytes());
    Bytes::from(key)
}

/// The bucket of the key of a sum.
pub(crate) fn bucket(key: &[u8]) -> Option<i64> {
    let bucket = u64::from_be_bytes(*key.last_chunk()?);
    Some((bucket ^ (1 << 63)) as i64)
}
