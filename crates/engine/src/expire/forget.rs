//! Forgets dropped indexes, and what they made expire, once nothing from before is on disk any
//! more.
//!
//! A dropped date index keeps what it made expire out of sight, and the id of any dropped index
//! tells compaction that its entries may go. Neither is needed when a compaction under floors that
//! know them has filtered all that was there, and no journal from before is left that could bring a
//! row back (`Store::filtered_through`).
//!
//! ```text
//!  drop ──▶ reap floors know it ──▶ compaction ──▶ old journals are gone ──▶ forgotten
//! ```

use std::sync::Arc;

use expiry::{DateRule, Floors};
use store::{Stamp, Store};

use crate::{
    catalog::{Collection, CollectionState, CounterState, ReapFloors, Record},
    engine::{Engine, RecordApply, RecordEdit},
    error::Error,
};

/// Whether a record keeps anything that could be forgotten.
pub(super) fn keeps_any(record: &Record) -> bool {
    !record.dropped.is_empty() || record.settings.dates.iter().any(|rule| is_retired(record, rule))
}

/// Whether a rule is that of an index that was dropped.
fn is_retired(record: &Record, rule: &DateRule) -> bool {
    rule.after_s.is_none() && record.indexes.iter().all(|index| index.id != rule.index)
}

/// Whether these floors dropped all that a retired rule made expire.
///
/// A pair binds rows older than its stamp up to its floor: a floor of now, or a pair at least as
/// late and as high, drops all of these.
fn covers_rule(floors: &Floors, rule: &DateRule) -> bool {
    let floor = floors.dates.iter().find(|floor| floor.index == rule.index);
    rule.pairs.iter().all(|pair| {
        floor.is_some_and(|floor| {
            let covers = |held: &expiry::FloorPair| {
                pair.stamp <= held.stamp && pair.floor_ms <= held.floor_ms
            };
            pair.floor_ms <= floor.floor_ms || floor.pairs.iter().any(covers)
        })
    })
}

/// What of a record may be forgotten after a compaction under `allowed`.
fn what_to_forget(record: &Record, allowed: &ReapFloors) -> (Vec<u32>, Vec<u32>) {
    let rules = record.settings.dates.iter();
    let rules = rules.filter(|rule| is_retired(record, rule) && covers_rule(&allowed.floors, rule));
    let dropped = record.dropped.iter().filter(|id| allowed.dropped.contains(id));
    (rules.map(|rule| rule.index).collect(), dropped.copied().collect())
}

/// Whether there would be something to forget after a compaction under `allowed`.
pub(super) fn would_forget(record: &Record, allowed: &ReapFloors) -> bool {
    let (rules, dropped) = what_to_forget(record, allowed);
    !rules.is_empty() || !dropped.is_empty()
}

impl<S: Store> Engine<S> {
    /// Forgets what a compaction under `allowed` has made superfluous. What a forgotten rule
    /// made expire is in the totals and perhaps in buckets, so the counters are built again.
    pub(super) async fn forget_retired(
        &self,
        collection: &Arc<Collection>,
        allowed: &Arc<ReapFloors>,
    ) -> Result<(), Error> {
        let allowed = Arc::clone(allowed);
        let edit: Box<RecordEdit<()>> = Box::new(move |state: &CollectionState| {
            let (rules, dropped) = what_to_forget(&state.record, &allowed);
            // One build at a time; the next compaction asks again.
            let building = matches!(state.record.counters, CounterState::Building(_));
            if building || (rules.is_empty() && dropped.is_empty()) {
                return Ok(None);
            }
            let apply = move |record: &mut Record, stamp: Stamp| {
                let gone = |rule: &DateRule| rules.contains(&rule.index);
                let killed =
                    record.settings.dates.iter().any(|rule| gone(rule) && !rule.pairs.is_empty());
                record.settings.dates.retain(|rule| !gone(rule));
                record.dropped.retain(|id| !dropped.contains(id));
                // A rule with pairs has made something expire.
                if killed {
                    record.counters = CounterState::Building(stamp.seq);
                }
            };
            Ok(Some((Arc::new(apply) as Arc<RecordApply>, ())))
        });
        let (_, begun) = self.change_with_backfill(collection, &*edit).await?;
        self.build_counters(collection, begun).await
    }
}
