//! Forgets dropped indexes and what they killed, once nothing from before is on disk any more.
//!
//! A dropped date index keeps what it killed dead, and the id of any dropped index tells
//! compaction that its entries may go. Neither is needed when a compaction under floors that know
//! them has judged all that was there, and no journal from before is left (`Store::judged`).

use std::sync::Arc;

use expiry::{DateRule, Floors};
use store::{Stamp, Store};

use crate::{
    catalog::{Books, Collection, Record, State},
    engine::{Apply, Edit, Engine},
    error::Error,
    reaper::Allowed,
};

/// Whether a record keeps anything that could be forgotten.
pub(super) fn keeps_any(record: &Record) -> bool {
    !record.dropped.is_empty() || record.settings.dates.iter().any(|rule| is_retired(record, rule))
}

/// Whether a rule is that of an index that was dropped.
fn is_retired(record: &Record, rule: &DateRule) -> bool {
    rule.after_s.is_none() && record.indexes.iter().all(|index| index.id != rule.index)
}

/// Whether these floors dropped all that a retired rule killed.
fn knows(floors: &Floors, rule: &DateRule) -> bool {
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
fn forgettable(record: &Record, allowed: &Allowed) -> (Vec<u32>, Vec<u32>) {
    let rules = record.settings.dates.iter();
    let rules = rules.filter(|rule| is_retired(record, rule) && knows(&allowed.floors, rule));
    let dropped = record.dropped.iter().filter(|id| allowed.dropped.contains(id));
    (rules.map(|rule| rule.index).collect(), dropped.copied().collect())
}

/// Whether there would be something to forget after a compaction under `allowed`.
pub(super) fn would_forget(record: &Record, allowed: &Allowed) -> bool {
    let (rules, dropped) = forgettable(record, allowed);
    !rules.is_empty() || !dropped.is_empty()
}

impl<S: Store> Engine<S> {
    /// Forgets what a compaction under `allowed` has made superfluous. Those that a forgotten rule
    /// killed are in the totals and perhaps in sums, so the books are built anew.
    pub(super) async fn forget(
        &self,
        collection: &Arc<Collection>,
        allowed: &Arc<Allowed>,
    ) -> Result<(), Error> {
        let allowed = Arc::clone(allowed);
        let edit: Box<Edit<()>> = Box::new(move |state: &State| {
            let (rules, dropped) = forgettable(&state.record, &allowed);
            let building = matches!(state.record.books, Books::Building(_));
            if building || (rules.is_empty() && dropped.is_empty()) {
                return Ok(None);
            }
            let apply = move |record: &mut Record, stamp: Stamp| {
                let gone = |rule: &DateRule| rules.contains(&rule.index);
                let killed =
                    record.settings.dates.iter().any(|rule| gone(rule) && !rule.pairs.is_empty());
                record.settings.dates.retain(|rule| !gone(rule));
                record.dropped.retain(|id| !dropped.contains(id));
                if killed {
                    record.books = Books::Building(stamp.seq);
                }
            };
            Ok(Some((Arc::new(apply) as Arc<Apply>, ())))
        });
        let (_, begun) = self.change_books(collection, &*edit).await?;
        self.build_books(collection, begun).await
    }
}
