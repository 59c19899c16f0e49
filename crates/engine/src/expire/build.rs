//! Builds counters for documents that existed before the counters were started, from their headers,
//! while writers maintain them; then corrects the totals to the documents found.
//!
//! ```text
//!  change of TTL        commits of writers: each also updates the new buckets
//!  ─────●───────────────────────────────────────────────────────────────────▶ commits
//!       └ frozen snapshot: rows that no writer has counted in the new buckets
//!         ──page──page──page──▶ added to the buckets, then `Building` becomes `Ready`
//! ```
//!
//! The snapshot is taken when the change is published and before any later commit is ordered, so
//! each document is counted once: from the snapshot or by a later writer. A writer that replaces a
//! document of the snapshot may subtract it from the buckets before this build adds it; sums are
//! then briefly negative, but the final values are correct because all updates are additions.

use std::sync::Arc;

use expiry::Header;
use store::{Commit, KeyRange, Mutation, Space};

use crate::{
    backfill::Backfill,
    catalog::{Collection, CollectionState, CounterState, Record},
    counters::{Counted, count_in_buckets},
    engine::{Engine, RecordApply, RecordEdit},
    error::Error,
    keys,
    view::{Frozen, Pages, freeze_collection},
};

/// Number and total bytes of documents, by expiry class.
type FoundByClass = [[i64; 2]; 3];

impl Engine {
    /// Restarts a counter build that an earlier run did not finish. Called before any writes.
    pub(crate) async fn restart_counters(&self, collection: &Arc<Collection>) -> Result<(), Error> {
        let edit: Box<RecordEdit<()>> = Box::new(|_: &CollectionState| {
            let apply = |record: &mut Record, stamp: store::Stamp| {
                record.counters = CounterState::Building(stamp.seq);
            };
            Ok(Some((Arc::new(apply) as Arc<RecordApply>, ())))
        });
        let (_, begun) = self.change_with_backfill(collection, &*edit).await?;
        self.build_counters(collection, begun).await
    }

    /// Starts the backfill of counters that a change has enabled. Called when the change is
    /// published, before any later commit is ordered: the rows that exist then are exactly the rows
    /// that no writer has counted.
    pub(crate) fn begin_counters(
        &self,
        collection: &Arc<Collection>,
        before: CounterState,
    ) -> Option<Backfill> {
        let state = collection.state();
        let began = matches!(state.record.counters, CounterState::Building(_))
            && state.record.counters != before;
        began.then(|| Backfill { state, rows: freeze_collection(&self.inner.views, collection) })
    }

    /// Adds the documents that existed before the counters were started. Only the caller whose
    /// change started the counters runs this, once.
    pub(crate) async fn build_counters(
        &self,
        collection: &Arc<Collection>,
        begun: Option<Backfill>,
    ) -> Result<(), Error> {
        // No other task completes this build; if the server stops, the next start restarts it.
        let Some(Backfill { state, rows }) = begun else { return Ok(()) };
        let CounterState::Building(build) = state.record.counters else { return Ok(()) };
        let mut found = FoundByClass::default();
        let mut pages = Pages::of(KeyRange::all());
        while let Some(page) = rows.including_expired().next_rows(&mut pages).await? {
            let mut counted = Vec::with_capacity(page.rows.len());
            for (_, value) in &page.rows {
                let (header, body) = Header::split(value)?;
                let one = Counted::of_row(&header, body);
                let sums = &mut found[usize::from(keys::class_code(one.class))];
                sums[0] += 1;
                sums[1] = sums[1].saturating_add(one.bytes);
                counted.push(one);
            }
            // The key spaces of a dropped collection may have been deleted, so nothing is
            // committed.
            if collection.is_dropped() {
                return Ok(());
            }
            self.commit_one(backfill_commit(Arc::clone(&state), counted)).await?;
        }
        let corrections = total_corrections(&rows, collection.id, found).await?;
        let edit: Box<RecordEdit<()>> = Box::new(move |state: &CollectionState| {
            // A later change may have started other counters; the counters of this build are
            // abandoned then.
            let wanted = state.record.counters == CounterState::Building(build);
            let apply = move |record: &mut Record, _| record.counters = CounterState::Ready(build);
            Ok(wanted.then(|| (Arc::new(apply) as Arc<RecordApply>, ())))
        });
        // Totals and state change in one commit, so that `Ready` implies correct totals.
        self.change_with(collection, &*edit, &corrections).await?;
        self.purge_builds(collection).await
    }
}

/// Returns the commit that adds documents to the buckets of the seconds at which they expire. The
/// totals already include the documents.
fn backfill_commit(state: Arc<CollectionState>, counted: Vec<Counted>) -> Commit {
    Commit::new(Vec::new(), move |_| {
        let mut out = Vec::new();
        for counted in &counted {
            count_in_buckets(&state.record, counted, 1, &mut out);
        }
        out
    })
}

/// Returns mutations that set the totals to the amounts found in the snapshot, since expired
/// documents that were overwritten or reaped are in no bucket of the new counters.
async fn total_corrections(
    rows: &Frozen,
    collection: u32,
    found: FoundByClass,
) -> Result<Vec<Mutation>, Error> {
    let mut out = Vec::new();
    for (class, found) in (0_u8..).zip(found) {
        let key = keys::class_total(collection, class);
        let held = rows.counters().amounts_under(&key).await?;
        let by = [found[0].saturating_sub(held[0]), found[1].saturating_sub(held[1])];
        if by != [0; 2] {
            out.push(Mutation::Add { space: Space::Counts, key, by });
        }
    }
    Ok(out)
}
