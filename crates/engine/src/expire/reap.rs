//! Reaping: the floors that compaction may drop rows by, and when a collection is worth compacting.
//!
//! The drop predicate sees no snapshot, so it never uses the current floors; it uses reap floors:
//!
//! ```text
//!  floors of a view, taken every second ──▶ samples (waiting for `--reap-delay`)
//!                                               │ the newest that is old enough
//!                                               ▼
//!         lowered to what every open view allows, to what the clock may not have jumped over,
//!         and to the expirations that the feed has published
//!                                               │
//!                                               ▼
//!                                 reap floors, in force for every compaction
//! ```
//!
//! So no view that is open, and no feed, ever misses a row that it may still show. Reap floors only
//! rise, and start at nothing after a restart.
//!
//! A pass costs a few reads of counters for each collection whose counters know what has expired.
//! Where they do not, only a walk tells, and walks are bounded to a share of the time
//! ([`WALK_SHARE`]).

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use clock::Instant;
use expiry::Floors;
use store::{Commit, Condition, Mutation, Space, Store};

use super::{
    forget::{keeps_any, would_forget},
    live_counts::CountBy,
};
use crate::{
    amount::{Amount, Unreaped},
    catalog::{Collection, ReapFloors, decode_record},
    engine::Engine,
    error::{Error, Halt},
    keys,
    retry::read_in_view,
    view::{LiveView, ReapHold},
};

/// How often the reaper opens views; reap floors lie this far behind what they could be, at most.
const SAMPLE_EVERY: Duration = Duration::from_secs(1);
/// Expired bytes at which a collection is compacted even when most of it is live.
const REAP_BYTES: i64 = 256 * 1024 * 1024;
/// At most 1/WALK_SHARE of the reaper's time goes to full scans of collections whose expirations
/// the counters do not know.
const WALK_SHARE: u32 = 50;
/// Expired bytes below which a collection is left alone, even if half of it has expired.
const REAP_LEAST_BYTES: i64 = 64 * 1024;

impl<S: Store> Engine<S> {
    /// Passes of the reaper and documents it had compacted away, since the start.
    pub fn reap_statistics(&self) -> (u64, u64) {
        let reaper = &self.inner.reaper;
        (reaper.passes.load(Ordering::Relaxed), reaper.reaped_documents.load(Ordering::Relaxed))
    }

    /// About how much has expired and is still stored, over all collections, as the reaper last saw
    /// it.
    pub fn reap_backlog(&self) -> Unreaped {
        let all = self.inner.reaper.lock();
        all.values().map(|of| of.backlog).fold(Unreaped::default(), |sum, one| Unreaped {
            amount: sum.amount.plus(one.amount),
            oldest_expired_seconds: sum.oldest_expired_seconds.max(one.oldest_expired_seconds),
        })
    }

    /// Has nothing reaped that expires from now on, as long as the returned value lives.
    pub fn hold_reaping(&self) -> ReapHold {
        self.inner.active_views().hold_all()
    }

    /// Pauses reaping, or ends the pause: while it lasts no expired row is dropped, and no compaction
    /// is begun to drop some. What is visible does not change.
    pub fn set_reaping_paused(&self, paused: bool) {
        self.inner.reaper.set_paused(paused);
    }

    /// Whether reaping is paused.
    pub fn is_reaping_paused(&self) -> bool {
        self.inner.reaper.is_paused()
    }

    /// One pass of the reaper; `elapsed` is the machine's monotonic clock. Returns when the next
    /// pass is due.
    pub async fn reap_once(&self, elapsed: Duration) -> Result<Duration, Error> {
        // First, so that the floors of this pass reach as far as possible: reaping stops at what
        // has been published.
        self.publish_all_expirations().await?;
        let reaper = Arc::clone(&self.inner.reaper);
        let all = self.inner.map().all_collections();
        let known: Vec<u32> = all.values().map(|collection| collection.id).collect();
        // What is known of dropped collections goes.
        reaper.lock().retain(|id, _| known.contains(id));
        for collection in all.values() {
            let record = &collection.state().record;
            if record.settings.can_expire() || keeps_any(record) {
                match self.reap_collection(collection, elapsed).await {
                    Ok(()) => {}
                    // It was dropped under the reaper's hands.
                    Err(_) if collection.is_dropped() => {}
                    Err(error) => return Err(error),
                }
            }
        }
        reaper.passes.fetch_add(1, Ordering::Relaxed);
        // Last: what cannot be removed holds up no other collection.
        self.free_left().await?;
        Ok(elapsed.saturating_add(SAMPLE_EVERY.min(reaper.delay.max(Duration::from_millis(100)))))
    }

    /// One collection's part of a pass: takes a sample, puts the newest sample that is old enough
    /// in force, compacts when it is worth it, and forgets what an earlier compaction made
    /// superfluous.
    async fn reap_collection(
        &self,
        collection: &Arc<Collection>,
        elapsed: Duration,
    ) -> Result<(), Error> {
        let walk = elapsed >= self.inner.reaper.lock().entry(collection.id).or_default().walk_after;
        // The machine's time, not the database's, which a manual clock lets stand still.
        let began = clock::monotonic_time();
        let (sample, estimate) = self.sample_floors(collection, walk).await?;
        let cost = clock::monotonic_time().saturating_sub(began);
        let delay = self.inner.reaper.delay;
        let due = {
            let mut all = self.inner.reaper.lock();
            let of = all.entry(collection.id).or_default();
            if walk {
                of.walk_after = elapsed.saturating_add(cost.saturating_mul(WALK_SHARE));
            }
            if let Some(estimate) = estimate {
                of.backlog = estimate.minus_reaped(of.reaped);
            }
            of.samples.push_back((elapsed, sample));
            let mut newest = None;
            // All that are old enough leave the queue; the newest of them has the highest floors.
            while let Some((at, _)) = of.samples.front()
                && at.saturating_add(delay) <= elapsed
            {
                newest = of.samples.pop_front().map(|(_, sample)| sample);
            }
            newest
        };
        // Nothing is old enough yet, as after a start.
        let Some(due) = due else { return Ok(()) };
        if self.inner.reaper.is_paused() {
            return Ok(());
        }
        let events_before_s = due.events_before_s;
        let limited = if self.inner.rules().read_guards() {
            self.inner.active_views().limit_floors(collection.id, due.floors, due.dropped)
        } else {
            Some((due.floors, due.dropped))
        };
        // A view is being opened: it may read anything, so nothing is put in force this time.
        let Some((floors, dropped)) = limited else { return Ok(()) };
        let allowed = Arc::new(ReapFloors { floors, dropped, events_before_s });
        let has_items = collection.state().record.items.is_some();
        if has_items && !self.keep_last_change(collection, &allowed).await? {
            // The next pass tries again.
            return Ok(());
        }
        self.put_in_force(collection, allowed, estimate).await?;
        if keeps_any(&collection.state().record) {
            self.forget_if_filtered(collection).await?;
        }
        Ok(())
    }

    /// Forgets what a compaction made superfluous, once the store says that it has filtered all.
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

    /// Puts reap floors in force and compacts when enough has expired by them.
    async fn put_in_force(
        &self,
        collection: &Arc<Collection>,
        allowed: Arc<ReapFloors>,
        estimate: Option<Estimate>,
    ) -> Result<(), Error> {
        let estimate = {
            let mut all = self.inner.reaper.lock();
            // Under the lock: a pause takes what is in force away, and it stays away.
            if self.inner.reaper.is_paused() {
                return Ok(());
            }
            let of = all.entry(collection.id).or_default();
            // A compaction under the same floors would find nothing new.
            let same = of.reaped_floors.as_ref().is_some_and(|held| **held == *allowed);
            of.allowed = Some(Arc::clone(&allowed));
            let Some(estimate) = estimate else { return Ok(()) };
            let expired = estimate.expired.minus(of.reaped);
            // A dropped index waits for a compaction, however little has expired.
            let owed = of.compacted.is_none() && would_forget(&collection.state().record, &allowed);
            let enough = REAP_LEAST_BYTES <= expired.bytes
                && (estimate.live.bytes <= expired.bytes || REAP_BYTES <= expired.bytes);
            if (!enough || same) && !owed {
                return Ok(());
            }
            estimate
        };
        self.compact_collection(collection, allowed, estimate.expired).await
    }

    /// Compacts a collection under reap floors that are in force, and takes what was dropped off
    /// the counters.
    ///
    /// Entries go before rows: an entry without its row would be damage, a row without entries is
    /// not found by an index and has expired anyway.
    async fn compact_collection(
        &self,
        collection: &Arc<Collection>,
        allowed: Arc<ReapFloors>,
        expired: Amount,
    ) -> Result<(), Error> {
        let Some(pauses) = self.inner.reaper.pauses() else { return Ok(()) };
        if self.inner.store().has_copies() {
            self.commit_floors(collection, &allowed).await?;
        }
        // Before the compaction begins: it filters everything up to here.
        let seq = self.inner.store().published();
        self.inner.store().reap_space(collection.entries_space()).await?;
        self.inner.store().reap_space(collection.rows_space()).await?;
        // Paused meanwhile, it has not dropped everything, and nobody knows how much.
        if self.inner.reaper.pauses() != Some(pauses) {
            return Ok(());
        }
        // Without counters nobody knows how much was dropped: what had expired then is remembered
        // and subtracted from later estimates.
        let counters_know = {
            let record = &collection.state().record;
            !matches!(CountBy::of_settings(record, &record.settings), CountBy::Several)
        };
        let trimmed = self.trim_counters(collection, &allowed.floors).await?;
        let mut all = self.inner.reaper.lock();
        let of = all.entry(collection.id).or_default();
        let documents = if counters_know {
            of.reaped = Amount::default();
            trimmed.documents
        } else {
            let documents = expired.minus(of.reaped).documents;
            of.reaped = expired;
            documents
        };
        if of.compacted.is_none() && would_forget(&collection.state().record, &allowed) {
            of.compacted = Some((seq, Arc::clone(&allowed)));
        }
        of.reaped_floors = Some(allowed);
        let documents = u64::try_from(documents).unwrap_or(0);
        self.inner.reaper.reaped_documents.fetch_add(documents, Ordering::Relaxed);
        Ok(())
    }

    /// Tells copies of the store what may go from them. Where the collection changes at the same time,
    /// or is dropped, the next compaction does.
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
        // The floors of a collection that is gone would stay for ever: it was there when this was read,
        // and its record has not changed since `seq` when the commit is ordered.
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

    /// The floors of a new view, and how much has expired by them; without `walk` only where the
    /// counters know.
    async fn sample_floors(
        &self,
        collection: &Arc<Collection>,
        walk: bool,
    ) -> Result<(ReapFloors, Option<Estimate>), Error> {
        let until = self.inner.clock().reap_until();
        Ok(read_in_view!(self, collection, |view| view.read_sample(until, walk).await)?.0)
    }

    /// Expired documents of a collection that are probably still stored.
    pub(crate) async fn unreaped_amount(
        &self,
        collection: &Arc<Collection>,
    ) -> Result<Unreaped, Error> {
        let estimate = self.sample_floors(collection, true).await?.1.unwrap_or_default();
        let all = self.inner.reaper.lock();
        let reaped = all.get(&collection.id).map(|of| of.reaped).unwrap_or_default();
        Ok(estimate.minus_reaped(reaped))
    }

    /// Compacts a collection under the reap floors in force, whether it is worth it or not.
    pub async fn reap_now(&self, collection: &Arc<Collection>) -> Result<(), Error> {
        let allowed =
            self.inner.reaper.lock().get(&collection.id).and_then(|of| of.allowed.clone());
        match allowed {
            Some(allowed) => {
                let estimate = self.sample_floors(collection, true).await?.1.unwrap_or_default();
                self.compact_collection(collection, allowed, estimate.expired).await
            }
            None => Ok(()),
        }
    }
}

/// How much of a collection has expired and how much is live.
/// By the counters, or by a walk.
#[derive(Clone, Copy, Debug, Default)]
struct Estimate {
    expired: Amount,
    live: Amount,
    oldest_expired_s: i64,
}

impl Estimate {
    /// What of it is still stored when this much has been reaped.
    fn minus_reaped(&self, reaped: Amount) -> Unreaped {
        let amount = self.expired.minus(reaped);
        Unreaped { amount, oldest_expired_seconds: self.oldest_expired_s }
    }
}

impl<S: Store> LiveView<S> {
    /// The floors of this view, bounded by how far the clock is durable, and an estimate by them.
    async fn read_sample(
        &self,
        until: Instant,
        walk: bool,
    ) -> Result<(ReapFloors, Option<Estimate>), Halt> {
        let record = &self.state.record;
        let at = self.stable_instant().min(until);
        // Dates come from users: a later write may carry an old date, and must not be dropped by a
        // floor that was taken before it.
        let mut floors = record.settings.floors_at(at).bounded_by_stamp(self.seq + 1);
        let mut events_before_s = i64::MIN;
        if let Some((feed, begun)) = record.running_feed() {
            // An expired item whose event is not published yet is that event's image.
            floors = floors.lower_of_both(&self.published_up_to(begun).await?);
            events_before_s = feed.kept_from(at);
        }
        let estimate = self.estimate_expired(&floors, walk).await?;
        let dropped = record.dropped.clone();
        Ok((ReapFloors { floors, dropped, events_before_s }, estimate))
    }

    /// How much has expired by these floors; `None` where that takes a walk that is not wanted.
    async fn estimate_expired(
        &self,
        floors: &Floors,
        walk: bool,
    ) -> Result<Option<Estimate>, Halt> {
        let record = &self.state.record;
        let total = self.total_amount().await?;
        let expired = match CountBy::of_settings(record, &record.settings) {
            CountBy::None => Amount::default(),
            CountBy::Classes | CountBy::Date(_) => self.expired_amount(floors).await?,
            CountBy::Several if !walk => return Ok(None),
            // Where the counters do not know, what is counted and not live has expired.
            CountBy::Several => total.minus(self.count_live().await?),
        };
        // For status pages: how far reaping lies behind.
        let oldest_expired_s = self.oldest_expired_s().await?;
        Ok(Some(Estimate { expired, live: total.minus(expired), oldest_expired_s }))
    }
}
