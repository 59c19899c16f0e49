//! Samples of a collection for the reaper: the floors of a view (times up to which documents have
//! permanently expired), and an estimate of the amount that has expired by them.

use clock::Instant;
use expiry::{Floors, Header};
use store::KeyRange;

use super::{
    live_counts::CountBy,
    reap::{MIN_REAP_BYTES, REAP_BYTES},
};
use crate::{
    amount::{Amount, Unreaped},
    catalog::ReapFloors,
    error::Halt,
    view::{LiveView, Pages},
    yielding::yield_now,
};

/// Estimate of the expired and live amounts of a collection, from counters or a scan.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Estimate {
    pub(super) expired: Amount,
    pub(super) live: Amount,
    pub(super) oldest_expired_s: i64,
    /// Bytes of events beyond the retention of a feed, counted only as far as needed to decide
    /// whether the collection is compacted; 0 unless they were scanned.
    pub(super) event_bytes: i64,
}

impl Estimate {
    /// Returns the expired amount, which is still stored.
    pub(super) fn unreaped(&self) -> Unreaped {
        Unreaped { amount: self.expired, oldest_expired_seconds: self.oldest_expired_s }
    }
}

impl LiveView {
    /// Returns the floors of this view, limited by the clock, and an estimate of the amounts that
    /// have expired by these floors.
    pub(super) async fn read_sample(
        &self,
        until: Instant,
        walk: bool,
    ) -> Result<(ReapFloors, Option<Estimate>), Halt> {
        let record = &self.state.record;
        let at = self.stable_instant().min(until);
        // Dates are supplied by users: a later write may carry an old date, and floors taken before
        // that write must not drop its row.
        let mut floors = record.settings.floors_at(at).bounded_by_stamp(self.seq + 1);
        let mut events_before_s = i64::MIN;
        if let Some((feed, begun)) = record.running_feed() {
            // An expired item whose event is unpublished is needed as the event's previous image.
            floors = floors.lower_of_both(&self.published_up_to(begun).await?);
            events_before_s = feed.kept_from(at);
        }
        if let Some(begun) = record.told.as_ref().and_then(|told| told.begun.as_ref()) {
            floors = floors.lower_of_both(&self.told_up_to(begun).await?);
        }
        let mut estimate = self.estimate_expired(&floors, walk).await?;
        if let Some(estimate) = estimate.as_mut().filter(|_| walk && i64::MIN < events_before_s) {
            let most = estimate.live.bytes.clamp(MIN_REAP_BYTES, REAP_BYTES);
            estimate.event_bytes = self.event_bytes_before(events_before_s, most).await?;
        }
        let dropped = record.dropped.clone();
        Ok((ReapFloors { floors, dropped, events_before_s }, estimate))
    }

    /// Estimates how many documents and bytes have expired by these floors, the times up to which
    /// documents have expired. Returns `None` if that needs a scan and `walk` is not set.
    async fn estimate_expired(
        &self,
        floors: &Floors,
        walk: bool,
    ) -> Result<Option<Estimate>, Halt> {
        let record = &self.state.record;
        let (expired, live) = match CountBy::of_settings(record, &record.settings) {
            CountBy::None => (Amount::default(), self.total_amount().await?),
            CountBy::Classes | CountBy::Date(_) => {
                let (expired, total) =
                    (self.expired_amount(floors).await?, self.total_amount().await?);
                (expired, total.minus(expired))
            }
            CountBy::Several if !walk => return Ok(None),
            CountBy::Several => self.walk_stored(floors).await?,
        };
        // Status pages show this age as the lag of reaping.
        let oldest_expired_s = self.oldest_expired_s().await?;
        Ok(Some(Estimate { expired, live, oldest_expired_s, event_bytes: 0 }))
    }

    /// Returns the amounts of the stored rows that have expired by these floors, and of all others,
    /// from a scan of all rows.
    pub(super) async fn walk_stored(&self, floors: &Floors) -> Result<(Amount, Amount), Halt> {
        let (mut expired, mut live) = (Amount::default(), Amount::default());
        let mut pages = Pages::of(KeyRange::all());
        while let Some(page) = self.next_stored_rows(&mut pages).await? {
            for (_, value) in &page.rows {
                let (header, body) = Header::split(value)?;
                let sum = if floors.has_expired(&header) { &mut expired } else { &mut live };
                *sum = sum.plus(Amount::of_body(body));
            }
            if !pages.is_done() {
                yield_now().await;
            }
        }
        Ok((expired, live))
    }
}
