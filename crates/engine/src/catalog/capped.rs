//! Capped collections: their limits, and the index by which their documents are read in the order of
//! the inserts and evicted.
//!
//! A document's place in that order is its creation stamp: the number of the commit that inserted
//! it, and its position in this commit. The order of commits therefore is the order of the inserts.

use store::{Mutation, Space};

use super::{IndexShape, IndexSpec, Record};
use crate::{amount::Amount, keys};

/// Name of the index of the insertion order. It is never listed, and clients cannot use it.
const NAME: &str = "insertion order";

/// The limits of a capped collection. An insert evicts the oldest documents that exceed them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capped {
    /// Maximum total size of the documents in bytes.
    pub bytes: i64,
    /// Maximum number of documents, if there is one.
    pub documents: Option<i64>,
}

impl Capped {
    /// Returns by how much an amount exceeds the limits; a limit that is not exceeded gives a part
    /// of at most 0.
    pub(crate) fn excess(self, of: Amount) -> Amount {
        let documents = self.documents.map_or(0, |most| of.documents.saturating_sub(most));
        Amount { documents, bytes: of.bytes.saturating_sub(self.bytes) }
    }

    /// Returns whether an amount exceeds no limit.
    pub(crate) fn admits(self, amount: Amount) -> bool {
        let excess = self.excess(amount);
        excess.documents <= 0 && excess.bytes <= 0
    }
}

impl Record {
    /// Returns the index of the insertion order if it is complete and the collection is capped.
    pub(crate) fn insertion_order(&self) -> Option<&IndexSpec> {
        self.capped?;
        self.indexes.iter().find(|index| index.is_insertion_order() && index.ready)
    }

    /// Adds the index of the insertion order unless it exists. `ready` states that the collection
    /// has no documents, so that the index is complete.
    pub(crate) fn add_insertion_order(&mut self, ready: bool) {
        if self.indexes.iter().any(IndexSpec::is_insertion_order) {
            return;
        }
        let id = self.next_index;
        self.next_index += 1;
        let shape = IndexShape::InsertionOrder;
        let index = IndexSpec::new(NAME, Vec::new());
        self.indexes.push(IndexSpec { id, ready, shape, by_creation: true, ..index });
    }
}

impl IndexSpec {
    /// Returns whether this is the index of the insertion order of a capped collection.
    pub fn is_insertion_order(&self) -> bool {
        self.shape == IndexShape::InsertionOrder
    }
}

/// Returns the mutation that stores the creation stamp of the newest document that a capped
/// collection has evicted, 0 if none. Every commit that inserts a document writes it, so that only
/// one of two concurrent ones succeeds.
pub(crate) fn put_evicted(collection: u32, stamp: u64) -> Mutation {
    let sum = i64::try_from(stamp).unwrap_or(i64::MAX);
    // A pair of zeros would not be stored.
    let value = store::encode_count([sum, 1]);
    Mutation::Put { space: Space::Counts, key: keys::evicted(collection), value }
}
