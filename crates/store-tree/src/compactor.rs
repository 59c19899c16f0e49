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

use crate::{errors::from_tree, inner::OpenStore, manifest, space_tree::SpaceTree};

/// Number of first-level tables that start a compaction of a tree at rest.
const TABLES_AT_REST: u8 = 4;
/// Number of first-level tables that start a compaction of a tree during a burst of writes.
const TABLES_IN_A_BURST: u8 = 12;
/// Target size of a table in a tree that is no longer written.
const TABLE_BYTES: u64 = 64 * 1024 * 1024;
/// Target size of a table during a burst of writes. The second level holds this much before it is
/// merged with the next level; that merge can wait, too.
const TABLE_BYTES_IN_A_BURST: u64 = 4 * TABLE_BYTES;
/// Number of first-level tables at which they are merged even if an open view is older than one of
/// them. The replaced versions are then kept.
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
/// Ticks without a write to a tree after which a burst of writes has ended.
const REST_TICKS: u64 = 5;
/// Number of passes of the compactor between two attempts to compact a tree after a failure.
const LOOKS_AFTER_FAILURE: u32 = 20;

/// A tree that recently got new tables.
struct Watched {
    space_tree: Arc<SpaceTree>,
    /// Shape of the tree when there was nothing to compact, and whether the tree was at rest then.
    nothing_to_do: Option<(Shape, bool)>,
    /// Number of passes until the next attempt to compact the tree.
    wait: u32,
}

/// Properties that a compaction changes: first-level runs, number of tables, bytes on disk.
type Shape = (usize, usize, u64);

/// Compacts until the store is closed.
pub(crate) fn compact_until_closed(inner: &OpenStore) {
    let watch = |space_tree| Watched { space_tree, nothing_to_do: None, wait: 0 };
    let all = inner.all_trees().into_iter();
    let mut watched: HashMap<u64, Watched> =
        all.map(|space_tree| (space_tree.number, watch(space_tree))).collect();
    let mut wait = 0_u32;
    while let Some(written) = inner.compactor.wait_for_messages(watched.is_empty()) {
        for (number, space_tree) in written {
            watched.entry(number).or_insert_with(|| watch(space_tree)).wait = 0;
        }
        watched.retain(|_, of| {
            let looked = catch_unwind(AssertUnwindSafe(|| compact_if_due(inner, of)));
            looked.unwrap_or_else(|_| {
                let text = "panic in a compaction";
                inner.stop_commits(&Error::new(Kind::Unavailable, text));
                false
            })
        });
        // Freed on this thread: a tree may have half a million keys in memory.
        drop(inner.compactor.take_unreferenced());
        wait = wait.saturating_sub(1);
        if wait == 0 {
            let read = inner.compactor.still_referenced();
            let flushed = read.iter().try_for_each(|space_tree| inner.flush_dropped(space_tree));
            wait = if flushed.is_err() { LOOKS_AFTER_FAILURE } else { 0 };
            inner.compactor.record_result(flushed);
        }
        inner.compactor.record_result(inner.trees.remove_dropped());
    }
}

/// Compacts a tree if due; returns whether it must be watched further.
fn compact_if_due(inner: &OpenStore, of: &mut Watched) -> bool {
    if of.space_tree.is_dropped() {
        return false;
    }
    of.wait = of.wait.saturating_sub(1);
    if 0 < of.wait || inner.ending.load(Ordering::SeqCst) {
        return true;
    }
    let at_rest =
        of.space_tree.buffer().written_at + REST_TICKS <= inner.tick.load(Ordering::Relaxed);
    let done = compact_while_changing(inner, of, at_rest)
        .and_then(|()| sweep_where_due(inner, &of.space_tree, at_rest))
        .and_then(|swept| inner.release_tree(&of.space_tree).map(|more| !more && swept))
        .map(|done| done && of.nothing_to_do.is_some());
    match done {
        Ok(done) => !(done && at_rest),
        Err(error) => {
            inner.compactor.record_result(Err(error));
            of.wait = LOOKS_AFTER_FAILURE;
            of.nothing_to_do = None;
            true
        }
    }
}

/// Compacts a tree until a compaction changes nothing.
fn compact_while_changing(inner: &OpenStore, of: &mut Watched, at_rest: bool) -> Result<(), Error> {
    let space_tree = &of.space_tree;
    let tree = &space_tree.tree;
    let shape = || (tree.l0_run_count(), tree.table_count(), tree.disk_space());
    let mut seen = (shape(), at_rest);
    // One call does a single step; another step may be due if the tables have changed.
    while of.nothing_to_do != Some(seen) && !inner.ending.load(Ordering::SeqCst) {
        let _alone = space_tree.begin_compaction();
        let settled = space_tree.lock_inputs();
        let forget = space_tree.forget_below(inner.published.oldest_view());
        let most = if space_tree.outputs.has_large_rows() {
            LARGE_TABLES_FOR_OLD_VIEWS
        } else {
            TABLES_FOR_OLD_VIEWS
        };
        if forget == 0 && tree.l0_run_count() < most {
            // An open view is older than the newest table, so that replaced versions would have to
            // be kept. Waits, because most views end soon.
            of.nothing_to_do = None;
            break;
        }
        of.nothing_to_do = Some(seen);
        let new_bytes = newest_bytes(space_tree);
        let compacted = merge(inner, space_tree, |space_tree| {
            tree.compact(Arc::new(leveled(space_tree, at_rest)), forget)
        });
        drop(settled);
        if !compacted? {
            of.nothing_to_do = None;
            continue;
        }
        let (_, _, before) = std::mem::replace(&mut seen.0, shape());
        match forget {
            0 if of.nothing_to_do != Some(seen) => space_tree.record_superseded(new_bytes),
            0 => {}
            _ => space_tree.record_swept(before.saturating_sub(tree.disk_space())),
        }
    }
    Ok(())
}

/// Returns the size of the tables that were flushed and not merged yet.
fn newest_bytes(space_tree: &SpaceTree) -> u64 {
    space_tree.tree.current_version().level(0).map_or(0, |level| level.size())
}

/// Compacts a whole tree at rest if a large part of it may be versions that no view reads. Without
/// writes, no other compaction might reach them. Returns whether nothing is left to do: few such
/// versions remain, or the tree is too large.
fn sweep_where_due(
    inner: &OpenStore,
    space_tree: &SpaceTree,
    at_rest: bool,
) -> Result<bool, Error> {
    let (superseded, all) = (space_tree.superseded_bytes(), space_tree.tree.disk_space());
    if superseded < FEW_BYTES || superseded < all / SWEPT_SHARE || LARGEST_SWEEP < all {
        return Ok(true);
    }
    if at_rest && space_tree.forget_below(inner.published.oldest_view()) != 0 {
        compact_whole(inner, space_tree)?;
    }
    Ok(space_tree.superseded_bytes() == 0)
}

/// Compacts a tree by `compact`; returns false if it was stopped for using too much memory. The
/// next attempt then writes smaller tables (see `outputs.rs`).
fn merge(
    inner: &OpenStore,
    space_tree: &SpaceTree,
    compact: impl FnOnce(&SpaceTree) -> lsm_tree::Result<()>,
) -> Result<bool, Error> {
    let newest = manifest::newest_table(space_tree.folder());
    let Err(error) = inner.make_tables(space_tree, || compact(space_tree)) else { return Ok(true) };
    if !space_tree.outputs.take_exceeded() {
        return Err(from_tree("compact a tree", &error));
    }
    // The lock waits until a running flush has listed its tables. All other new tables were left by
    // the stopped merge and are removed.
    let _alone = space_tree.making.write();
    manifest::remove_unlisted(space_tree.folder(), newest).map(|()| false)
}

/// Returns the compaction strategy for a tree.
fn leveled(space_tree: &SpaceTree, at_rest: bool) -> Leveled {
    let (tables, bytes) = if at_rest {
        (TABLES_AT_REST, TABLE_BYTES)
    } else {
        (TABLES_IN_A_BURST, TABLE_BYTES_IN_A_BURST)
    };
    let tables = if space_tree.outputs.has_large_rows() { LARGE_TABLES } else { tables };
    let bytes = space_tree.outputs.begin(bytes);
    Leveled::default().with_l0_threshold(tables).with_table_target_size(bytes)
}

/// Compacts a whole tree, so that the drop filter sees every row.
pub(crate) fn compact_whole(inner: &OpenStore, space_tree: &SpaceTree) -> Result<(), Error> {
    let _alone = space_tree.begin_compaction();
    loop {
        let settled = space_tree.lock_inputs();
        let forget = space_tree.forget_below(inner.published.oldest_view());
        let superseded = space_tree.superseded_bytes();
        let compacted = merge(inner, space_tree, |space_tree| {
            space_tree.tree.major_compact(space_tree.outputs.begin(TABLE_BYTES), forget)
        });
        drop(settled);
        // Each attempt writes smaller tables, so that one succeeds.
        if !compacted? {
            continue;
        }
        if forget != 0 {
            // All replaced versions were dropped, regardless of the size of the tables.
            space_tree.record_swept(superseded);
        }
        return Ok(());
    }
}
