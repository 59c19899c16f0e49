//! A tree with one space of rows.

use std::{path::Path, sync::Arc};

use bytes::Bytes;
use tree::{Caching, Direction, DropFilter, End, Folder, Hooks, Layout, Options, Placement, Tree};

use crate::Outcome;

/// Size of the part of a value that stays with the key.
const HEADER_BYTES: usize = 35;
/// Memory for cached blocks, in bytes.
const CACHE_BYTES: u64 = 2 << 30;
/// Number of first runs that start a compaction.
const FIRST_RUNS: usize = 4;

pub(crate) struct Engine(Tree);

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

impl Engine {
    /// Applies and publishes a batch.
    pub(crate) fn insert(&self, number: u64, rows: Vec<(Bytes, Bytes)>) -> Outcome<()> {
        let write = |(key, value)| tree::Write { space: 1, key, value: Some(value) };
        self.0.apply(number, rows.into_iter().map(write).collect())?;
        Ok(self.0.publish(number)?)
    }

    pub(crate) fn get(&self, key: &[u8]) -> Outcome<bool> {
        Ok(self.0.snapshot().get(1, key)?.is_some())
    }

    /// Returns the number of rows found, at most `rows`.
    pub(crate) fn scan(&self, from: &[u8], rows: usize) -> Outcome<usize> {
        let snapshot = self.0.snapshot();
        let scan = snapshot.scan(1, from, None, Direction::Forward, Caching::Fill)?;
        scan.take(rows).try_fold(0, |count, row| row.map(|_| count + 1)).map_err(Into::into)
    }

    pub(crate) fn memory(&self) -> u64 {
        self.0.figures().memory_bytes
    }

    pub(crate) fn flush(&self) -> Outcome<()> {
        self.0.flush(1)?;
        self.0.sweep()?;
        Ok(())
    }

    /// Compacts once if due; returns whether it was.
    pub(crate) fn compact(&self) -> Outcome<bool> {
        let Some(job) = self.0.pick(|_| Some(FIRST_RUNS)) else { return Ok(false) };
        self.0.run(&job)?;
        drop(job);
        self.0.sweep()?;
        Ok(true)
    }
}

pub(crate) fn open(path: &Path) -> Outcome<Engine> {
    let options = Options { cache_bytes: CACHE_BYTES, ..Options::default() };
    let tree = Tree::open(Arc::new(Folder::open(path)?), Arc::new(Rows), options)?;
    tree.create_space(1, Layout::Points)?;
    let number = tree.greatest_number();
    tree.publish(number)?;
    Ok(Engine(tree))
}
