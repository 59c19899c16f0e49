//! Keys of items, and ranges of them. A key is the hash of the partition key, its values and the
//! id, so that the items of a logical partition stand together, and partitions are spread by their
//! hashes.

use bytes::Bytes;
use document::{
    ValueRef,
    key::{TypeOrder, encode},
};
use store::KeyRange;

use crate::keys;

/// Where an item is: its logical partition and its id.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ItemKey(pub(crate) Bytes);

impl ItemKey {
    /// The key of an item by the hash of its partition key (of the length the container says), the
    /// partition key's values and its id.
    pub fn new(hash: &[u8], values: &[ValueRef<'_>], id: &str) -> Self {
        let mut key = keys::partition_prefix(hash, values);
        encode(ValueRef::String(id), TypeOrder::Json, false, &mut key);
        Self(key.into())
    }

    /// Its bytes: items are walked in their order.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// A part of a container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemRange(pub(crate) KeyRange);

impl ItemRange {
    /// All items.
    pub fn all() -> Self {
        Self(KeyRange::all())
    }

    /// One logical partition.
    pub fn partition(hash: &[u8], values: &[ValueRef<'_>]) -> Self {
        Self(KeyRange::with_prefix(&keys::partition_prefix(hash, values)))
    }

    /// Items whose hashes lie in this half-open range; a hash that only begins like one counts.
    pub fn hashes(start: &[u8], end: Option<&[u8]>) -> Self {
        Self(KeyRange { start: start.to_vec(), end: end.map(<[u8]>::to_vec) })
    }

    /// Whether an item is in it.
    pub fn contains_key(&self, key: &[u8]) -> bool {
        self.0.start.as_slice() <= key && self.0.end.as_ref().is_none_or(|end| key < end.as_slice())
    }

    /// Whether it is the whole container.
    pub fn is_all(&self) -> bool {
        self.0 == KeyRange::all()
    }
}
