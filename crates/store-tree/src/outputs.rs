//! Limits the memory that a compaction takes for the tables it writes.
//!
//! A table being written keeps one key of each block until a part of its index is full, and one key
//! of each part until the table ends. A key shares its memory with the block from which it was
//! read, so each of them retains a whole block:
//!
//! ```text
//!  blocks of the table   1 2 … 54 │ 55 … 108 │ 109 110 ▶      rows of 15 MB have a block each
//!  in memory                   54 │      108 │ 109 110        4 × 15 MB, until the table ends
//! ```
//!
//! The amount does not follow from the size of the table: rows that compress well take a hundred
//! times as much memory as disk. A compaction therefore counts it. If it holds more than
//! [`MOST_HELD`] it stops and is repeated with smaller tables, with which later compactions of the
//! same tree start.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use parking_lot::Mutex;

use crate::{inputs::CompactionInputs, manifest};

/// Maximum size of the blocks that the writer of a table may hold in memory.
const MOST_HELD: u64 = 64 * 1024 * 1024;
/// Amount of retained memory after which to check whether another table was started.
const LOOK_EACH: u64 = MOST_HELD / 4;
/// If a compaction has used less than 1/LITTLE_HELD of the maximum memory, the next tables are made
/// larger.
const LITTLE_HELD: u64 = 16;
/// Factor by which tables are made smaller or larger in one step.
const STEP: u64 = 8;
/// Minimum size of tables, for trees in which a table has few large rows.
const SMALLEST_TABLE: u64 = 64 * 1024;
/// Size from which a row is large.
const LARGE_ROW: u64 = 1024 * 1024;
/// Size at which the tree ends a block.
pub(crate) const BLOCK_BYTES: u32 = 16 * 1024;
/// Size at which the tree ends a part of an index.
const INDEX_PART: u64 = 4 * 1024;
/// Size of a block's index entry, besides its key.
const INDEX_ENTRY: u64 = 56;

/// The table size limit of a tree, and the size of its rows as far as known.
pub(crate) struct Outputs {
    folder: PathBuf,
    inputs: Arc<CompactionInputs>,
    /// Maximum size of tables on disk, which is adapted to the size of rows.
    bound: AtomicU64,
    /// Target size of tables for the running compaction.
    table_bytes: AtomicU64,
    /// Whether the running compaction has exceeded its memory.
    exceeded: AtomicBool,
    /// Size of the largest row written or compacted since the opening, in bytes.
    largest_row: AtomicU64,
    /// Numbers of tables written by flushes since the running compaction started.
    flushed: Mutex<HashSet<u64>>,
}

impl Outputs {
    /// Creates the state of a tree in this directory.
    pub(crate) fn new(folder: &Path, inputs: Arc<CompactionInputs>) -> Self {
        Self {
            folder: folder.to_owned(),
            inputs,
            bound: AtomicU64::new(u64::MAX),
            table_bytes: AtomicU64::new(0),
            exceeded: AtomicBool::new(false),
            largest_row: AtomicU64::new(0),
            flushed: Mutex::default(),
        }
    }

    /// Records the size of a row that was written or compacted.
    pub(crate) fn record_row(&self, bytes: u64) {
        // Checked before the update, which is rare, so that the cache line stays shared.
        if self.largest_row.load(Ordering::Relaxed) < bytes {
            self.largest_row.fetch_max(bytes, Ordering::Relaxed);
        }
    }

    /// Returns whether blocks may be so large that few tables should be read at once.
    pub(crate) fn has_large_rows(&self) -> bool {
        LARGE_ROW <= self.largest_row.load(Ordering::Relaxed)
    }

    /// Records the numbers of tables written by flushes. The caller still blocks compactions from
    /// choosing tables.
    pub(crate) fn record_flushed(&self, numbers: impl Iterator<Item = u64>) {
        self.flushed.lock().extend(numbers);
    }

    /// Starts a compaction; returns the size at which it should end a table, at most `most`. The
    /// caller ensures that only one compaction of the tree runs at a time.
    pub(crate) fn begin(&self, most: u64) -> u64 {
        let bytes = most.min(self.bound.load(Ordering::Relaxed));
        self.table_bytes.store(bytes, Ordering::Relaxed);
        self.exceeded.store(false, Ordering::Relaxed);
        self.flushed.lock().clear();
        bytes
    }

    /// Returns whether the failed compaction held too much memory. It can be repeated immediately,
    /// with smaller tables.
    pub(crate) fn take_exceeded(&self) -> bool {
        self.exceeded.swap(false, Ordering::Relaxed)
    }

    /// Stops the running compaction unless its tables already have the minimum size.
    fn stop(&self) -> lsm_tree::Result<()> {
        let bytes = self.table_bytes.load(Ordering::Relaxed);
        if bytes <= SMALLEST_TABLE {
            return Ok(());
        }
        self.bound.store((bytes / STEP).max(SMALLEST_TABLE), Ordering::Relaxed);
        self.exceeded.store(true, Ordering::Relaxed);
        let text = "retrying a compaction with smaller tables, since its rows are large";
        Err(lsm_tree::Error::Io(std::io::Error::other(text)))
    }

    /// Records the maximum number of bytes that the finished compaction held.
    fn record_held(&self, bytes: u64) {
        if bytes < MOST_HELD / LITTLE_HELD {
            let more = |bound: u64| Some(bound.saturating_mul(STEP));
            let _ = self.bound.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        }
    }

    /// Returns the number of the table that the running compaction is writing.
    fn current_table(&self) -> u64 {
        // Flushes are blocked, so that every table that a flush has written is listed in `flushed`.
        let _alone = self.inputs.lock_for_compaction();
        let flushed = self.flushed.lock();
        let numbers = manifest::table_numbers(&self.folder).into_iter();
        numbers.filter(|number| !flushed.contains(number)).max().unwrap_or(0)
    }
}

/// Counts the memory that one compaction holds for its tables.
pub(crate) struct OutputWatch {
    outputs: Arc<Outputs>,
    held: Held,
    /// Amount of held memory at which to check next whether another table was started.
    look_at: u64,
    /// Number of the table that was being written at the last check.
    table: Option<u64>,
    most: u64,
}

impl OutputWatch {
    /// Starts counting the memory of a compaction.
    pub(crate) fn new(outputs: &Arc<Outputs>) -> Self {
        Self {
            outputs: Arc::clone(outputs),
            held: Held::default(),
            look_at: LOOK_EACH,
            table: None,
            most: 0,
        }
    }

    /// Counts a row; fails if the compaction must be repeated with smaller tables.
    pub(crate) fn record_row(&mut self, key: usize, value: usize) -> lsm_tree::Result<()> {
        self.outputs.record_row(value as u64);
        if self.table.is_none() {
            self.table = Some(self.outputs.current_table());
        }
        self.held.add(key as u64, value as u64);
        let held = self.held.bytes();
        self.most = self.most.max(held);
        if held < self.look_at {
            return Ok(());
        }
        let table = Some(self.outputs.current_table());
        if table != self.table {
            // The new table was started after the last check, so it holds at most what one interval
            // between checks has added.
            (self.table, self.held, self.look_at) = (table, Held::default(), LOOK_EACH);
            return Ok(());
        }
        self.look_at = held + LOOK_EACH;
        if held < MOST_HELD { Ok(()) } else { self.outputs.stop() }
    }

    /// Ends counting after a successful compaction.
    pub(crate) fn finish(self) {
        self.outputs.record_held(self.most);
    }
}

/// Memory that the writer of the current table holds, in bytes.
#[derive(Default)]
struct Held {
    /// Size of the block that is being filled.
    block: u64,
    /// Size of the blocks with keys in the incomplete part of the index, and size of that part.
    part: u64,
    index: u64,
    /// Size of the last block of each complete part of the index.
    parts: u64,
}

impl Held {
    fn add(&mut self, key: u64, value: u64) {
        self.block += key + value;
        if self.block < u64::from(BLOCK_BYTES) {
            return;
        }
        let block = std::mem::take(&mut self.block);
        self.index += key + INDEX_ENTRY;
        if self.index < INDEX_PART {
            self.part += block;
        } else {
            self.parts += block;
            (self.part, self.index) = (0, 0);
        }
    }

    fn bytes(&self) -> u64 {
        self.block + self.part + self.parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1024 * 1024;

    fn outputs(folder: &Path) -> Arc<Outputs> {
        std::fs::create_dir(folder.join("tables")).unwrap();
        Arc::new(Outputs::new(folder, Arc::default()))
    }

    fn begin_table(folder: &Path, number: u64) {
        std::fs::write(folder.join("tables").join(number.to_string()), "").unwrap();
    }

    /// Writes this number of rows of 15 MB each.
    fn write(watch: &mut OutputWatch, rows: u64) -> lsm_tree::Result<()> {
        (0..rows).try_for_each(|_| watch.record_row(20, 15 << 20))
    }

    #[test]
    fn a_table_keeps_the_blocks_of_a_part_and_one_of_each_part_before() {
        let mut held = Held::default();
        let mut most = 0;
        for _ in 0..540 {
            held.add(20, MIB);
            most = most.max(held.bytes());
        }
        assert!((50 * MIB..66 * MIB).contains(&most), "{most}");
        assert!((9 * MIB..12 * MIB).contains(&held.parts), "{}", held.parts);
        let mut small = Held::default();
        (0..100_000).for_each(|_| small.add(20, 1_000));
        assert!(small.bytes() < 4 * MIB, "{}", small.bytes());
    }

    #[test]
    fn a_compaction_that_holds_too_much_is_repeated_with_smaller_tables() {
        let folder = tempfile::tempdir().unwrap();
        let outputs = outputs(folder.path());
        assert_eq!(outputs.begin(64 * MIB), 64 * MIB);
        begin_table(folder.path(), 7);
        write(&mut OutputWatch::new(&outputs), 4).unwrap();
        assert!(!outputs.take_exceeded() && outputs.has_large_rows());
        let mut sizes = Vec::new();
        loop {
            sizes.push(outputs.begin(64 * MIB));
            if write(&mut OutputWatch::new(&outputs), 9).is_ok() {
                break;
            }
            assert!(outputs.take_exceeded());
        }
        assert_eq!(sizes, [64 * MIB, 8 * MIB, MIB, MIB / 8, SMALLEST_TABLE]);
        assert!(!outputs.take_exceeded());
    }

    #[test]
    fn a_compaction_that_begins_tables_in_time_goes_on_and_those_of_flushes_do_not_count() {
        let folder = tempfile::tempdir().unwrap();
        let outputs = outputs(folder.path());
        outputs.begin(64 * MIB);
        begin_table(folder.path(), 7);
        let mut watch = OutputWatch::new(&outputs);
        for table in 8..20 {
            write(&mut watch, 3).unwrap();
            begin_table(folder.path(), table);
        }
        assert!(watch.most < MOST_HELD, "{}", watch.most);
        // A flush's table is not a new table of the compaction.
        write(&mut watch, 3).unwrap();
        begin_table(folder.path(), 20);
        outputs.record_flushed([20].into_iter());
        write(&mut watch, 8).unwrap_err();
        assert!(outputs.take_exceeded());
    }

    #[test]
    fn tables_become_larger_again_where_little_is_held() {
        let folder = tempfile::tempdir().unwrap();
        let outputs = outputs(folder.path());
        outputs.begin(64 * MIB);
        write(&mut OutputWatch::new(&outputs), 9).unwrap_err();
        assert_eq!(outputs.begin(64 * MIB), 8 * MIB);
        let mut watch = OutputWatch::new(&outputs);
        watch.record_row(20, 1_000).unwrap();
        watch.finish();
        assert_eq!(outputs.begin(64 * MIB), 64 * MIB);
    }
}
