//! The thread that flushes memtables to tables, one tree at a time.
//!
//! | condition | tree that is flushed |
//! |---|---|
//! | the journal exceeds its budget | the tree that needs the oldest entry |
//! | all memtables together exceed their budget | the largest |
//! | a tree is at rest with more than a few keys in memory | this one |
//!
//! Flushing a tree at rest makes lookups cheaper and leaves a start nothing to replay.
//!
//! A full disk is not fatal: unflushed data stays in memory, and the flush is retried at intervals.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use store::{Error, Kind};

use crate::{budget::ExceededBudget, inner::OpenStore, space_tree::SpaceTree};

/// Interval between two passes of the flusher while there is nothing to do: one tick.
const PAUSE: Duration = Duration::from_millis(100);
/// Number of ticks between two attempts after a failed flush.
const TICKS_AFTER_FAILURE: u32 = 5;
/// Ticks without a write after which a tree is at rest.
const REST_TICKS: u64 = 10;
/// Number of ticks between two measurements of disk usage.
const MEASURE_TICKS: u64 = 100;
/// Ticks between two checks of the open views.
const VIEW_TICKS: u64 = 10;
/// Number of keys in memory up to which a table is not worthwhile.
const FEW_KEYS: usize = 1_000;
/// Ticks between two searches for trees at rest.
const REST_LOOK_TICKS: u64 = 3;

/// Flushes memtables until the store is closed.
pub(crate) fn flush_until_closed(inner: &OpenStore) {
    let _ = inner.flusher.set(std::thread::current());
    let mut wait = 0;
    while !inner.ending.load(Ordering::SeqCst) {
        if inner.budget.excess().is_none() || 0 < wait || inner.stop_reason().is_some() {
            // Writers unpark this thread when a budget is exceeded.
            std::thread::park_timeout(PAUSE);
            let tick = inner.tick.fetch_add(1, Ordering::Relaxed);
            if tick.is_multiple_of(MEASURE_TICKS) {
                inner.metrics.record_stored(inner.stored_bytes());
            }
            if tick.is_multiple_of(VIEW_TICKS) {
                inner.end_view_beyond_bound();
                inner.metrics.record_old_views(inner.old_views());
            }
            wait = u32::saturating_sub(wait, 1);
        }
        if 0 < wait || inner.stop_reason().is_some() {
            continue;
        }
        let flushed = catch_unwind(AssertUnwindSafe(|| flush_where_due(inner)));
        let result =
            flushed.unwrap_or_else(|_| Err(Error::new(Kind::Unavailable, "panic in a flush")));
        wait = match &result {
            Ok(true) => 0,
            // The budget is exceeded by memory or entries that other threads must release.
            Ok(false) => 1,
            Err(_) => TICKS_AFTER_FAILURE,
        };
        inner.record_flush(result.map(|_| ()));
    }
}

/// Flushes one tree if due, and truncates the journal as far as possible.
///
/// Returns whether a tree was flushed.
fn flush_where_due(inner: &OpenStore) -> Result<bool, Error> {
    let due = due_tree(inner).or_else(|| {
        // After a failed flush a tree is flushed even if none is due, since only an attempt shows
        // whether space is available again.
        let failing = inner.budget.flush_failure().is_some();
        inner.all_trees().into_iter().filter(|_| failing).min_by_key(floor_of)
    });
    let flushed = due.map_or(Ok(false), |space_tree| inner.flush_tree(&space_tree))?;
    if flushed {
        inner.end_view_beyond_bound();
        inner.metrics.record_old_views(inner.old_views());
    }
    inner.cut_journal()?;
    Ok(flushed)
}

/// Returns the tree whose memtable has to be flushed now.
fn due_tree(inner: &OpenStore) -> Option<Arc<SpaceTree>> {
    let tick = inner.tick.load(Ordering::Relaxed);
    let excess = inner.budget.excess();
    if excess.is_none() && !tick.is_multiple_of(REST_LOOK_TICKS) {
        return None;
    }
    let space_trees = inner.all_trees();
    match excess {
        Some(ExceededBudget::Journal) => space_trees
            .into_iter()
            .filter(|space_tree| floor_of(space_tree) < u64::MAX)
            .min_by_key(floor_of),
        Some(ExceededBudget::Memory) => {
            space_trees.into_iter().max_by_key(|space_tree| space_tree.buffer().bytes())
        }
        None => space_trees.into_iter().find(|space_tree| {
            let buffer = space_tree.buffer();
            FEW_KEYS < buffer.items && buffer.written_at + REST_TICKS <= tick
        }),
    }
}

/// Returns the number of the oldest entry of which a tree has rows in memory only; the journal must
/// keep this entry and all later ones.
fn floor_of(space_tree: &Arc<SpaceTree>) -> u64 {
    space_tree.buffer().floor().unwrap_or(u64::MAX)
}
