//! The thread that runs the jobs of the tree and removes files and memory without readers.
//!
//! A space that is being written may have more first runs, so that compactions do not compete with
//! the burst; reads then check a few more tables.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::atomic::Ordering,
    time::Duration,
};

use store::{Error, Kind};

use crate::{
    errors::{closed_error, from_tree},
    inner::OpenStore,
};

/// Number of first runs from which a space at rest is compacted.
const RUNS_AT_REST: usize = 4;
/// Number of first runs from which a space is compacted during a burst of writes.
const RUNS_IN_A_BURST: usize = 12;
/// Ticks without a write after which a burst of writes has ended.
const REST_TICKS: u64 = 5;
/// Number of passes of the compactor between two attempts after a failure.
const PASSES_AFTER_FAILURE: u32 = 20;
/// Interval at which a compaction of a whole space looks whether other jobs have left it.
const BUSY_PAUSE: Duration = Duration::from_millis(10);

/// Compacts until the store is closed.
pub(crate) fn compact_until_closed(inner: &OpenStore) {
    let (mut idle, mut wait) = (false, 0_u32);
    while inner.compactor.wait(idle) {
        wait = wait.saturating_sub(1);
        if 0 < wait || inner.stop_reason().is_some() {
            continue;
        }
        let passed = catch_unwind(AssertUnwindSafe(|| pass(inner)));
        let passed = passed.unwrap_or_else(|_| {
            let error = Error::new(Kind::Unavailable, "panic in a compaction");
            inner.stop_commits(&error);
            Err(error)
        });
        match passed {
            Ok(worked) => idle = !worked,
            Err(error) => {
                inner.compactor.record_result(Err(error));
                (idle, wait) = (false, PASSES_AFTER_FAILURE);
            }
        }
    }
}

/// Runs all jobs that are due, and frees what nothing refers to; returns whether there was work.
fn pass(inner: &OpenStore) -> Result<bool, Error> {
    inner.remove_dropped()?;
    let mut worked = false;
    while !inner.ending.load(Ordering::SeqCst) {
        let tick = inner.tick.load(Ordering::Relaxed);
        let first_runs = |space: u64| {
            let runs = match inner.rest.is_at_rest(space, tick, REST_TICKS) {
                true => RUNS_AT_REST,
                false => RUNS_IN_A_BURST,
            };
            (!inner.reserved.contains(space)).then_some(runs)
        };
        let Some(job) = inner.tree.pick(first_runs) else { break };
        worked = true;
        let ran = inner.tree.run(&job);
        drop(job);
        // The files of a failed job are removed before the next one: the disk may be full.
        inner.sweep()?;
        inner.check_tree("compact", ran)?;
    }
    Ok(0 < inner.sweep()? || worked)
}

/// Compacts a whole space, so that the drop filter sees every row that is in tables.
pub(crate) fn compact_whole(inner: &OpenStore, space: u64) -> Result<(), Error> {
    let _reserved = inner.reserved.reserve(space);
    loop {
        if inner.ending.load(Ordering::SeqCst) {
            return Err(closed_error());
        }
        let picked = match inner.tree.pick_whole(space) {
            // The space was dropped.
            Err(tree::Error::UnknownSpace(_)) => return Ok(()),
            picked => picked.map_err(|error| from_tree("compact a space", &error))?,
        };
        let Some(job) = picked else {
            if inner.tree.space_figures(space).is_ok_and(|of| 0 < of.tables) {
                std::thread::park_timeout(BUSY_PAUSE);
                continue;
            }
            return Ok(());
        };
        let ran = inner.tree.run(&job);
        drop(job);
        inner.sweep()?;
        // A cancelled job has filtered nothing, unless the space was dropped.
        if !inner.check_tree("compact a space", ran)?.cancelled {
            return Ok(());
        }
    }
}
