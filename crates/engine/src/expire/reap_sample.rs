//! Samples of a collection for the reaper: the floors of a view (times up to which documents have
//! permanently expired), and an estimate of the amount that has expired by them.

use clock::Instant;
use expiry::Floors;

use super::{
    live_counts::CountBy,
    reap::{MIN_REAP_BYTES, REAP_BYTES},
};
use crate::{
    amount::{Amount, Unreaped},
    catalog::ReapFloors,
    error::Halt,
    view::LiveView,
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
    /// Returns the expired amount that remains stored after `reaped` was removed.
    pub(super) fn minus_reaped(&self, reaped: Amount) -> Unreaped {
        let amount = self.expired.minus(reaped);
        Unreaped { amount, oldest_expired_seconds: self.oldest_expired_s }
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
        let total = self.total_amount().await?;
        let expired = match CountBy::of_settings(record, &record.settings) {
            CountBy::None => Amount::default(),
            CountBy::Classes | CountBy::Date(_) => self.expired_amount(floors).await?,
            CountBy::Several if !walk => return Ok(None),
            // Without usable counters, the expired amount is the counted amount minus the live one.
            CountBy::Several => total.minus(self.count_live().await?),
        };
        // Status pages show this age as the lag of reaping.
        let oldest_expired_s = self.oldest_expired_s().await?;
        Ok(Some(Estimate { expired, live: total.minus(expired), oldest_expired_s, event_bytes: 0 }))
    }
}
