//! The second that a date cutoff divides. Buckets hold whole seconds, while documents expire by a
//! date exact to the millisecond, so the documents of that second are read one by one: in the order
//! of a date index, or of the rows if the date is that of a cluster key.

use std::collections::HashSet;

use clock::Instant;
use document::{
    ValueRef,
    key::{TypeOrder, encode},
};
use expiry::{DateRule, Settings};
use store::KeyRange;

use crate::{
    amount::Amount,
    catalog::{ID_INDEX, IndexSpec, Record},
    error::Halt,
    keys::{self, Buckets},
    view::{LiveView, Pages},
    yielding::yield_now,
};

/// Place of the keys that find documents by the dates of a rule.
#[derive(Clone, Copy, Debug)]
pub(super) enum DatedKeys<'r> {
    /// In the rows themselves, which are ordered by `_id`: the rule is that of a cluster key.
    Rows,
    /// In the entries of a date index.
    Entries(&'r IndexSpec),
}

impl<'r> DatedKeys<'r> {
    /// Returns the place of the keys for a rule; `None` if its index was dropped.
    pub(super) fn of_rule(record: &'r Record, rule: &DateRule) -> Option<Self> {
        if rule.index == ID_INDEX {
            return record.cluster_key.is_some().then_some(Self::Rows);
        }
        let index = record.indexes.iter().find(|index| index.id == rule.index);
        index.map(Self::Entries)
    }

    fn id(self) -> u32 {
        match self {
            Self::Rows => ID_INDEX,
            Self::Entries(index) => index.id,
        }
    }
}

/// Returns the last second that lies completely at or before `date_ms`.
///
/// Expiry by date is exact to the millisecond while buckets hold whole seconds, so rows of the
/// incomplete second are checked individually.
pub(crate) fn last_whole_second(date_ms: i64) -> i64 {
    date_ms.saturating_add(1).div_euclid(1000) - 1
}

impl LiveView {
    /// Returns the amount that has expired in the second that contains a date cutoff: the second's
    /// sum minus the rows that are still live.
    pub(super) async fn expired_in_edge_second(
        &self,
        dated: DatedKeys<'_>,
        cutoff_ms: i64,
        settings: &Settings,
        at: Instant,
    ) -> Result<Amount, Halt> {
        // The first second that is not complete at the cutoff.
        let second = last_whole_second(cutoff_ms).saturating_add(1);
        let start = second.saturating_mul(1000);
        // The cutoff is at the end of a second, so no second is incomplete.
        if cutoff_ms < start {
            return Ok(Amount::default());
        }
        let of = Buckets::Date(dated.id());
        // Usually no date is within this second, and no row is read.
        let sum = self.sum_buckets(of, 0, second, second.saturating_add(1)).await?;
        if sum == Amount::default() {
            return Ok(sum);
        }
        let until = start.saturating_add(1000);
        let live = match dated {
            DatedKeys::Rows => self.live_rows_dated(start, until, settings, at).await?,
            DatedKeys::Entries(index) => {
                self.live_entries_dated(index, start, until, settings, at).await?
            }
        };
        Ok(sum.minus(live))
    }

    /// Returns the amount that is live of the documents of a clustered collection with a date in
    /// `_id` from `start` to `until`, exclusive.
    async fn live_rows_dated(
        &self,
        start: i64,
        until: i64,
        settings: &Settings,
        at: Instant,
    ) -> Result<Amount, Halt> {
        let mut live = Amount::default();
        let key = |date_ms| keys::row(ValueRef::DateTime(date_ms));
        let mut pages = Pages::of(KeyRange { start: key(start), end: Some(key(until)) });
        while let Some(page) = self.next_rows(&mut pages).await? {
            for row in &page.items {
                let Some(header) = row.header() else { continue };
                if settings.is_live(&header, at) {
                    live = live.plus(Amount::of_body(row.body()));
                }
            }
            if !pages.is_done() {
                yield_now().await;
            }
        }
        Ok(live)
    }

    /// Returns the amount that is live of the documents whose earliest date in a date index lies
    /// between `start` and `until`, exclusive.
    async fn live_entries_dated(
        &self,
        index: &IndexSpec,
        start: i64,
        until: i64,
        settings: &Settings,
        at: Instant,
    ) -> Result<Amount, Halt> {
        let mut live = Amount::default();
        let mut seen = HashSet::new();
        let mut pages = Pages::of(date_entries(index, start, until));
        while let Some(page) = self.next_entries(index, &mut pages).await? {
            for entry in page.items {
                let row = self.row_of(&entry).await?;
                let Some(header) = row.header() else { continue };
                let date = header.dates.iter().find(|(id, _)| *id == index.id);
                let within = date.is_some_and(|(_, date)| (start..until).contains(&date));
                // An array of dates has several entries; the header has the earliest date, which
                // decides.
                if within && settings.is_live(&header, at) && seen.insert(row.key.clone()) {
                    live = live.plus(Amount::of_body(row.body()));
                }
            }
            if !pages.is_done() {
                yield_now().await;
            }
        }
        Ok(live)
    }
}

/// Returns the range of index entries with dates from `from_ms` to `to_ms`, exclusive.
fn date_entries(index: &IndexSpec, from_ms: i64, to_ms: i64) -> KeyRange {
    let descending = index.key.first().is_some_and(|(_, descending)| *descending);
    let key = |date_ms| {
        let mut key = keys::index_prefix(index.id);
        encode(ValueRef::DateTime(date_ms), TypeOrder::Bson, descending, &mut key);
        key
    };
    let (start, end) = if descending {
        (to_ms.saturating_sub(1), from_ms.saturating_sub(1))
    } else {
        (from_ms, to_ms)
    };
    KeyRange { start: key(start), end: Some(key(end)) }
}
