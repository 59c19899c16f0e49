//! The thread that compacts trees with new tables and deletes data without readers.
//!
//! ```text
//!  flushed --> watched --(every 50 ms)--> compact while that changes the tables
//!                  | not written for REST_TICKS: at rest, few tables
//!                  + at rest, and nothing to compact or release: no longer watched
//! ```
//!
//! While a tree is being written, more tables are allowed, so that its compaction does not compete
//! with the burst; reads then check a few more tables.

use std::{
    collections::HashMap,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, atomic::Ordering},
};

use lsm_tree::{AbstractTree as _, compaction::Leveled};
use store::{Error, Kind};

use crate::{errors::from_tree, inner::OpenStore, manifest, place::Place};

/// Number of first-level tables that start a compaction of a tree at rest.
const TABLES_AT_REST: u8 = 4;
/// Number of first-level tables that start a compaction during a burst.
const TABLES_IN_A_BURST: u8 = 12;
/// Target size of a table in a tree that is no longer written.
const TABLE_BYTES: u64 = 64 * 1024 * 1024;
/// Target size of a table during a burst. The second level holds this much before it is merged with
/// the next level; that merge can wait, too.
const TABLE_BYTES_IN_A_BURST: u64 = 4 * TABLE_BYTES;
/// Number of first-level tables that are merged even if an open view is older than one of them.
/// Replaced versions are then kept.
const TABLES_FOR_OLD_VIEWS: usize = 16;
/// Number of first-level tables that start a compaction in a tree with large rows, whether or not
/// an older view is open: a compaction has a block of each table in memory.
const LARGE_TABLES_FOR_OLD_VIEWS: usize = 6;
const LARGE_TABLES: u8 = 3;
/// Size of replaced versions up to which a compaction is not worthwhile.
const FEW_BYTES: u64 = 8 * 1024 * 1024;
/// A tree is fully compacted if 1/SWEPT_SHARE of its size may be replaced versions.
const SWEPT_SHARE: u64 = 4;
/// Maximum size of a tree for a full compaction, which delays the other trees.
const LARGEST_SWEEP: u64 = 16 * 1024 * 1024 * 1024;
/// Ticks without a write after which a burst has ended.
const REST_TICKS: u64 = 5;
/// Number of passes between two attempts after a failure.
const LOOKS_AFTER_FAILURE: u32 = 20;

/// A tree that recently got new tables.
struct Watched {
    place: Arc<Place>,
    /// Shape of the tree when there was nothing to do, and whether the tree was at rest then.
    nothing_to_do: Option<(Shape, bool)>,
    /// Number of passes until the next attempt.
    wait: u32,
}

/// Properties that a compaction changes: first-level runs, number of tables, bytes on disk.
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
                let text = "panic in a compaction";
                inner.stop_commits(&Error::new(Kind::Unavailable, text));
                false
            })
        });
        // Freed on this thread: a tree may have half a million keys in memory.
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

/// Compacts a tree if due; returns whether it must be watched further.
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

/// Compacts a tree while that changes anything.
fn compact_while_changing(inner: &OpenStore, of: &mut Watched, at_rest: bool) -> Result<(), Error> {
    let place = &of.place;
    let tree = &place.tree;
    let shape = || (tree.l0_run_count(), tree.table_count(), tree.disk_space());
    let mut seen = (shape(), at_rest);
    // One call does one step; there may be more as long as the tables change.
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
            // An open view is older than the newest table. Most views end soon, and then the
            // compaction may drop replaced versions.
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

/// Returns the size of the tables that were flushed and not merged yet.
fn newest_bytes(place: &Place) -> u64 {
    place.tree.current_version().level(0).map_or(0, |level| level.size())
}

/// Compacts a whole tree at rest if a large part of it may be versions that no view reads. Without
/// writes, no other compaction might reach them. Returns whether nothing is left to do: few such
/// versions remain, or the tree is too large.
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

/// Merges tables of a tree; returns false if the merge was stopped for using too much memory. The
/// next merge then writes smaller tables (see `outputs.rs`).
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
    // The lock waits for a flush, which then has listed its tables; all other new tables are
    // garbage.
    let _alone = place.making.write();
    manifest::remove_unlisted(place.folder(), newest).map(|()| false)
}

/// Returns the compaction strategy for a tree.
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

/// Compacts a whole tree, so that its filter sees every row.
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
        // Each attempt writes smaller tables, so that one succeeds.
        if !compacted? {
            continue;
        }
        if forget != 0 {
            // All replaced versions, regardless of the size of the tables.
            place.note_swept(superseded);
        }
        return Ok(());
    }
}
