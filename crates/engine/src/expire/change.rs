//! Changes of a collection's TTL. Each is a commit in the one order; none touches a document.

use std::sync::Arc;

use clock::Instant;
use expiry::DefaultTtl;
use store::{Stamp, Store};

use crate::{
    catalog::{Collection, CounterState, Record, State},
    engine::{Engine, RecordApply, RecordEdit},
    error::Error,
};

impl<S: Store> Engine<S> {
    /// Changes the default TTL: in force for every operation that begins after this answers.
    pub async fn set_default_ttl(
        &self,
        collection: &Arc<Collection>,
        default: DefaultTtl,
    ) -> Result<(), Error> {
        let floors = self.inner.rules().floors();
        let edit: Box<RecordEdit<()>> = Box::new(move |state: &State| {
            if state.record.settings.default == default {
                return Ok(None);
            }
            let apply = move |record: &mut Record, stamp: Stamp| {
                apply_default(record, default, stamp, floors);
            };
            Ok(Some((Arc::new(apply) as Arc<RecordApply>, ())))
        });
        let (_, begun) = self.change_with_backfill(collection, &*edit).await?;
        self.build_counters(collection, begun).await
    }
}

/// Changes the default in a record; what is dead at the stamp stays dead.
pub(crate) fn apply_default(record: &mut Record, default: DefaultTtl, stamp: Stamp, floors: bool) {
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
