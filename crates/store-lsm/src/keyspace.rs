//! How keyspaces are named and opened. Which space has which is in `spaces`.
//!
//! There are two kinds of slots, since rows and entries are read in different ways, and what a
//! keyspace is opened with is kept with it for good:
//!
//! ```text
//!  row-slot-N   rows: looked up one by one      each key whole, found by a hash inside its block
//!  slot-N       index entries: walked in order  keys share what they begin with
//! ```
//!
//! For both, filters and indexes of tables are whole and stay in memory: three look-ups in the cache
//! become one. All levels are alike: a table that a flush wrote may be moved to the last level as it
//! is, and nothing is ever rewritten for its new level.

use std::sync::Arc;

use fjall::{
    CompressionType, Database, Keyspace, KeyspaceCreateOptions,
    compaction::Leveled,
    config::{
        BlockSizePolicy, BloomConstructionPolicy, CompressionPolicy, FilterPolicy,
        FilterPolicyEntry, HashRatioPolicy, PartitioningPolicy, PinningPolicy,
        RestartIntervalPolicy,
    },
};
use store::{Error, Space};

use crate::errors::from_fjall;

/// Memory of one keyspace before it is flushed, bytes.
const MEMTABLE_BYTES: u64 = 64 * 1024 * 1024;
/// Rows that are read together, bytes.
const BLOCK_BYTES: u32 = 16 * 1024;
/// Bits of a filter for each key: one in a hundred look-ups of what is not there reads a block.
const FILTER_BITS: f32 = 10.0;
/// Keys that share what they begin with, in a block of entries.
const ENTRIES_APART: u8 = 16;
/// Places of the hash inside a block for each row.
const HASH_PLACES: f32 = 4.0;

/// What a slot is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SlotKind {
    /// Rows of a collection.
    Rows,
    /// Entries of its indexes.
    Entries,
}

impl SlotKind {
    /// The kind of slot that a space has; `None` for those that have a keyspace of their own.
    pub(crate) fn of_space(space: Space) -> Option<Self> {
        match space {
            Space::Rows(_) => Some(Self::Rows),
            Space::Index(_) => Some(Self::Entries),
            Space::Catalog | Space::Counts => None,
        }
    }

    /// In front of the numbers of such slots.
    const fn prefix(self) -> &'static str {
        match self {
            Self::Rows => "row-slot-",
            Self::Entries => "slot-",
        }
    }

    /// The name of a slot's keyspace. No two slots have one number, whatever their kinds.
    pub(crate) fn name_of(self, slot: u32) -> String {
        format!("{}{slot}", self.prefix())
    }
}

/// Kind and number of the slot with this name.
pub(crate) fn slot_of(name: &str) -> Option<(SlotKind, u32)> {
    [SlotKind::Rows, SlotKind::Entries].into_iter().find_map(|kind| {
        let number = name.strip_prefix(kind.prefix())?;
        Some((kind, number.parse().ok()?))
    })
}

/// Makes or opens a keyspace.
pub(crate) fn open_keyspace(database: &Database, name: &str) -> Result<Keyspace, Error> {
    let rows = slot_of(name).is_some_and(|(kind, _)| kind == SlotKind::Rows);
    let options = || {
        let filter = BloomConstructionPolicy::BitsPerKey(FILTER_BITS);
        let (apart, places) = if rows { (1, HASH_PLACES) } else { (ENTRIES_APART, 0.0) };
        KeyspaceCreateOptions::default()
            .max_memtable_size(MEMTABLE_BYTES)
            .compaction_strategy(idle_strategy())
            .data_block_size_policy(BlockSizePolicy::all(BLOCK_BYTES))
            .data_block_restart_interval_policy(RestartIntervalPolicy::all(apart))
            .data_block_hash_ratio_policy(HashRatioPolicy::all(places))
            // Blocks are in the cache as they are read: a hit costs nothing more.
            .data_block_compression_policy(CompressionPolicy::all(CompressionType::Lz4))
            .filter_policy(FilterPolicy::all(FilterPolicyEntry::Bloom(filter)))
            .filter_block_partitioning_policy(PartitioningPolicy::all(false))
            .index_block_partitioning_policy(PartitioningPolicy::all(false))
            .filter_block_pinning_policy(PinningPolicy::all(true))
            .index_block_pinning_policy(PinningPolicy::all(true))
    };
    database.keyspace(name, options).map_err(|error| from_fjall("open a keyspace", &error))
}

/// A strategy that leaves all tables where they are, for the tree's own workers. It is kept with
/// the keyspace.
fn idle_strategy() -> Arc<Leveled> {
    Arc::new(Leveled::default().with_l0_threshold(u8::MAX).with_table_target_size(1 << 50))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_told_by_their_names() {
        for kind in [SlotKind::Rows, SlotKind::Entries] {
            assert_eq!(slot_of(&kind.name_of(17)), Some((kind, 17)));
        }
        for name in ["", "slot-", "slot-x", "row-slot-", "rows-7", "catalog", "a-slot-7"] {
            assert_eq!(slot_of(name), None, "{name}");
        }
    }
}
