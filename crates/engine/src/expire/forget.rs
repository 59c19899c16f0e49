//! Removes dropped indexes and their expiry rules from the record once nothing on disk depends on
//! them.
//!
//! The rule of a dropped date index hides the documents that it expired, and the id of any dropped
//! index lets compaction drop the index's entries. Neither is needed once a compaction under reap
//! floors (bounds of the data that may be dropped) that include them has filtered all older data,
//! and no older journal remains that could restore a row (`Store::filtered_through`).
//!
//! ```text
//!  drop ──▶ in the reap floors ──▶ compaction ──▶ old journals deleted ──▶ forgotten
//! ```

use std::sync::Arc;

use expiry::{DateRule, Floors};
use store::Stamp;

use crate::{
    catalog::{Collection, CollectionState, CounterState, ReapFloors, Record},
    engine::{Engine, RecordApply, RecordEdit},
    error::Error,
};

/// Returns whether the record describes dropped indexes or former settings that may become
/// removable.
pub(super) fn keeps_any(record: &Record) -> bool {
    !record.dropped.is_empty() || record.settings.dates.iter().any(|rule| is_retired(record, rule))
}

/// Returns whether a rule belongs to a dropped index. A cluster key is never dropped.
fn is_retired(record: &Record, rule: &DateRule) -> bool {
    rule.after_s.is_none() && record.index_name(rule.index).is_none()
}

/// Returns whether compactions under these reap floors drop all rows that a retired rule has
/// expired.
///
/// A pair of a stamp and a floor covers rows older than the stamp with dates up to the floor. They
/// are all dropped by an equal or higher floor for rows of any stamp, or by a pair whose stamp and
/// floor are both equal or higher.
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

/// Returns the rules and index ids that may be removed after a compaction under the reap floors
/// `allowed`.
fn what_to_forget(record: &Record, allowed: &ReapFloors) -> (Vec<u32>, Vec<u32>) {
    let rules = record.settings.dates.iter();
    let rules = rules.filter(|rule| is_retired(record, rule) && covers_rule(&allowed.floors, rule));
    let dropped = record.dropped.iter().filter(|id| allowed.dropped.contains(id));
    (rules.map(|rule| rule.index).collect(), dropped.copied().collect())
}

/// Returns whether a compaction under the reap floors `allowed` would make a part of the record
/// removable.
pub(super) fn would_forget(record: &Record, allowed: &ReapFloors) -> bool {
    let (rules, dropped) = what_to_forget(record, allowed);
    !rules.is_empty() || !dropped.is_empty()
}

impl Engine {
    /// Removes the rules and index ids that a compaction under the reap floors `allowed` has made
    /// unnecessary. Documents expired by a removed rule are still counted in the totals and perhaps
    /// in buckets, so the counters are rebuilt.
    pub(super) async fn forget_retired(
        &self,
        collection: &Arc<Collection>,
        allowed: &Arc<ReapFloors>,
    ) -> Result<(), Error> {
        let allowed = Arc::clone(allowed);
        let edit: Box<RecordEdit<()>> = Box::new(move |state: &CollectionState| {
            let (rules, dropped) = what_to_forget(&state.record, &allowed);
            // Only one build at a time; the next compaction retries.
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
                // Counters must start again, since a rule with floor pairs has expired documents
                // that they still contain.
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
