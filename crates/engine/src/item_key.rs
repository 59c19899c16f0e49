//! Keys of items and ranges of them. A key consists of the hash of the partition key, its values
//! and the id, so that a logical partition is contiguous and partitions are ordered by hash.

use bytes::Bytes;
use document::{
    ValueRef,
    key::{TypeOrder, encode},
};
use store::KeyRange;

use crate::keys;

/// The key of an item: its logical partition and id.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ItemKey(pub(crate) Bytes);

impl ItemKey {
    /// Creates a key from the hash of the partition key (of the container's hash length), the
    /// partition key's values and the id.
    pub fn new(hash: &[u8], values: &[ValueRef<'_>], id: &str) -> Self {
        let mut key = keys::partition_prefix(hash, values);
        encode(ValueRef::String(id), TypeOrder::Json, false, &mut key);
        Self(key.into())
    }

    /// Returns the encoded key; scans follow the order of these bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// A range of items of a container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemRange(pub(crate) KeyRange);

impl ItemRange {
    /// Returns the range of all items.
    pub fn all() -> Self {
        Self(KeyRange::all())
    }

    /// Returns the range of one logical partition.
    pub fn partition(hash: &[u8], values: &[ValueRef<'_>]) -> Self {
        Self(KeyRange::with_prefix(&keys::partition_prefix(hash, values)))
    }

    /// Returns the range of items whose hashes are in a half-open range; bounds may be hash
    /// prefixes.
    pub fn hashes(start: &[u8], end: Option<&[u8]>) -> Self {
        Self(KeyRange { start: start.to_vec(), end: end.map(<[u8]>::to_vec) })
    }

    /// Returns whether the range contains a key.
    pub fn contains_key(&self, key: &[u8]) -> bool {
        self.0.start.as_slice() <= key && self.0.end.as_ref().is_none_or(|end| key < end.as_slice())
    }

    /// Returns whether the range is the whole container.
    pub fn is_all(&self) -> bool {
        self.0 == KeyRange::all()
    }
}
