//! Reaping: the floors that compaction may judge by, and when a collection is worth compacting.
//!
//! The drop predicate sees no snapshot, so it never judges by the floors of now, but by reap
//! floors: those of a view the reaper opened at least the delay ago, lowered to what every open
//! view and the clock allow. They only rise, and start at nothing after a restart.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use clock::Instant;
use expiry::Floors;
use store::Store;

use super::{
    forget::{keeps_any, would_forget},
    live_counts::CountBy,
};
use crate::{
    amount::{Amount, Unreaped},
    catalog::Collection,
    engine::Engine,
    error::{Error, Halt},
    reaper::ReapFloors,
    retry::read_in_view,
    view::LiveView,
};

/// How often the reaper opens views.
const SAMPLE_EVERY: Duration = Duration::from_secs(1);
/// Dead bytes at which a collection is compacted even when most of it lives.
const REAP_BYTES: i64 = 256 * 1024 * 1024;
/// One part in so many of the time may go into walking collections whose deaths are not on the
/// books.
const WALK_SHARE: u32 = 50;
/// Dead bytes below which half being dead is no reason yet.
const REAP_LEAST_BYTES: i64 = 64 * 1024;

impl<S: Store> Engine<S> {
    /// Passes of the reaper and documents it had compacted away, since the start.
    pub fn reap_statistics(&self) -> (u64, u64) {
        let reaper = &self.inner.reaper;
        (reaper.passes.load(Ordering::Relaxed), reaper.reaped_documents.load(Ordering::Relaxed))
    }

    /// About how much is dead and still there, over all collections, as the reaper last saw it.
    pub fn reap_backlog(&self) -> Unreaped {
        let all = self.inner.reaper.lock();
        all.values().map(|of| of.backlog).fold(Unreaped::default(), |sum, one| Unreaped {
            amount: sum.amount.plus(one.amount),
            oldest_expired_seconds: sum.oldest_expired_seconds.max(one.oldest_expired_seconds),
        })
    }

    /// One pass of the reaper; `elapsed` is the machine's monotonic clock. Answers when the next
    /// pass is due.
    pub async fn reap_once(&self, elapsed: Duration) -> Result<Duration, Error> {
        self.publish_all_expirations().await?;
        let reaper = Arc::clone(&self.inner.reaper);
        let all = self.inner.map().all_collections();
        let known: Vec<u32> = all.values().map(|collection| collection.id).collect();
        reaper.lock().retain(|id, _| known.contains(id));
        for collection in all.values() {
            let record = &collection.state().record;
            if record.settings.can_expire() || keeps_any(record) {
                match self.reap_collection(collection, elapsed).await {
                    Ok(()) => {}
                    Err(_) if collection.is_dropped() => {}
                    Err(error) => return Err(error),
                }
            }
        }
        reaper.passes.fetch_add(1, Ordering::Relaxed);
        Ok(elapsed.saturating_add(SAMPLE_EVERY.min(reaper.delay.max(Duration::from_millis(100)))))
    }

    async fn reap_collection(
        &self,
        collection: &Arc<Collection>,
        elapsed: Duration,
    ) -> Result<(), Error> {
        let walk = elapsed >= self.inner.reaper.lock().entry(collection.id).or_default().walk_after;
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
            while let Some((at, _)) = of.samples.front()
                && at.saturating_add(delay) <= elapsed
            {
                newest = of.samples.pop_front().map(|(_, sample)| sample);
            }
            newest
        };
        let Some(due) = due else { return Ok(()) };
        let events_before_s = due.events_before_s;
        let limited = if self.inner.rules().holds() {
            self.inner.active_views().limit_floors(collection.id, due.floors, due.dropped)
        } else {
            Some((due.floors, due.dropped))
        };
        let Some((floors, dropped)) = limited else { return Ok(()) };
        let allowed = Arc::new(ReapFloors { floors, dropped, events_before_s });
        self.put_in_force(collection, allowed, estimate).await?;
        if keeps_any(&collection.state().record) {
            self.forget_if_filtered(collection).await?;
        }
        Ok(())
    }

    /// Forgets what a compaction made superfluous, once the store can tell that it has judged all.
    async fn forget_if_filtered(&self, collection: &Arc<Collection>) -> Result<(), Error> {
        let compacted = {
            let all = self.inner.reaper.lock();
            all.get(&collection.id).and_then(|of| of.compacted.clone())
        };
        let Some((seq, allowed)) = compacted else { return Ok(()) };
        let store = self.inner.store();
        if store.judged(collection.rows_space()).min(store.judged(collection.entries_space())) < seq
        {
            return Ok(());
        }
        self.forget_retired(collection, &allowed).await?;
        if let Some(of) = self.inner.reaper.lock().get_mut(&collection.id) {
            of.compacted = None;
        }
        Ok(())
    }

    /// Puts reap floors in force and compacts when enough is dead by them.
    async fn put_in_force(
        &self,
        collection: &Arc<Collection>,
        allowed: Arc<ReapFloors>,
        estimate: Option<Estimate>,
    ) -> Result<(), Error> {
        let estimate = {
            let mut all = self.inner.reaper.lock();
            let of = all.entry(collection.id).or_default();
            let same = of.reaped_floors.as_ref().is_some_and(|held| **held == *allowed);
            of.allowed = Some(Arc::clone(&allowed));
            let Some(estimate) = estimate else { return Ok(()) };
            let dead = estimate.dead.minus(of.reaped);
            let owed = of.compacted.is_none() && would_forget(&collection.state().record, &allowed);
            let enough = REAP_LEAST_BYTES <= dead.bytes
                && (estimate.live.bytes <= dead.bytes || REAP_BYTES <= dead.bytes);
            if (!enough || same) && !owed {
                return Ok(());
            }
            estimate
        };
        self.compact_collection(collection, allowed, estimate.dead).await
    }

    async fn compact_collection(
        &self,
        collection: &Arc<Collection>,
        allowed: Arc<ReapFloors>,
        dead: Amount,
    ) -> Result<(), Error> {
        let seq = self.inner.store().published();
        self.inner.store().reap(collection.entries_space()).await?;
        self.inner.store().reap(collection.rows_space()).await?;
        let on_books = {
            let record = &collection.state().record;
            !matches!(CountBy::of_settings(record, &record.settings), CountBy::Several)
        };
        let trimmed = self.trim_counters(collection, &allowed.floors).await?;
        let mut all = self.inner.reaper.lock();
        let of = all.entry(collection.id).or_default();
        let documents = if on_books {
            of.reaped = Amount::default();
            trimmed.documents
        } else {
            let documents = dead.minus(of.reaped).documents;
            of.reaped = dead;
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

    /// The floors of a view of now, and how much is dead by them; without `walk` only where the
    /// books say so.
    async fn sample_floors(
        &self,
        collection: &Arc<Collection>,
        walk: bool,
    ) -> Result<(ReapFloors, Option<Estimate>), Error> {
        let until = self.inner.clock().reap_until();
        Ok(read_in_view!(self, collection, |view| view.read_sample(until, walk).await)?.0)
    }

    /// Dead bytes of a collection that are probably still there.
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
                self.compact_collection(collection, allowed, estimate.dead).await
            }
            None => Ok(()),
        }
    }
}

/// How much of a collection is dead and how much lives.
#[derive(Clone, Copy, Debug, Default)]
struct Estimate {
    dead: Amount,
    live: Amount,
    oldest_dead_s: i64,
}

impl Estimate {
    /// Of it, what is still there when so much has been reaped.
    fn minus_reaped(&self, reaped: Amount) -> Unreaped {
        let amount = self.dead.minus(reaped);
        Unreaped { amount, oldest_expired_seconds: self.oldest_dead_s }
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
        let mut floors = record.settings.floors_at(at).bounded_by_stamp(self.seq + 1);
        let mut events_before_s = i64::MIN;
        if let Some((feed, begun)) = record.running_feed() {
            // An expired item whose event is not published yet is that event's image.
            floors = floors.lower_of_both(&self.published_up_to(begun).await?);
            events_before_s = at.seconds().saturating_sub(feed.retention_s);
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
        let dead = match CountBy::of_settings(record, &record.settings) {
            CountBy::None => Amount::default(),
            CountBy::Classes | CountBy::Date(_) => self.expired_amount(floors).await?,
            CountBy::Several if !walk => return Ok(None),
            // Where deaths are not on the books, what does not live any more is dead.
            CountBy::Several => total.minus(self.count_live().await?),
        };
        let oldest_dead_s = self.oldest_expired_s().await?;
        Ok(Some(Estimate { dead, live: total.minus(dead), oldest_dead_s }))
    }
}
