//! Changes of a collection's TTL. Each is a commit in the one order of commits, behind a fence that
//! no view opens through; none touches a document.
//!
//! ```text
//!  commit ── stamp ──┬── floors raised to what has expired at the stamp, by the old default
//!                    └── the new default in force for every later view
//! ```
//!
//! The floors are why nothing comes back when a default gets longer: what had expired by the
//! shorter one lies below them for good.

use std::sync::Arc;

use clock::Instant;
use expiry::DefaultTtl;
use store::{Stamp, Store};

use crate::{
    catalog::{Collection, CollectionState, CounterState, Record},
    engine::{Engine, RecordApply, RecordEdit},
    error::Error,
};

impl<S: Store> Engine<S> {
    /// Changes the default TTL: in force for every operation that begins after this returns.
    pub async fn set_default_ttl(
        &self,
        collection: &Arc<Collection>,
        default: DefaultTtl,
    ) -> Result<(), Error> {
        let floors = self.inner.rules().floors();
        let edit: Box<RecordEdit<()>> = Box::new(move |state: &CollectionState| {
            if state.record.settings.default == default {
                return Ok(None);
            }
            let apply = move |record: &mut Record, stamp: Stamp| {
                apply_default(record, default, stamp, floors);
            };
            Ok(Some((Arc::new(apply) as Arc<RecordApply>, ())))
        });
        // The new default is in force from here on; building the counters may take long.
        let (_, begun) = self.change_with_backfill(collection, &*edit).await?;
        self.build_counters(collection, begun).await
    }
}

/// Changes the default in a record; what has expired at the stamp stays expired.
pub(crate) fn apply_default(record: &mut Record, default: DefaultTtl, stamp: Stamp, floors: bool) {
    // Asked before the change: only a collection that did not count by class yet begins to.
    let summed = record.settings.by_class();
    if floors {
        record.settings.change_default(default, Instant::from_ms(stamp.at_ms));
    } else {
        record.settings.default = default;
    }
    if default != DefaultTtl::Off && !summed {
        record.counters = CounterState::Building(stamp.seq);
    }
}
