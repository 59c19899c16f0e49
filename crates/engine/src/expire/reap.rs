//! Reaping: determines the floors by which compaction may drop rows, and compacts collections.
//! Floors ([`Floors`]) are the times up to which documents have permanently expired.
//!
//! The drop predicate takes no snapshot into account, so it uses older reap floors:
//!
//! ```text
//!  floors of a view, taken every second ──▶ samples (waiting for `--reap-delay`)
//!                                               │ the newest that is old enough
//!                                               ▼
//!         lowered to what every open view allows, to the time before an unconfirmed clock jump,
//!         and to the expirations that the feed has published
//!                                               │
//!                                               ▼
//!                                 reap floors, in force for every compaction
//! ```
//!
//! So no open view and no feed ever misses a row that it may still return. Reap floors only rise;
//! after a restart there are none at first.
//!
//! A pass reads a few counters per collection. Where counters cannot show the expired amount, a
//! scan is needed; scans are limited to a share of the time ([`WALK_SHARE`]).

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use store::{Commit, Condition, Mutation, Space};

use super::{
    forget::{keeps_any, would_forget},
    live_counts::CountBy,
    reap_sample::Estimate,
};
use crate::{
    amount::Unreaped,
    catalog::{Collection, ReapFloors, decode_record},
    engine::Engine,
    error::Error,
    keys,
    names::Model,
    retry::read_in_view,
    view::ReapHold,
};

/// Interval at which the reaper opens views; bounds how far reap floors lag.
const SAMPLE_EVERY: Duration = Duration::from_secs(1);
/// Expired bytes at which a collection is compacted even if most of it is live.
pub(super) const REAP_BYTES: i64 = 256 * 1024 * 1024;
/// At most 1/WALK_SHARE of the reaper's time is spent on full scans of collections whose expired
/// amounts counters cannot determine.
const WALK_SHARE: u32 = 50;
/// Ratio of live to expired bytes below which the change log is compacted. A log that exceeds its
/// bound keeps three quarters of it, so one compaction follows.
const LOG_LIVE_PER_EXPIRED: i64 = 3;
/// Expired bytes below which a collection is not compacted, even if half of it has expired.
pub(super) const MIN_REAP_BYTES: i64 = 64 * 1024;

impl Engine {
    /// Returns the number of reaper passes and of documents reaped since the start.
    pub fn reap_statistics(&self) -> (u64, u64) {
        let reaper = &self.inner.reaper;
        (reaper.passes.load(Ordering::Relaxed), reaper.reaped_documents.load(Ordering::Relaxed))
    }

    /// Returns approximately how much has expired and is still stored in all collections, as of the
    /// last pass.
    pub fn reap_backlog(&self) -> Unreaped {
        let all = self.inner.reaper.lock();
        all.values().map(|of| of.backlog).fold(Unreaped::default(), |sum, one| Unreaped {
            amount: sum.amount.plus(one.amount),
            oldest_expired_seconds: sum.oldest_expired_seconds.max(one.oldest_expired_seconds),
        })
    }

    /// Prevents reaping of anything that expires from now on while the returned value exists.
    pub fn hold_reaping(&self) -> ReapHold {
        self.inner.active_views().hold_all()
    }

    /// Pauses or resumes reaping. During a pause no expired row is dropped and no compaction is
    /// started to drop any. Visibility is unaffected.
    pub fn set_reaping_paused(&self, paused: bool) {
        self.inner.reaper.set_paused(paused);
    }

    /// Returns whether reaping is paused.
    pub fn is_reaping_paused(&self) -> bool {
        self.inner.reaper.is_paused()
    }

    /// Runs one pass; `elapsed` is the machine's monotonic clock. Returns when the next pass is
    /// due.
    pub async fn reap_once(&self, elapsed: Duration) -> Result<Duration, Error> {
        // Expirations are published first, because unpublished ones are not reaped.
        self.publish_all_expirations().await?;
        self.drop_old_changes().await?;
        let reaper = Arc::clone(&self.inner.reaper);
        let all = self.inner.map().all_collections();
        let known: Vec<u32> = all.values().map(|collection| collection.id).collect();
        // Forget the state of dropped collections.
        reaper.lock().retain(|id, _| known.contains(id));
        for collection in all.values() {
            let record = &collection.state().record;
            if record.settings.can_expire() || record.running_feed().is_some() || keeps_any(record)
            {
                match self.reap_collection(collection, elapsed).await {
                    Ok(()) => {}
                    // The collection has been dropped since.
                    Err(_) if collection.is_dropped() => {}
                    Err(error) => return Err(error),
                }
            }
        }
        reaper.passes.fetch_add(1, Ordering::Relaxed);
        // Dropped collections are deleted last, so that a failed deletion does not delay other
        // collections.
        self.free_left().await?;
        Ok(elapsed.saturating_add(SAMPLE_EVERY.min(reaper.delay.max(Duration::from_millis(100)))))
    }

    /// Processes one collection: takes a sample, puts the newest sufficiently old sample into
    /// effect, compacts if worthwhile, and removes rules and index ids that are not needed any more.
    async fn reap_collection(
        &self,
        collection: &Arc<Collection>,
        elapsed: Duration,
    ) -> Result<(), Error> {
        let walk = elapsed >= self.inner.reaper.lock().entry(collection.id).or_default().walk_after;
        // Measured by the machine's clock, since a manual database clock may stand still.
        let began = clock::monotonic_time();
        let (sample, estimate) = self.sample_floors(collection, walk).await?;
        let cost = clock::monotonic_time().saturating_sub(began);
        // The delay is for documents, and would let a log in memory exceed its bound.
        let is_log = collection.state().record.model == Model::Changes;
        let delay = if is_log { Duration::ZERO } else { self.inner.reaper.delay };
        let due = {
            let mut all = self.inner.reaper.lock();
            let of = all.entry(collection.id).or_default();
            if walk {
                of.walk_after = elapsed.saturating_add(cost.saturating_mul(WALK_SHARE));
            }
            if let Some(estimate) = estimate {
                of.backlog = estimate.unreaped();
            }
            of.samples.push_back((elapsed, sample));
            let mut newest = None;
            // All sufficiently old samples are removed; the newest of them has the highest floors.
            while let Some((at, _)) = of.samples.front()
                && at.saturating_add(delay) <= elapsed
            {
                newest = of.samples.pop_front().map(|(_, sample)| sample);
            }
            newest
        };
        // No sample is old enough yet, as after startup.
        let Some(due) = due else { return Ok(()) };
        if self.inner.reaper.is_paused() {
            return Ok(());
        }
        let events_before_s = due.events_before_s;
        let limited = if self.inner.rules().read_guards() {
            let state = collection.state();
            let of = (collection.id, &state.record.settings);
            self.inner.active_views().limit_floors(of, due.floors, due.dropped)
        } else {
            Some((due.floors, due.dropped))
        };
        // A view is being opened and may read anything, so floors stay unchanged in this pass.
        let Some((floors, dropped)) = limited else { return Ok(()) };
        let allowed = Arc::new(ReapFloors { floors, dropped, events_before_s });
        let has_items = collection.state().record.items.is_some();
        if has_items && !self.keep_last_change(collection, &allowed).await? {
            // The next pass retries.
            return Ok(());
        }
        self.put_in_force(collection, allowed, estimate).await?;
        if keeps_any(&collection.state().record) {
            self.forget_if_filtered(collection).await?;
        }
        Ok(())
    }

    /// Removes from the record the rules and index ids that a compaction has made unnecessary, once
    /// the store reports that all data was filtered.
    async fn forget_if_filtered(&self, collection: &Arc<Collection>) -> Result<(), Error> {
        let compacted = {
            let all = self.inner.reaper.lock();
            all.get(&collection.id).and_then(|of| of.compacted.clone())
        };
        let Some((seq, allowed)) = compacted else { return Ok(()) };
        let store = self.inner.store();
        if store
            .filtered_through(collection.rows_space())
            .min(store.filtered_through(collection.entries_space()))
            < seq
        {
            return Ok(());
        }
        self.forget_retired(collection, &allowed).await?;
        if let Some(of) = self.inner.reaper.lock().get_mut(&collection.id) {
            of.compacted = None;
        }
        Ok(())
    }

    /// Makes reap floors effective for compactions, and compacts if enough has expired by them.
    async fn put_in_force(
        &self,
        collection: &Arc<Collection>,
        allowed: Arc<ReapFloors>,
        estimate: Option<Estimate>,
    ) -> Result<(), Error> {
        {
            let mut all = self.inner.reaper.lock();
            // Checked under the lock: a pause withdraws the floors under it, and they must not be
            // set again.
            if self.inner.reaper.is_paused() {
                return Ok(());
            }
            let of = all.entry(collection.id).or_default();
            // A compaction under unchanged floors would drop nothing more.
            let same = of.reaped_floors.as_ref().is_some_and(|held| **held == *allowed);
            of.allowed = Some(Arc::clone(&allowed));
            let Some(estimate) = estimate else { return Ok(()) };
            let expired = estimate.expired.bytes.saturating_add(estimate.event_bytes);
            // A dropped index is compacted away regardless of how little has expired.
            let record = &collection.state().record;
            let owed = of.compacted.is_none() && would_forget(record, &allowed);
            let enough = MIN_REAP_BYTES <= expired
                && match record.model {
                    // A large log whose records expire all the time is not rewritten for each part
                    // of fixed size.
                    Model::Changes => estimate.live.bytes / LOG_LIVE_PER_EXPIRED <= expired,
                    _ => estimate.live.bytes <= expired || REAP_BYTES <= expired,
                };
            if (!enough || same) && !owed {
                return Ok(());
            }
        }
        self.compact_collection(collection, allowed).await
    }

    /// Compacts a collection under the effective reap floors and subtracts the removed documents
    /// from the counters.
    ///
    /// Entries are dropped before rows: an entry without its row would be damage, while a row
    /// without entries is not found by an index and has expired anyway.
    async fn compact_collection(
        &self,
        collection: &Arc<Collection>,
        allowed: Arc<ReapFloors>,
    ) -> Result<(), Error> {
        let Some(pauses) = self.inner.reaper.pauses() else { return Ok(()) };
        if self.inner.store().has_copies() {
            self.commit_floors(collection, &allowed).await?;
        }
        let by_several_rules = {
            let record = &collection.state().record;
            matches!(CountBy::of_settings(record, &record.settings), CountBy::Several)
        };
        let mut walked = None;
        if by_several_rules {
            // Counters do not show how much will be dropped.
            let floors = &allowed.floors;
            let found = read_in_view!(self, collection, |view| view.walk_stored(floors).await);
            walked = Some(found?.0);
        }
        // Read before the compaction starts, which filters all data up to this commit.
        let seq = self.inner.store().published();
        self.inner.store().reap_space(collection.entries_space()).await?;
        self.inner.store().reap_space(collection.rows_space()).await?;
        // A pause during the compaction has stopped the filter at an unknown point.
        if self.inner.reaper.pauses() != Some(pauses) {
            return Ok(());
        }
        let trimmed = self.trim_counters(collection, &allowed.floors).await?;
        let documents = walked.map_or(trimmed.documents, |(expired, _)| expired.documents);
        let mut all = self.inner.reaper.lock();
        let of = all.entry(collection.id).or_default();
        if of.compacted.is_none() && would_forget(&collection.state().record, &allowed) {
            of.compacted = Some((seq, Arc::clone(&allowed)));
        }
        of.reaped_floors = Some(allowed);
        let documents = u64::try_from(documents).unwrap_or(0);
        self.inner.reaper.reaped_documents.fetch_add(documents, Ordering::Relaxed);
        Ok(())
    }

    /// Commits the reap floors for copies of the store. If the collection is changed or dropped
    /// concurrently, the next compaction commits them.
    async fn commit_floors(
        &self,
        collection: &Collection,
        allowed: &ReapFloors,
    ) -> Result<(), Error> {
        let seq = self.inner.store().published();
        let key = {
            let record = &collection.state().record;
            keys::record(record.model, &record.namespace)
        };
        // Floors of a dropped collection would remain forever. The collection exists at this read,
        // and the condition ensures that its record is unchanged when the commit is ordered.
        let stored = self.inner.store().system().catalog_record(&key).await?;
        let stored = stored.map(|record| decode_record(&record)).transpose()?;
        if stored.is_none_or(|record| record.id != collection.id) {
            return Ok(());
        }
        let space = Space::Catalog;
        let unchanged = Condition::NotNewer { space, key, seq };
        let (key, value) = (keys::collection_floors(collection.id), allowed.encode().into());
        let put = Mutation::Put { space, key, value };
        self.commit_one(Commit::new(vec![unchanged], move |_| vec![put]).freeing()).await?;
        Ok(())
    }

    /// Returns a sample of the floors at a new view's instant, and an estimate of the amount that
    /// has expired by them; without `walk` the estimate is only made from counters.
    async fn sample_floors(
        &self,
        collection: &Arc<Collection>,
        walk: bool,
    ) -> Result<(ReapFloors, Option<Estimate>), Error> {
        let until = self.inner.clock().reap_until();
        Ok(read_in_view!(self, collection, |view| view.read_sample(until, walk).await)?.0)
    }

    /// Returns the expired documents of a collection that are probably still stored.
    pub(crate) async fn unreaped_amount(
        &self,
        collection: &Arc<Collection>,
    ) -> Result<Unreaped, Error> {
        Ok(self.sample_floors(collection, true).await?.1.unwrap_or_default().unreaped())
    }

    /// Compacts a collection under the effective reap floors, even if it is not worthwhile.
    pub async fn reap_now(&self, collection: &Arc<Collection>) -> Result<(), Error> {
        let allowed =
            self.inner.reaper.lock().get(&collection.id).and_then(|of| of.allowed.clone());
        match allowed {
            Some(allowed) => self.compact_collection(collection, allowed).await,
            None => Ok(()),
        }
    }
}
