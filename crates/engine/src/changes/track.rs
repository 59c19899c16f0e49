//! Prepares collections for telling their expirations: builds the index of upcoming expirations
//! before documents can expire, or when the change log starts.

use std::sync::Arc;

use store::Stamp;

use crate::{
    catalog::{Collection, CollectionState, IndexShape, IndexSpec, Record, ToldExpirations},
    change_log::ChangeLog,
    engine::{Engine, RecordApply, RecordEdit},
    error::Error,
    names::Model,
};

/// Name of the index of upcoming expirations, which no client sees.
const TIMELINE: &str = "timeline of expirations";

impl Engine {
    /// Makes expirations of a collection be told from now on, if a change log is kept. Call it
    /// before a change of settings by which documents may expire.
    pub(crate) async fn prepare_telling(&self, collection: &Arc<Collection>) -> Result<(), Error> {
        let record = &collection.state().record;
        if record.model != Model::Documents || self.inner.changes().records().is_none() {
            return Ok(());
        }
        let edit: Box<RecordEdit<()>> = Box::new(move |state: &CollectionState| {
            if state.record.told.is_some() {
                return Ok(None);
            }
            let apply = move |record: &mut Record, stamp: Stamp| add_timeline(record, stamp, false);
            Ok(Some((Arc::new(apply) as Arc<RecordApply>, ())))
        });
        self.change_record(collection, &*edit).await?;
        self.build_indexes(collection, |index| index.shape == IndexShape::Timeline).await
    }

    /// Makes the expirations of all collections be told whose documents can expire.
    pub(crate) async fn prepare_all_telling(&self) -> Result<(), Error> {
        for (_, collection) in self.collections(Model::Documents) {
            if !collection.state().record.settings.can_expire() {
                continue;
            }
            match self.prepare_telling(&collection).await {
                Err(_) if collection.is_dropped() => {}
                prepared => prepared?,
            }
        }
        Ok(())
    }
}

impl ChangeLog {
    /// Makes the expirations of a new collection be told if its documents can expire and the log is
    /// kept. Call it where commits are ordered.
    pub(crate) fn prepare_new(&self, record: &mut Record, stamp: Stamp) {
        let is_kept = record.model == Model::Documents && self.records().is_some();
        if is_kept && record.settings.can_expire() {
            add_timeline(record, stamp, true);
        }
    }
}

/// Adds the index of upcoming expirations to a record; in an `empty` collection telling starts at
/// once.
fn add_timeline(record: &mut Record, stamp: Stamp, empty: bool) {
    let (id, spec) = (record.next_index, IndexSpec::new(TIMELINE, Vec::new()));
    record.next_index += 1;
    record.indexes.push(IndexSpec { id, shape: IndexShape::Timeline, ready: empty, ..spec });
    let begun = empty.then(|| record.settings.floors_before(stamp.seq, stamp.at_ms));
    record.told = Some(ToldExpirations { begun, ruled: stamp });
}
