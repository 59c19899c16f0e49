//! Records which commit last wrote a row, for the row cache. Rows share slots by a hash of their
//! keys: a slot has the newest write of all its rows, so a row may appear newer than it is but
//! never older.
//!
//! Nothing is removed, and memory use is constant.

use std::{
    hash::BuildHasher,
    sync::atomic::{AtomicU32, AtomicU64, Ordering},
};

use foldhash::fast::RandomState;
use store::{Mutation, Space};

/// Number of slots (1 MiB of memory). A write also makes a cached row that shares its slot
/// unusable, which has probability 1/SLOTS for each row.
const SLOTS: usize = 1 << 16;

#[derive(Debug, Default)]
struct Slot {
    /// Sequence number of the newest commit that wrote a row of this slot.
    written: AtomicU64,
    /// Some bits of the hash of the row in this slot that was read last.
    read: AtomicU32,
}

/// The stamps of the newest writes, in slots selected by a hash of the row.
pub(super) struct LastWrites {
    slots: Box<[Slot]>,
    /// Randomly seeded per process, so that clients cannot construct collisions.
    hasher: RandomState,
}

/// Hash of a row: selects its slot and identifies the row within it.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowHash(u64);

impl LastWrites {
    pub(super) fn new() -> Self {
        let slots = std::iter::repeat_with(Slot::default).take(SLOTS).collect();
        Self { slots, hasher: RandomState::default() }
    }

    /// Returns the hash of a row's collection and key.
    pub(super) fn hash_row(&self, collection: u32, key: &[u8]) -> RowHash {
        RowHash(self.hasher.hash_one((collection, key)))
    }

    fn slot(&self, hash: RowHash) -> &Slot {
        &self.slots[hash.0 as usize & (SLOTS - 1)]
    }

    /// Records the rows that a commit writes. Called where commits are ordered, before any view can
    /// see it.
    pub(super) fn record_commit(&self, mutations: &[Mutation], seq: u64) {
        for mutation in mutations {
            if let (Space::Rows(collection), key) = mutation.space_and_key() {
                let hash = self.hash_row(collection, key);
                // The later publication of the commit orders this before every view that sees the
                // commit.
                self.slot(hash).written.fetch_max(seq, Ordering::Release);
            }
        }
    }

    /// Returns the sequence number of a commit after which the row was certainly not written.
    pub(super) fn newest_of(&self, hash: RowHash) -> u64 {
        self.slot(hash).written.load(Ordering::Acquire)
    }

    /// Returns whether the row was the last one read in its slot, and records it as such.
    pub(super) fn was_read_before(&self, hash: RowHash) -> bool {
        let mark = (hash.0 >> 32) as u32 | 1;
        let read = &self.slot(hash).read;
        // Only a hint: for two concurrent readers the result may be false for both.
        let before = read.load(Ordering::Relaxed) == mark;
        if !before {
            read.store(mark, Ordering::Relaxed);
        }
        before
    }
}

impl std::fmt::Debug for LastWrites {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LastWrites").finish_non_exhaustive()
    }
}
