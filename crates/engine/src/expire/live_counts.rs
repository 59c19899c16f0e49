//! Counts live documents without a scan (docs/ttl.md, section 5.4): `live = totals - buckets up to
//! the floor`. The floor is the second up to which documents have expired.
//!
//! Expiry writes nothing, so no counter can be decremented at that moment. Instead each write
//! counts its document twice: in the totals of all documents that expire by the same rule, and in a
//! bucket for the second that decides its expiry (`counters.rs`). The expired amount is then a sum over buckets:
//!
//! ```text
//!  second of the write or deadline:   … 97  98  99 │ 100 101 102 …
//!  documents in its bucket:              4   0   2 │   7   1   3
//!                                   expired: ≤ floor│ live
//! ```
//!
//! Buckets exist on four levels (1, 64, 4,096 and 262,144 seconds), so that a sum up to any second
//! reads few keys:
//!
//! ```text
//!  up to 300,001:   level 3 [0, 262144)  level 2 [262144, 299008)  level 1 …  level 0 …
//! ```
//!
//! The formula does not apply where documents can expire by more than one rule, since a document
//! would be in two sums of buckets. There, and while counters are being built, headers are scanned
//! instead. Both methods give identical results, which the check of a collection verifies.

use std::sync::Arc;

use clock::Instant;
use expiry::{DateRule, Floors, Settings};
use store::{KeyRange, decode_count};

use super::date_edge::{DatedKeys, last_whole_second};
use crate::{
    amount::Amount,
    catalog::{Collection, CounterState, Record},
    counters::LEVELS,
    engine::Engine,
    error::{Error, Halt},
    keys::{self, Buckets},
    limits::INSTANTS_AT_ONCE,
    retry::read_in_view,
    view::{LiveView, Pages},
    yielding::yield_now,
};

/// Class codes in counter keys: inherit, never, explicit.
const CLASSES: [u8; 3] = [0, 1, 2];

/// The method of counting live documents under given settings.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CountBy<'s> {
    /// No document expires, so that all documents are live.
    None,
    /// Documents expire by expiry class (default or own TTL): live documents are the totals minus
    /// the documents in expired buckets.
    Classes,
    /// Documents expire by one date index: live documents are the totals minus the buckets of
    /// expired dates and minus the documents that have expired within the last, incomplete second.
    Date(&'s DateRule),
    /// Several rules apply, or counters cannot be used, so that the headers of all rows are read.
    Several,
}

impl<'s> CountBy<'s> {
    /// Selects the counting method by the settings and the state of the record's counters.
    pub(crate) fn of_settings(record: &Record, settings: &'s Settings) -> Self {
        let mut dates = settings.by_date();
        match (settings.by_class(), dates.next(), dates.next()) {
            // Counters that are being built do not contain all documents yet.
            _ if matches!(record.counters, CounterState::Building(_)) => Self::Several,
            (false, None, _) => Self::None,
            (true, None, _) if record.counts_by_class() => Self::Classes,
            (false, Some(rule), None) => Self::Date(rule),
            _ => Self::Several,
        }
    }
}

impl Engine {
    /// Returns the exact amount of live documents at the instant of a new view.
    pub async fn live_amount(&self, collection: &Arc<Collection>) -> Result<Amount, Error> {
        Ok(read_in_view!(self, collection, |view| view.count_live().await)?.0)
    }
}

impl LiveView {
    /// Returns the exact amount of live documents at the view's instant.
    pub(crate) async fn count_live(&self) -> Result<Amount, Halt> {
        let live = self.live_at_each(&self.state.record.settings, &[self.instant]).await?;
        self.check_sums().await?;
        Ok(live.first().copied().unwrap_or_default())
    }

    /// Halts with [`Halt::LookAgain`] if a commit in flight may have extended documents that the
    /// counters show as expired. Unlike reading a row, reading a sum does not detect this.
    pub(crate) async fn check_sums(&self) -> Result<(), Halt> {
        let settings = &self.state.record.settings;
        if let CountBy::Classes | CountBy::Date(_) =
            CountBy::of_settings(&self.state.record, settings)
        {
            let now = self.expired_amount(&settings.floors_at(self.instant)).await?;
            if self.expired_amount(&settings.floors_at(self.stable_instant())).await? != now {
                return Err(Halt::LookAgain);
            }
        }
        Ok(())
    }

    /// Returns the number and size of the documents that would be live under these settings at each
    /// instant. The instants ascend, and none precedes the view's. If row headers must be scanned,
    /// one scan serves all instants.
    pub(crate) async fn live_at_each(
        &self,
        settings: &Settings,
        instants: &[Instant],
    ) -> Result<Vec<Amount>, Halt> {
        let mut live = Vec::with_capacity(instants.len());
        for at in instants {
            // Yields in between, since a series over a year needs hundreds of sums.
            if live.len() % INSTANTS_AT_ONCE == INSTANTS_AT_ONCE - 1 {
                yield_now().await;
            }
            match self.counted_live_at(settings, *at).await? {
                Some(amount) => live.push(amount),
                // One scan serves all instants, so the sums so far are discarded.
                None => return self.walked_live_at_each(settings, instants).await,
            }
        }
        Ok(live)
    }

    /// Returns the amount that would be live at an instant, from the counters; `None` if the
    /// counters do not apply to these settings.
    async fn counted_live_at(
        &self,
        settings: &Settings,
        at: Instant,
    ) -> Result<Option<Amount>, Halt> {
        let record = &self.state.record;
        let floors = settings.floors_at(at);
        match CountBy::of_settings(record, settings) {
            CountBy::None => return self.total_amount().await.map(Some),
            CountBy::Classes => {
                return Ok(Some(
                    self.total_amount().await?.minus(self.expired_amount(&floors).await?),
                ));
            }
            CountBy::Date(rule) => {
                let cutoff = floors.dates.iter().find(|floor| floor.index == rule.index);
                let dated = DatedKeys::of_rule(record, rule);
                if let (Some(cutoff), Some(dated), Some(_)) = (cutoff, dated, rule.after_s)
                    // Pairs are floors of earlier rules, which apply to older rows only. If a
                    // pair's floor exceeds the current cutoff, buckets mix expired and live
                    // documents of the same second.
                    && cutoff.pairs.iter().all(|pair| pair.floor_ms <= cutoff.floor_ms)
                {
                    let up_to = self
                        .sum_up_to(Buckets::Date(rule.index), last_whole_second(cutoff.floor_ms))
                        .await?;
                    let edge =
                        self.expired_in_edge_second(dated, cutoff.floor_ms, settings, at).await?;
                    return Ok(Some(self.total_amount().await?.minus(up_to).minus(edge)));
                }
            }
            CountBy::Several => {}
        }
        Ok(None)
    }

    /// Returns the amount that would be live at each instant, from a scan of all row headers: a
    /// document is live at all instants before its expiry.
    async fn walked_live_at_each(
        &self,
        settings: &Settings,
        instants: &[Instant],
    ) -> Result<Vec<Amount>, Halt> {
        let mut live = vec![Amount::default(); instants.len()];
        let mut pages = Pages::of(KeyRange::all());
        while let Some(page) = self.next_rows(&mut pages).await? {
            for row in &page.items {
                let Some(header) = row.header() else { continue };
                let expires_at = settings.expires_at(&header);
                // A row is counted at the last instant at which it is live; the loop below
                // accumulates from the end.
                let last = instants.partition_point(|at| *at < expires_at).checked_sub(1);
                if let Some(amount) = last.and_then(|last| live.get_mut(last)) {
                    *amount = amount.plus(Amount::of_body(row.body()));
                }
            }
            if !pages.is_done() {
                yield_now().await;
            }
        }
        let mut sum = Amount::default();
        // Converts "live until this instant" to "live at this instant" by adding all later ones.
        for amount in live.iter_mut().rev() {
            sum = sum.plus(*amount);
            *amount = sum;
        }
        Ok(live)
    }

    /// Returns the total amount of all documents in the counters, including expired ones.
    pub(crate) async fn total_amount(&self) -> Result<Amount, Halt> {
        let mut amount = Amount::default();
        for class in CLASSES {
            let key = keys::class_total(self.collection.id, class);
            amount = amount.plus(Amount::from_sums(self.counters().amounts_under(&key).await?));
        }
        Ok(amount)
    }

    /// Returns the amount in all buckets that have expired by these floors, by expiry class or by
    /// the dates of an index. A bucket counts only when its whole second has expired.
    pub(crate) async fn expired_amount(&self, floors: &Floors) -> Result<Amount, Halt> {
        let mut amount = Amount::default();
        for (of, second) in expired_buckets(floors) {
            amount = amount.plus(self.sum_up_to(of, second).await?);
        }
        Ok(amount)
    }

    /// Returns the sum up to and including a second, from few coarse and few fine buckets.
    ///
    /// Each level continues where the next coarser one ended:
    ///
    /// ```text
    /// level 3 |────────────|────────────|
    /// level 2                           |──|──|
    /// level 1                                 |-|-|
    /// level 0                                     |··  up to and including `second`
    /// ```
    async fn sum_up_to(&self, of: Buckets, second: i64) -> Result<Amount, Halt> {
        let mut amount = Amount::default();
        let behind = second.saturating_add(1);
        let mut from = i64::MIN;
        for (level, width) in [0_u8, 1, 2, 3].into_iter().zip(LEVELS).rev() {
            let to = behind.div_euclid(width);
            let first = if from == i64::MIN { i64::MIN } else { from.div_euclid(width) };
            amount = amount.plus(self.sum_buckets(of, level, first, to).await?);
            from = to.saturating_mul(width);
        }
        Ok(amount)
    }

    /// Returns the sum over buckets of one level; `to` is excluded.
    pub(super) async fn sum_buckets(
        &self,
        of: Buckets,
        level: u8,
        from: i64,
        to: i64,
    ) -> Result<Amount, Halt> {
        let mut amount = Amount::default();
        let mut pages = Pages::of(self.bucket_range(of, level, from, to));
        while let Some(page) = self.counters().next_page(&mut pages).await? {
            for (_, value) in &page.rows {
                amount = amount.plus(Amount::from_sums(decode_count(value)));
            }
        }
        Ok(amount)
    }

    /// Returns the key range of the counters of a level from one bucket to another, exclusive.
    pub(crate) fn bucket_range(&self, of: Buckets, level: u8, from: i64, to: i64) -> KeyRange {
        let build = self.state.record.counters.build_number();
        let key = |bucket| keys::bucket_key(self.collection.id, build, of, level, bucket).to_vec();
        KeyRange { start: key(from), end: Some(key(to)) }
    }
}

/// Returns the kinds of buckets to which these floors apply, each with the second up to which its
/// documents have expired.
pub(crate) fn expired_buckets(floors: &Floors) -> impl Iterator<Item = (Buckets, i64)> + '_ {
    let classes = [(Buckets::Class(0), floors.inherit_s), (Buckets::Class(2), floors.explicit_s)];
    let dates = floors.dates.iter().map(|floor| {
        let pairs = floor.pairs.iter().map(|pair| pair.floor_ms);
        // The highest of all floors applies, since rows from before a change have expired up to the
        // floor of that change.
        let date_ms = pairs.fold(floor.floor_ms, i64::max);
        (
            Buckets::Date(floor.index),
            if date_ms == i64::MIN { i64::MIN } else { last_whole_second(date_ms) },
        )
    });
    classes.into_iter().chain(dates).filter(|(_, second)| *second != i64::MIN)
}
