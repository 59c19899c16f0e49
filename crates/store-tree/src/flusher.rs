//! The thread that writes memory to tables, one place at a time.
//!
//! | what is seen | what is flushed |
//! |---|---|
//! | the journal is beyond its budget | the place that needs its oldest entry, whichever it is |
//! | all memory together is beyond its budget | the largest |
//! | a place rests, and has more than a little in memory | this one: look-ups are cheaper in tables, and a start has nothing to apply |
//!
//! A full disk is no end: what could not be written stays in memory, and is tried again each second.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use store::{Error, Kind};

use crate::{budget::Excess, inner::OpenStore, place::Place};

/// Between two looks while nothing is to be done: a tick.
const PAUSE: Duration = Duration::from_millis(100);
/// Ticks between two attempts on a full disk.
const TICKS_AFTER_FAILURE: u32 = 5;
/// Ticks without a write after which a place is at rest.
const REST_TICKS: u64 = 10;
/// Ticks between two looks at what is stored.
const MEASURE_TICKS: u64 = 100;
/// Ticks between two looks at the open views.
const VIEW_TICKS: u64 = 10;
/// Keys in memory that are not worth a table.
const FEW_KEYS: usize = 1_000;
/// Ticks between two looks for places at rest.
const REST_LOOK_TICKS: u64 = 3;

/// Flushes until the store is closed.
pub(crate) fn flush_until_closed(inner: &OpenStore) {
    let _ = inner.flusher.set(std::thread::current());
    let mut wait = 0;
    while !inner.ending.load(Ordering::SeqCst) {
        if inner.budget.excess().is_none() || 0 < wait || inner.stop_reason().is_some() {
            // Woken when a budget is used up.
            std::thread::park_timeout(PAUSE);
            let tick = inner.tick.fetch_add(1, Ordering::Relaxed);
            if tick.is_multiple_of(MEASURE_TICKS) {
                inner.metrics.note_stored(inner.stored_bytes());
            }
            if tick.is_multiple_of(VIEW_TICKS) {
                inner.end_view_beyond_bound();
                inner.metrics.note_old_views(inner.old_views());
            }
            wait = u32::saturating_sub(wait, 1);
        }
        if 0 < wait || inner.stop_reason().is_some() {
            continue;
        }
        let flushed = catch_unwind(AssertUnwindSafe(|| flush_where_due(inner)));
        let result = flushed.unwrap_or_else(|_| {
            Err(Error::new(Kind::Unavailable, "a flush failed in an unforeseen way"))
        });
        wait = match &result {
            Ok(true) => 0,
            // Whatever is beyond its budget is somebody else's to let go of.
            Ok(false) => 1,
            Err(_) => TICKS_AFTER_FAILURE,
        };
        inner.note_flush(result.map(|_| ()));
    }
}

/// Flushes one place if that is due, and lets the journal go as far as it may.
///
/// Returns whether there was something to do.
fn flush_where_due(inner: &OpenStore) -> Result<bool, Error> {
    let due = due_place(inner).or_else(|| {
        // Whether there is room again is only known by trying.
        let failing = inner.budget.flush_failure().is_some();
        inner.all_places().into_iter().filter(|_| failing).min_by_key(floor_of)
    });
    let flushed = due.map_or(Ok(false), |place| inner.flush_place(&place))?;
    if flushed {
        inner.end_view_beyond_bound();
        inner.metrics.note_old_views(inner.old_views());
    }
    inner.cut_journal()?;
    Ok(flushed)
}

/// The place whose memory is to be written now.
fn due_place(inner: &OpenStore) -> Option<Arc<Place>> {
    let tick = inner.tick.load(Ordering::Relaxed);
    let excess = inner.budget.excess();
    if excess.is_none() && !tick.is_multiple_of(REST_LOOK_TICKS) {
        return None;
    }
    let places = inner.all_places();
    match excess {
        Some(Excess::Journal) => {
            places.into_iter().filter(|place| floor_of(place) < u64::MAX).min_by_key(floor_of)
        }
        Some(Excess::Memory) => places.into_iter().max_by_key(|place| place.buffer().bytes()),
        None => places.into_iter().find(|place| {
            let buffer = place.buffer();
            FEW_KEYS < buffer.items && buffer.written_at + REST_TICKS <= tick
        }),
    }
}

/// The oldest entry that a place needs.
fn floor_of(place: &Arc<Place>) -> u64 {
    place.buffer().floor().unwrap_or(u64::MAX)
}
