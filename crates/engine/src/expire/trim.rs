//! Removes amounts from the counters: expired documents that were compacted away, abandoned counter
//! builds, and all counters of dropped collections.
//!
//! Sums change by additions only: a bucket is cleared by adding its negative, in the same commit as
//! the totals, so that `totals - buckets` is the same before and after.
//!
//! ```text
//!              totals   bucket 97   bucket 98   live
//!  before        1000          40          10    950
//!  after          950           0           0    950
//! ```

use std::collections::BTreeMap;

use expiry::{DefaultTtl, Floors, Settings};
use store::{Commit, Condition, KeyRange, Mutation, Page, Space, decode_count};

use super::{
    date_edge::last_whole_second,
    live_counts::{CountBy, expired_buckets},
};
use crate::{
    amount::Amount,
    catalog::{Collection, CounterState, Record},
    counters::count_second,
    engine::Engine,
    error::{Error, Halt},
    keys::{self, Buckets},
    view::{LiveView, Pages},
};

impl Engine {
    /// Subtracts, from buckets and totals in one commit, the documents that had expired by these
    /// floors and were dropped by a compaction, so that the difference of buckets and totals does
    /// not change. Returns the amount subtracted from the totals. Where several rules apply, the
    /// totals are left unchanged: they are not used before the counters are rebuilt.
    ///
    /// # Errors
    ///
    /// Errors of the store. A refused commit is not an error: the next compaction trims again.
    pub(crate) async fn trim_counters(
        &self,
        collection: &std::sync::Arc<Collection>,
        floors: &Floors,
    ) -> Result<Amount, Error> {
        let mut folded = Amount::default();
        while let Some(amount) = self.trim_page(collection, floors).await? {
            folded = folded.plus(amount);
        }
        Ok(folded)
    }

    /// Removes one page of expired buckets from the counters, in a view of its own. Returns `None`
    /// if nothing is left, or if a concurrent trim or change of settings interfered; the next
    /// compaction then retries.
    async fn trim_page(
        &self,
        collection: &std::sync::Arc<Collection>,
        floors: &Floors,
    ) -> Result<Option<Amount>, Error> {
        let view = self.view(collection).await?;
        let record = &view.state.record;
        if matches!(record.counters, CounterState::Building(_)) {
            return Ok(None);
        }
        // The reap floors may be a minute old, and a rule may have changed since.
        let now = record.settings.floors_at(view.stable_instant());
        for (of, second) in expired_buckets(floors) {
            // Only level 0 is read: each second is subtracted from all levels at once.
            let Some(class) =
                class_to_trim(CountBy::of_settings(record, &record.settings), of, second, &now)
            else {
                continue;
            };
            let range = view.bucket_range(of, 0, i64::MIN, second.saturating_add(1));
            let page = view.counters().next_page(&mut Pages::of(range)).await?.unwrap_or_default();
            if page.rows.is_empty() {
                continue;
            }
            let (mut mutations, amount) = trim_mutations(record, of, class, &page);
            let space = Space::Counts;
            let (key, value) = (keys::trim_marker(collection.id), bytes::Bytes::new());
            mutations.push(Mutation::Put { space, key: key.clone().into(), value });
            // The buckets were read in a view. Concurrent writers only add to them, but another
            // trim would subtract the same amounts again, and a change of settings may need them.
            let unchanged = |space, key| Condition::NotNewer { space, key, seq: view.seq };
            let catalog = keys::record(record.model, &record.namespace);
            let conditions = vec![unchanged(Space::Catalog, catalog), unchanged(space, key.into())];
            let committed =
                self.commit_one(Commit::new(conditions, |_| mutations).freeing()).await?;
            return Ok(committed.map(|_| amount));
        }
        Ok(None)
    }

    /// Deletes the counters of builds that were abandoned.
    pub(crate) async fn purge_builds(&self, collection: &Collection) -> Result<(), Error> {
        let build = collection.state().record.counters.build_number();
        let range = KeyRange {
            start: keys::bucket_prefix(collection.id, 0),
            end: Some(keys::bucket_prefix(collection.id, build)),
        };
        self.purge_range(range).await
    }

    /// Deletes all counters of a dropped collection.
    pub(crate) async fn purge_counts(&self, collection: u32) -> Result<(), Error> {
        self.purge_range(KeyRange::with_prefix(&keys::counter_prefix(collection))).await
    }

    /// Deletes counters whose collection or build does not exist any more, as after a crash.
    pub(crate) async fn purge_leftovers(&self) -> Result<(), Error> {
        let all = self.inner.map().all_collections();
        let known: BTreeMap<u32, _> = all.values().map(|held| (held.id, held)).collect();
        let mut next = Some(0_u32);
        while let Some(from) = next {
            let system = self.inner.store().system();
            // A single key identifies the next collection; the rest of its keys are skipped.
            let mut first = Pages::of(KeyRange { start: keys::counter_prefix(from), end: None })
                .with_max_rows(1);
            let page = system.counters().next_page(&mut first).await?.unwrap_or_default();
            let Some(id) = page.rows.first().and_then(|(key, _)| keys::collection_of_counter(key))
            else {
                break;
            };
            match known.get(&id) {
                Some(collection) => self.purge_builds(collection).await?,
                None => self.purge_counts(id).await?,
            }
            next = id.checked_add(1);
        }
        Ok(())
    }

    /// Sets all counters of a range to zero, which deletes them.
    async fn purge_range(&self, range: KeyRange) -> Result<(), Error> {
        let system = self.inner.store().system();
        let mut pages = Pages::of(range);
        while let Some(page) = system.counters().next_page(&mut pages).await? {
            let gone = page.rows.iter().map(|(key, value)| {
                let [documents, bytes] = decode_count(value);
                let by = [documents.saturating_neg(), bytes.saturating_neg()];
                Mutation::Add { space: Space::Counts, key: key.clone(), by }
            });
            let gone: Vec<Mutation> = gone.collect();
            if !gone.is_empty() {
                self.commit_one(Commit::new(Vec::new(), |_| gone).freeing()).await?;
            }
        }
        Ok(())
    }
}

/// Returns how the buckets up to a second are trimmed: `None` if they are left, otherwise the
/// expiry class from whose totals their amount is subtracted, or `Some(None)` if only the buckets
/// are cleared.
fn class_to_trim(way: CountBy<'_>, of: Buckets, second: i64, now: &Floors) -> Option<Option<u8>> {
    match (way, of) {
        // The amount is subtracted from the totals of the class as well as from its buckets.
        (CountBy::Classes, Buckets::Class(class)) => Some(Some(class)),
        (CountBy::Date(rule), Buckets::Date(index)) if rule.index == index => {
            // An extended rule may have made older dates live again; their buckets are not trimmed.
            let floor = now.dates.iter().find(|floor| floor.index == index)?;
            let has_expired = rule.after_s.is_none() || second <= last_whole_second(floor.floor_ms);
            has_expired.then_some(Some(0))
        }
        // With several rules, buckets are not subtracted from totals, so only the buckets are
        // cleared.
        (CountBy::Several, _) => Some(None),
        (CountBy::None | CountBy::Classes | CountBy::Date(_), _) => None,
    }
}

/// Returns the mutations that clear a page of buckets on all levels and subtract their amounts from
/// the totals of a class, if one is given. Also returns the sum of the subtracted amounts.
fn trim_mutations(
    record: &Record,
    of: Buckets,
    class: Option<u8>,
    page: &Page,
) -> (Vec<Mutation>, Amount) {
    let mut out = Vec::new();
    let mut amount = Amount::default();
    for (key, value) in &page.rows {
        let Some(second) = keys::bucket_in_key(key) else { continue };
        let [documents, bytes] = decode_count(value);
        let by = [documents.saturating_neg(), bytes.saturating_neg()];
        count_second(record, of, second, by, &mut out);
        if let Some(class) = class {
            amount = amount.plus(Amount::from_sums([documents, bytes]));
            out.push(Mutation::Add {
                space: Space::Counts,
                key: keys::class_total(record.id, class),
                by,
            });
        }
    }
    (out, amount)
}

impl LiveView {
    /// Returns approximately for how many seconds the oldest expired document in the counters has
    /// been expired. Reaping removes documents from the counters.
    pub(crate) async fn oldest_expired_s(&self) -> Result<i64, Halt> {
        let settings = &self.state.record.settings;
        let mut oldest = 0;
        for (of, second) in expired_buckets(&settings.floors_at(self.instant)) {
            let range = self.bucket_range(of, 0, i64::MIN, second.saturating_add(1));
            let mut first = Pages::of(range).growing_slowly();
            let page = self.counters().next_page(&mut first).await?.unwrap_or_default();
            // A sum may be zero or negative temporarily while a build and a writer overlap.
            let some = page.rows.iter().find(|(_, value)| 0 < decode_count(value)[0]);
            if let Some(first) = some.and_then(|(key, _)| keys::bucket_in_key(key)) {
                oldest = oldest.max(expired_for_s(settings, of, first, self.instant.seconds()));
            }
        }
        Ok(oldest)
    }
}

/// Returns for how many seconds the documents in this second's bucket have been expired: by the
/// current rule until now, or by a former rule until the rule was changed, whichever is longer.
fn expired_for_s(settings: &Settings, of: Buckets, second: i64, now_s: i64) -> i64 {
    let since = |after_s: i64| now_s.saturating_sub(second.saturating_add(after_s));
    match of {
        Buckets::Class(0) => {
            let floored = settings.inherit_floor.saturating_sub(second);
            match settings.default {
                DefaultTtl::Seconds(n) => since(n).max(floored),
                DefaultTtl::Off | DefaultTtl::Infinite => floored,
            }
        }
        Buckets::Class(_) => since(0),
        Buckets::Date(index) => {
            let rule = settings.dates.iter().find(|rule| rule.index == index);
            let floors = rule.iter().flat_map(|rule| &rule.pairs);
            let floored = floors.map(|pair| (pair.floor_ms / 1000).saturating_sub(second));
            let by_rule = rule.and_then(|rule| rule.after_s).map(since);
            floored.chain(by_rule).max().unwrap_or(0)
        }
    }
}
