//! Changes of a collection's TTL. Each is a commit in the one total order; a fence keeps views of
//! the collection from opening between its stamp and its publication. No document is modified.
//! Floors are the times up to which documents have permanently expired:
//!
//! ```text
//!  commit -- stamp -+- floors are raised to the expirations at the stamp by the old default
//!                    +- the new default applies to every later view
//! ```
//!
//! Because of the floors no document reappears when the default is extended: a document that had
//! expired by the shorter default remains below them.

use std::sync::Arc;

use clock::Instant;
use expiry::DefaultTtl;
use store::Stamp;

use crate::{
    catalog::{Collection, CollectionState, CounterState, Record},
    engine::{Engine, RecordApply, RecordEdit},
    error::Error,
};

impl Engine {
    /// Changes the default TTL; it applies to every operation that starts after this returns.
    pub async fn set_default_ttl(
        &self,
        collection: &Arc<Collection>,
        default: DefaultTtl,
    ) -> Result<(), Error> {
        if default != DefaultTtl::Off {
            self.prepare_telling(collection).await?;
        }
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
        // The new default is already in effect; building the counters may take long.
        let (_, begun) = self.change_with_backfill(collection, &*edit).await?;
        self.build_counters(collection, begun).await
    }
}

/// Sets the default TTL in a record; documents that have expired at the stamp stay expired.
pub(crate) fn apply_default(record: &mut Record, default: DefaultTtl, stamp: Stamp, floors: bool) {
    // Evaluated before the change: only a collection without counters by expiry class starts them.
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
