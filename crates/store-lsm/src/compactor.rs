//! Compaction on a thread of our own, of the keyspaces that were written. The tree's own workers
//! flush only: with compactions among their work one of them turns round and round while another
//! compacts, at the cost of a whole core.
//!
//! ```text
//!  written ──▶ watched ──(every 50 ms)──▶ compact while that changes the tables
//!                  │ no write for REST_LOOKS: at rest, few tables
//!                  └ no write for QUIET_LOOKS: left alone
//!  compacted ──▶ stale ──▶ a fresh snapshot ──▶ old files are deleted at the next look
//! ```
//!
//! While a keyspace is being written more tables are allowed, so that a burst does not compete with
//! its own compaction; reads look at a few tables more meanwhile.

use std::{
    collections::HashMap,
    sync::{Arc, mpsc},
};

use fjall::{AbstractTree, Keyspace, compaction::Leveled};
use store::Space;

use crate::{
    errors::from_fjall,
    flush::{flush_at_rest, flush_where_due},
    inner::OpenTree,
    messages::CommitterMessage,
    placeholder::{NewestNumber, write_placeholder},
};

/// Tables of the first level that start its compaction when the keyspace is at rest.
const TABLES_AT_REST: u8 = 4;
/// The same while it is being written: a burst shall not compete with its own compaction. Far
/// below the 20 at which the tree slows writers down.
const TABLES_IN_A_BURST: u8 = 12;
/// Bytes of one table.
pub(crate) const TABLE_BYTES: u64 = 64 * 1024 * 1024;
/// The same in a burst. The second level holds this many of them before it is merged with the next,
/// which can wait too.
const TABLE_BYTES_IN_A_BURST: u64 = 4 * TABLE_BYTES;
/// Looks without a write after which a burst is over.
const REST_LOOKS: u32 = 10;
/// Looks without a write after which what is in memory is written out.
const FLUSH_LOOKS: u32 = 20;
/// Looks without a write before a keyspace is left alone until it is written again.
const QUIET_LOOKS: u32 = 100;

/// How eagerly tables are merged.
fn leveled_strategy(at_rest: bool) -> Arc<Leveled> {
    let (tables, bytes) = if at_rest {
        (TABLES_AT_REST, TABLE_BYTES)
    } else {
        (TABLES_IN_A_BURST, TABLE_BYTES_IN_A_BURST)
    };
    Arc::new(Leveled::default().with_l0_threshold(tables).with_table_target_size(bytes))
}

/// A keyspace that was written lately.
#[derive(Default)]
struct WatchedKeyspace {
    /// What it looked like when there was nothing to do, and whether it was at rest then.
    nothing_to_do: Option<(KeyspaceShape, bool)>,
    /// Looks since it was last written.
    quiet: u32,
}

/// What compaction changes: runs of the first level, tables, bytes on disk.
type KeyspaceShape = (usize, usize, u64);

/// What a keyspace looks like now.
fn shape_of(keyspace: &Keyspace) -> KeyspaceShape {
    (keyspace.tree.l0_run_count(), keyspace.tree.table_count(), keyspace.disk_space())
}

/// Compacted keyspaces whose old files are not deleted yet. The compactor never waits for
/// the committer, which may be waiting for the compactor.
type StaleKeyspaces = Vec<Keyspace>;

/// Compacts until the store is closed.
pub(crate) fn compact_until_closed(inner: &OpenTree, committer: &mpsc::Sender<CommitterMessage>) {
    let mut watched: HashMap<Space, WatchedKeyspace> = inner
        .spaces
        .all_keyspaces()
        .into_iter()
        .map(|(space, _)| (space, WatchedKeyspace::default()))
        .collect();
    let mut meta = WatchedKeyspace::default();
    let mut stale = StaleKeyspaces::new();
    while let Some(written) = inner.compactor.wait_for_mail(watched.is_empty() && stale.is_empty())
    {
        // A snapshot was refreshed since the last look, so that the old files are seen by nobody.
        for keyspace in std::mem::take(&mut stale) {
            keep_failure(inner, release_old_files(inner, &keyspace));
        }
        for space in written {
            watched.entry(space).or_default().quiet = 0;
        }
        // Slots whose space was dropped: all keys of the old use go by the filter.
        for keyspace in inner.compactor.take_leftovers() {
            // Newer than all that is dropped: journals with rows of the dropped space may go then.
            let flushed =
                write_placeholder(&keyspace).and_then(|()| inner.flush_keyspace(&keyspace));
            if flushed.is_ok() {
                keep_failure(inner, compact_whole(inner, &keyspace));
                stale.push(keyspace);
            }
        }
        inner.compactor.note_result(flush_where_due(inner));
        // It is written with every batch.
        meta.quiet = 0;
        compact_while_changing(inner, &inner.meta, &mut meta, &mut stale);
        watched.retain(|space, state| match inner.spaces.place_of(*space) {
            None => false,
            Some(place) => {
                compact_while_changing(inner, &place.keyspace, state, &mut stale);
                state.quiet += 1;
                if state.quiet == FLUSH_LOOKS {
                    inner.compactor.note_result(flush_at_rest(&place.keyspace));
                }
                state.quiet < QUIET_LOOKS
            }
        });
        if !stale.is_empty() {
            let (done, _) = mpsc::channel();
            let _ = committer.send(CommitterMessage::Refresh(done));
        }
    }
}

/// Compacts one keyspace while that changes anything.
fn compact_while_changing(
    inner: &OpenTree,
    keyspace: &Keyspace,
    state: &mut WatchedKeyspace,
    stale: &mut StaleKeyspaces,
) {
    let at_rest = REST_LOOKS <= state.quiet;
    let mut seen = (shape_of(keyspace), at_rest);
    let (before, newest) = (seen.0, NewestNumber::of_tables(keyspace));
    // One call does one step of work; as long as the tables change there may be more.
    while state.nothing_to_do != Some(seen) {
        state.nothing_to_do = Some(seen);
        // Versions that an open snapshot sees are kept.
        let watermark = inner.tracker.oldest_open(&inner.database);
        // As long as this lives, the tables being made are handed to the disk while they grow.
        let _tables = inner.writeback.note_compaction(keyspace);
        let compacted = keyspace.tree.compact(leveled_strategy(at_rest), watermark);
        if !keep_failure(inner, compacted.map_err(fjall::Error::from)) {
            return;
        }
        seen.0 = shape_of(keyspace);
    }
    if before != seen.0 {
        stale.push(keyspace.clone());
        inner.compactor.note_result(newest.keep(inner, keyspace));
    }
}

/// Keeps a failure for whoever asks; returns whether there was none.
fn keep_failure(inner: &OpenTree, result: fjall::Result<()>) -> bool {
    let done = result.is_ok();
    inner.compactor.note_result(result.map_err(|error| from_fjall("compact a keyspace", &error)));
    done
}

/// Compacts one keyspace as a whole, under its filter.
pub(crate) fn compact_whole(inner: &OpenTree, keyspace: &Keyspace) -> fjall::Result<()> {
    let watermark = inner.tracker.oldest_open(&inner.database);
    let _tables = inner.writeback.note_compaction(keyspace);
    keyspace.tree.major_compact(TABLE_BYTES, watermark).map_err(fjall::Error::from)
}

/// Lets go of the files that a compaction has replaced, which the tree keeps until it is asked
/// again, as far as no open snapshot needs them: a refreshed one comes first.
pub(crate) fn release_old_files(inner: &OpenTree, keyspace: &Keyspace) -> fjall::Result<()> {
    let watermark = inner.tracker.oldest_open(&inner.database);
    let folder = &keyspace.tree.tree_config().path;
    keyspace.tree.get_version_history_lock().maintenance(folder, watermark)?;
    Ok(())
}
