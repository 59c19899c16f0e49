//! The thread that flushes memtables to tables, one space at a time.
//!
//! | condition | space that is flushed |
//! |---|---|
//! | the journal exceeds its budget | the space that needs the oldest entry |
//! | all memtables together exceed their budget | the largest |
//! | a space is at rest with more than a few keys in memory | this one |
//!
//! Flushing a space at rest makes lookups cheaper and leaves a start nothing to replay.
//!
//! A full disk is not fatal: unflushed data stays in memory, and the flush is retried at intervals.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::atomic::Ordering,
    time::Duration,
};

use store::{Error, Kind};

use crate::{budget::ExceededBudget, inner::OpenStore};

/// Interval between two passes of the flusher while there is nothing to do: one tick.
const PAUSE: Duration = Duration::from_millis(100);
/// Number of ticks between two attempts after a failed flush.
const TICKS_AFTER_FAILURE: u32 = 5;
/// Ticks without a write after which a space is at rest.
const REST_TICKS: u64 = 10;
/// Number of ticks between two measurements of disk usage.
const MEASURE_TICKS: u64 = 100;
/// Ticks between two checks of the open views.
const VIEW_TICKS: u64 = 10;
/// Number of keys in memory up to which a table is not worthwhile.
const FEW_KEYS: u64 = 1_000;
/// Ticks between two searches for spaces at rest.
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
                inner.measure_old_views();
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

/// Flushes one space if due, and truncates the journal as far as possible.
///
/// Returns whether a space was flushed.
fn flush_where_due(inner: &OpenStore) -> Result<bool, Error> {
    // Before a space is flushed for nothing.
    inner.remove_dropped()?;
    let due = due_space(inner).or_else(|| {
        // After a failed flush a space is flushed even if none is due, since only an attempt shows
        // whether disk space is available again.
        let failing = inner.budget.flush_failure().is_some();
        let memory = inner.tree.memory().into_iter().filter(|_| failing);
        memory.min_by_key(|of| of.first).map(|of| of.space)
    });
    let flushed = due.map_or(Ok(false), |space| inner.flush_space(space))?;
    if flushed {
        inner.measure_old_views();
    }
    inner.cut_journal()?;
    Ok(flushed)
}

/// Returns the space whose memtables have to be flushed now.
fn due_space(inner: &OpenStore) -> Option<u64> {
    let tick = inner.tick.load(Ordering::Relaxed);
    let excess = inner.budget.excess();
    if excess.is_none() && !tick.is_multiple_of(REST_LOOK_TICKS) {
        return None;
    }
    let memory = inner.tree.memory();
    inner.rest.observe(&memory, tick);
    let due = match excess {
        Some(ExceededBudget::Journal) => memory.iter().min_by_key(|of| of.first),
        Some(ExceededBudget::Memory) => memory.iter().max_by_key(|of| of.bytes),
        None => memory
            .iter()
            .find(|of| FEW_KEYS < of.entries && inner.rest.is_at_rest(of.space, tick, REST_TICKS)),
    };
    due.map(|of| of.space)
}
