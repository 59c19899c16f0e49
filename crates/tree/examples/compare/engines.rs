//! The tree and the crate `lsm-tree` behind one trait.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use bytes::Bytes;
use lsm_tree::{
    AbstractTree as _, AnyTree, Cache, CompressionType, Config, Guard as _, SequenceNumberCounter,
    compaction::Leveled,
    config::{
        BloomConstructionPolicy, CompressionPolicy, FilterPolicy, FilterPolicyEntry,
        HashRatioPolicy, PartitioningPolicy, PinningPolicy, RestartIntervalPolicy,
    },
};
use tree::{Caching, Direction, DropFilter, End, Folder, Hooks, Layout, Options, Placement, Tree};

use crate::Outcome;

/// Size of the part of a value that stays with the key.
const HEADER_BYTES: usize = 35;
/// Memory for cached blocks, in bytes.
const CACHE_BYTES: u64 = 2 << 30;
/// Number of first runs that start a compaction.
const FIRST_RUNS: usize = 4;

/// Operations that both engines have.
pub(crate) trait Engine: Send + Sync {
    fn insert(&self, number: u64, rows: Vec<(Bytes, Bytes)>) -> Outcome<()>;
    fn get(&self, key: &[u8]) -> Outcome<bool>;
    fn scan(&self, from: &[u8], rows: usize) -> Outcome<usize>;
    fn memory(&self) -> u64;
    fn flush(&self) -> Outcome<()>;
    /// Compacts once if due; returns whether it was.
    fn compact(&self) -> Outcome<bool>;
}

pub(crate) struct Ours(Tree);

/// Stores all but the header of a row apart.
struct Rows;

impl Hooks for Rows {
    fn place(&self, _: u64, _: &[u8], _: &[u8]) -> Placement {
        Placement { inline: HEADER_BYTES, end: None, group: 0 }
    }

    fn filter(&self, _: u64) -> Option<DropFilter> {
        None
    }

    fn has_ended(&self, _: u64, _: End) -> bool {
        false
    }

    fn sync_log(&self, _: u64) -> tree::Result<()> {
        Ok(())
    }
}

impl Engine for Ours {
    fn insert(&self, number: u64, rows: Vec<(Bytes, Bytes)>) -> Outcome<()> {
        let write = |(key, value)| tree::Write { space: 1, key, value: Some(value) };
        self.0.apply(number, rows.into_iter().map(write).collect())?;
        Ok(self.0.publish(number)?)
    }

    fn get(&self, key: &[u8]) -> Outcome<bool> {
        Ok(self.0.snapshot().get(1, key)?.is_some())
    }

    fn scan(&self, from: &[u8], rows: usize) -> Outcome<usize> {
        let snapshot = self.0.snapshot();
        let scan = snapshot.scan(1, from, None, Direction::Forward, Caching::Fill)?;
        scan.take(rows).try_fold(0, |count, row| row.map(|_| count + 1)).map_err(Into::into)
    }

    fn memory(&self) -> u64 {
        self.0.figures().memory_bytes
    }

    fn flush(&self) -> Outcome<()> {
        self.0.flush(1)?;
        self.0.sweep()?;
        Ok(())
    }

    fn compact(&self) -> Outcome<bool> {
        let Some(job) = self.0.pick(|_| Some(FIRST_RUNS)) else { return Ok(false) };
        self.0.run(&job)?;
        drop(job);
        self.0.sweep()?;
        Ok(true)
    }
}

pub(crate) struct Theirs {
    tree: lsm_tree::Tree,
    number: AtomicU64,
    bytes: AtomicU64,
}

impl Engine for Theirs {
    fn insert(&self, number: u64, rows: Vec<(Bytes, Bytes)>) -> Outcome<()> {
        let mut grown = 0;
        for (key, value) in rows {
            grown += self.tree.insert(&key[..], &value[..], number).0;
        }
        self.bytes.fetch_add(grown, Ordering::Relaxed);
        self.number.store(number + 1, Ordering::Release);
        Ok(())
    }

    fn get(&self, key: &[u8]) -> Outcome<bool> {
        Ok(self.tree.get(key, self.number.load(Ordering::Acquire))?.is_some())
    }

    fn scan(&self, from: &[u8], rows: usize) -> Outcome<usize> {
        let number = self.number.load(Ordering::Acquire);
        let mut count = 0;
        for row in self.tree.range(from.to_vec().., number, None).take(rows) {
            row.into_inner()?;
            count += 1;
        }
        Ok(count)
    }

    fn memory(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    fn flush(&self) -> Outcome<()> {
        let lock = self.tree.get_flush_lock();
        // As in the tree, a memtable counts until it is flushed.
        let bytes = self.bytes.load(Ordering::Relaxed);
        self.tree.rotate_memtable();
        self.tree.flush(&lock, self.number.load(Ordering::Acquire))?;
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
        Ok(())
    }

    fn compact(&self) -> Outcome<bool> {
        let shape = || (self.tree.l0_run_count(), self.tree.table_count(), self.tree.disk_space());
        let before = shape();
        let leveled = Leveled::default().with_l0_threshold(FIRST_RUNS as u8);
        self.tree.compact(Arc::new(leveled), self.number.load(Ordering::Acquire))?;
        Ok(before != shape())
    }
}

pub(crate) fn open_ours(path: &Path) -> Outcome<Ours> {
    let options = Options { cache_bytes: CACHE_BYTES, ..Options::default() };
    let tree = Tree::open(Arc::new(Folder::open(path)?), Arc::new(Rows), options)?;
    tree.create_space(1, Layout::Points)?;
    let number = tree.greatest_number();
    tree.publish(number)?;
    Ok(Ours(tree))
}

/// Opens the other tree with the settings of a tree of rows in `store-tree`.
pub(crate) fn open_theirs(path: &Path, number: u64) -> Outcome<Theirs> {
    let [states, visible] = [(); 2].map(|()| SequenceNumberCounter::default());
    let config = Config::new(path, states, visible)
        .use_cache(Arc::new(Cache::with_capacity_bytes(CACHE_BYTES)))
        .data_block_restart_interval_policy(RestartIntervalPolicy::all(1))
        .data_block_hash_ratio_policy(HashRatioPolicy::all(4.0))
        .data_block_compression_policy(CompressionPolicy::all(CompressionType::Lz4))
        .filter_policy(FilterPolicy::all(FilterPolicyEntry::Bloom(
            BloomConstructionPolicy::BitsPerKey(10.0),
        )))
        .filter_block_partitioning_policy(PartitioningPolicy::all(false))
        .index_block_partitioning_policy(PartitioningPolicy::all(true))
        .filter_block_pinning_policy(PinningPolicy::all(true))
        .index_block_pinning_policy(PinningPolicy::all(true));
    match config.open()? {
        AnyTree::Standard(tree) => {
            Ok(Theirs { tree, number: AtomicU64::new(number), bytes: AtomicU64::new(0) })
        }
        AnyTree::Blob(_) => {
            Err("the tree stores values separately, which this comparison does not support".into())
        }
    }
}
