//! Tracks which record numbers exist. A new number exists once its insert is acknowledged. A reader
//! may choose any number below the first missing one, and expect a record with this number.

use std::{
    collections::BTreeSet,
    sync::atomic::{AtomicU64, Ordering},
};

use parking_lot::Mutex;
/// The record numbers of one collection, shared by all workers.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    /// The next record number to allocate.
    next: AtomicU64,
    /// Every record with a number less than this exists.
    below: AtomicU64,
    /// Acknowledged numbers greater than `below`. The record `below` itself is not acknowledged
    /// yet.
    beyond: Mutex<BTreeSet<u64>>,
}

impl Keys {
    /// Creates the state of a collection that has `count` records.
    pub(crate) fn new(count: u64) -> Self {
        let (next, below) = (AtomicU64::new(count), AtomicU64::new(count));
        Self { next, below, beyond: Mutex::default() }
    }

    /// Allocates the number of a new record.
    pub(crate) fn take_number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Records that the record with this number exists.
    pub(crate) fn acknowledge_number(&self, number: u64) {
        let mut beyond = self.beyond.lock();
        beyond.insert(number);
        let mut below = self.below.load(Ordering::Relaxed);
        // The number may close a gap before numbers acknowledged earlier.
        while beyond.remove(&below) {
            below += 1;
        }
        self.below.store(below, Ordering::Relaxed);
    }

    /// Returns the number of records before the first missing one.
    pub(crate) fn count_gapless(&self) -> u64 {
        self.below.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbers_without_a_gap_count() {
        let keys = Keys::new(10);
        assert_eq!(
            [keys.take_number(), keys.take_number(), keys.take_number(), keys.take_number()],
            [10, 11, 12, 13]
        );
        for (acknowledged, want) in [(11, 10), (13, 10), (10, 12), (12, 14)] {
            keys.acknowledge_number(acknowledged);
            assert_eq!(keys.count_gapless(), want, "after {acknowledged}");
        }
        assert_eq!(keys.take_number(), 14);
    }
}
