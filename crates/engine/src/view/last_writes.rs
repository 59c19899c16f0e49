//! Which commit wrote a row last, as far as rows that are kept in memory have to know. Rows share
//! slots by a hash of their keys: a slot says of all its rows what holds for the one that was
//! written last, so that a row may seem newer than it is and never older.
//!
//! Nothing is ever removed, and it takes the same memory whatever is written.

use std::{
    hash::BuildHasher,
    sync::atomic::{AtomicU32, AtomicU64, Ordering},
};

use foldhash::fast::RandomState;
use store::{Mutation, Space};

/// One write in this many makes a row seem newer than it is; a mebibyte in all.
const SLOTS: usize = 1 << 16;

/// What is known of the rows that share it.
#[derive(Debug, Default)]
struct Slot {
    /// The newest commit that wrote one of them.
    written: AtomicU64,
    /// Some bits of the hash of the row that was read last.
    read: AtomicU32,
}

/// The newest writes of rows, by slot.
pub(super) struct LastWrites {
    slots: Box<[Slot]>,
    /// Keyed by the process, so that nobody can make keys collide.
    hasher: RandomState,
}

/// Where a row's slot is, and which of its rows it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowHash(u64);

impl LastWrites {
    pub(super) fn new() -> Self {
        let slots = std::iter::repeat_with(Slot::default).take(SLOTS).collect();
        Self { slots, hasher: RandomState::default() }
    }

    /// The hash of a row of a collection.
    pub(super) fn hash_row(&self, collection: u32, key: &[u8]) -> RowHash {
        RowHash(self.hasher.hash_one((collection, key)))
    }

    fn slot(&self, hash: RowHash) -> &Slot {
        // The low bits; the mask keeps the index within the slots.
        &self.slots[hash.0 as usize & (SLOTS - 1)]
    }

    /// Notes what a commit writes. Called where commits are ordered, before any view can see it.
    pub(super) fn note_commit(&self, mutations: &[Mutation], seq: u64) {
        for mutation in mutations {
            if let (Space::Rows(collection), key) = mutation.space_and_key() {
                let hash = self.hash_row(collection, key);
                // The publication of the commit, which comes later, orders this before every view
                // that sees the commit.
                self.slot(hash).written.fetch_max(seq, Ordering::Release);
            }
        }
    }

    /// No commit after this one has written the row.
    pub(super) fn newest_of(&self, hash: RowHash) -> u64 {
        self.slot(hash).written.load(Ordering::Acquire)
    }

    /// Whether the row was the last of its slot to be read, and notes that it is now.
    pub(super) fn was_read_before(&self, hash: RowHash) -> bool {
        let mark = (hash.0 >> 32) as u32 | 1;
        let read = &self.slot(hash).read;
        // A hint: two that read at a time may both be told that they are the first.
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
