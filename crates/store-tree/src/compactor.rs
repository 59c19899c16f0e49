//! Compaction of the places that got tables, on a thread of its own, and the removal of what nobody
//! reads any more.
//!
//! ```text
//!  flushed ──▶ watched ──(every 50 ms)──▶ compact while that changes the tables
//!                  │ not written for REST_TICKS: at rest, few tables
//!                  └ at rest, and nothing to do or to let go of: left alone
//! ```
//!
//! While a place is being written more tables are allowed, so that a burst does not compete with its
//! own compaction; reads look at a few tables more meanwhile.

use std::{
    collections::HashMap,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, atomic::Ordering},
};

use lsm_tree::{AbstractTree as _, compaction::Leveled};
use store::{Error, Kind};

use crate::{errors::from_tree, inner::OpenStore, manifest, place::Place};

/// Tables of the first level that start its compaction when the place is at rest.
const TABLES_AT_REST: u8 = 4;
/// The same while it is being written.
const TABLES_IN_A_BURST: u8 = 12;
/// Bytes of one table.
const TABLE_BYTES: u64 = 64 * 1024 * 1024;
/// The same in a burst. The second level holds this many of them before it is merged with the next,
/// which can wait too.
const TABLE_BYTES_IN_A_BURST: u64 = 4 * TABLE_BYTES;
/// Tables of the first level that are merged although a view is older than one of them. Replaced
/// versions are kept then.
const TABLES_FOR_OLD_VIEWS: usize = 16;
/// Tables of the first level that start a compaction where rows are large, with and without such a view:
/// a compaction has a block of each of them in memory.
const LARGE_TABLES_FOR_OLD_VIEWS: usize = 6;
const LARGE_TABLES: u8 = 3;
/// Bytes of replaced versions that are not worth a compaction.
const FEW_BYTES: u64 = 8 * 1024 * 1024;
/// A place is compacted as a whole when this part of its bytes may be replaced versions.
const SWEPT_SHARE: u64 = 4;
/// The largest place that is compacted for that, bytes: others wait meanwhile.
const LARGEST_SWEEP: u64 = 16 * 1024 * 1024 * 1024;
/// Ticks without a write after which a burst is over.
const REST_TICKS: u64 = 5;
/// Looks between two attempts after a failure.
const LOOKS_AFTER_FAILURE: u32 = 20;

/// A place that got tables lately.
struct Watched {
    place: Arc<Place>,
    /// What it looked like when there was nothing to do, and whether it was at rest then.
    nothing_to_do: Option<(Shape, bool)>,
    /// Looks until it is tried again.
    wait: u32,
}

/// What compaction changes: runs of the first level, tables, bytes on disk.
type Shape = (usize, usize, u64);

/// Compacts until the store is closed.
pub(crate) fn compact_until_closed(inner: &OpenStore) {
    let watch = |place| Watched { place, nothing_to_do: None, wait: 0 };
    let all = inner.all_places().into_iter();
    let mut watched: HashMap<u64, Watched> =
        all.map(|place| (place.number, watch(place))).collect();
    let mut wait = 0_u32;
    while let Some(written) = inner.compactor.wait_for_mail(watched.is_empty()) {
        for (number, place) in written {
            watched.entry(number).or_insert_with(|| watch(place)).wait = 0;
        }
        watched.retain(|_, of| {
            let looked = catch_unwind(AssertUnwindSafe(|| look_after(inner, of)));
            looked.unwrap_or_else(|_| {
                let text = "a compaction failed in an unforeseen way";
                inner.stop_commits(&Error::new(Kind::Unavailable, text));
                false
            })
        });
        // Freed here, beside all others: one may have half a million keys in memory.
        drop(inner.compactor.take_unread());
        wait = wait.saturating_sub(1);
        if wait == 0 {
            let read = inner.compactor.still_read();
            let flushed = read.iter().try_for_each(|place| inner.flush_dropped(place));
            wait = if flushed.is_err() { LOOKS_AFTER_FAILURE } else { 0 };
            inner.compactor.note_result(flushed);
        }
        inner.compactor.note_result(inner.trees.bury());
    }
}

/// Does what there is to do for a place; returns whether there may be more.
fn look_after(inner: &OpenStore, of: &mut Watched) -> bool {
    if of.place.is_dropped() {
        return false;
    }
    of.wait = of.wait.saturating_sub(1);
    if 0 < of.wait || inner.ending.load(Ordering::SeqCst) {
        return true;
    }
    let at_rest = of.place.buffer().written_at + REST_TICKS <= inner.tick.load(Ordering::Relaxed);
    let done = compact_while_changing(inner, of, at_rest)
        .and_then(|()| sweep_where_due(inner, &of.place, at_rest))
        .and_then(|swept| inner.release_place(&of.place).map(|more| !more && swept))
        .map(|done| done && of.nothing_to_do.is_some());
    match done {
        Ok(done) => !(done && at_rest),
        Err(error) => {
            inner.compactor.note_result(Err(error));
            of.wait = LOOKS_AFTER_FAILURE;
            of.nothing_to_do = None;
            true
        }
    }
}

/// Compacts a place while that changes anything.
fn compact_while_changing(inner: &OpenStore, of: &mut Watched, at_rest: bool) -> Result<(), Error> {
    let place = &of.place;
    let tree = &place.tree;
    let shape = || (tree.l0_run_count(), tree.table_count(), tree.disk_space());
    let mut seen = (shape(), at_rest);
    // One call does one step of work; as long as the tables change there may be more.
    while of.nothing_to_do != Some(seen) && !inner.ending.load(Ordering::SeqCst) {
        let _alone = place.begin_compaction();
        let settled = place.settle_inputs();
        let forget = place.forget_below(inner.published.oldest_view());
        let most = if place.outputs.has_large_rows() {
            LARGE_TABLES_FOR_OLD_VIEWS
        } else {
            TABLES_FOR_OLD_VIEWS
        };
        if forget == 0 && tree.l0_run_count() < most {
            // A view is open that is older than the newest table. Most end soon, and then the
            // compaction may leave out what was replaced.
            of.nothing_to_do = None;
            break;
        }
        of.nothing_to_do = Some(seen);
        let new_bytes = newest_bytes(place);
        let compacted =
            merge(inner, place, |place| tree.compact(Arc::new(leveled(place, at_rest)), forget));
        drop(settled);
        if !compacted? {
            of.nothing_to_do = None;
            continue;
        }
        let (_, _, before) = std::mem::replace(&mut seen.0, shape());
        match forget {
            0 if of.nothing_to_do != Some(seen) => place.note_superseded(new_bytes),
            0 => {}
            _ => place.note_swept(before.saturating_sub(tree.disk_space())),
        }
    }
    Ok(())
}

/// Bytes of the tables that were flushed and not merged yet.
fn newest_bytes(place: &Place) -> u64 {
    place.tree.current_version().level(0).map_or(0, |level| level.size())
}

/// Compacts a place as a whole when much of it may be versions that no view reads any more: no other
/// compaction may come to them in a place at rest. Returns whether there are none, or few.
fn sweep_where_due(inner: &OpenStore, place: &Place, at_rest: bool) -> Result<bool, Error> {
    let (superseded, all) = (place.superseded_bytes(), place.tree.disk_space());
    if superseded < FEW_BYTES || superseded < all / SWEPT_SHARE || LARGEST_SWEEP < all {
        return Ok(true);
    }
    if at_rest && place.forget_below(inner.published.oldest_view()) != 0 {
        compact_whole(inner, place)?;
    }
    Ok(place.superseded_bytes() == 0)
}

/// Has a place merge tables; returns whether it did. If not, the merge would hold too much memory, and
/// the next one makes smaller tables: see `outputs.rs`.
fn merge(
    inner: &OpenStore,
    place: &Place,
    compact: impl FnOnce(&Place) -> lsm_tree::Result<()>,
) -> Result<bool, Error> {
    let newest = manifest::newest_table(place.folder());
    let Err(error) = inner.make_tables(place, || compact(place)) else { return Ok(true) };
    if !place.outputs.take_exceeded() {
        return Err(from_tree("compact a tree", &error));
    }
    // Waits for a flush, which has listed its tables then: all others that are new are of no use.
    let _alone = place.making.write();
    manifest::remove_unlisted(place.folder(), newest).map(|()| false)
}

/// How eagerly tables are merged.
fn leveled(place: &Place, at_rest: bool) -> Leveled {
    let (tables, bytes) = if at_rest {
        (TABLES_AT_REST, TABLE_BYTES)
    } else {
        (TABLES_IN_A_BURST, TABLE_BYTES_IN_A_BURST)
    };
    let tables = if place.outputs.has_large_rows() { LARGE_TABLES } else { tables };
    let bytes = place.outputs.begin(bytes);
    Leveled::default().with_l0_threshold(tables).with_table_target_size(bytes)
}

/// Compacts a place as a whole, so that its filter sees every row.
pub(crate) fn compact_whole(inner: &OpenStore, place: &Place) -> Result<(), Error> {
    let _alone = place.begin_compaction();
    loop {
        let settled = place.settle_inputs();
        let forget = place.forget_below(inner.published.oldest_view());
        let superseded = place.superseded_bytes();
        let compacted = merge(inner, place, |place| {
            place.tree.major_compact(place.outputs.begin(TABLE_BYTES), forget)
        });
        drop(settled);
        // Tables become smaller with each attempt, so that one succeeds.
        if !compacted? {
            continue;
        }
        if forget != 0 {
            // All of it, whatever the tables took.
            place.note_swept(superseded);
        }
        return Ok(());
    }
}
