//! Clustered collections, whose documents may expire by a date in their `_id`. Rows are ordered by
//! `_id` in every collection; a cluster key gives this order a name and a date rule. Headers of a
//! clustered collection contain the date from the first document on, so that a rule takes effect at
//! once.

use std::sync::Arc;

use document::Document;
use store::Stamp;

use super::change::change_rule;
use crate::{
    catalog::{Collection, CollectionState, ID_INDEX, Record},
    engine::{Engine, RecordApply, RecordEdit},
    error::{Error, Kind},
    names::{Model, Namespace},
};

impl Engine {
    /// Creates a clustered collection of documents; fails if it exists. Documents whose `_id` is a
    /// date expire `expire_after` seconds after it.
    pub async fn create_clustered(
        &self,
        namespace: &Namespace,
        options: Document,
        cluster_key: String,
        expire_after: Option<i64>,
    ) -> Result<Arc<Collection>, Error> {
        let floors = self.inner.rules().floors();
        let fill = move |record: &mut Record, stamp: Stamp| {
            record.set_options(&options);
            record.cluster_key = Some(cluster_key.clone());
            if expire_after.is_some() {
                change_rule(record, ID_INDEX, expire_after, stamp, floors);
            }
        };
        self.create_with(Model::Documents, namespace, Arc::new(fill)).await
    }

    /// Changes the number of seconds after the date in its `_id` at which a document of a clustered
    /// collection expires; `None` for never. Documents that have expired stay expired. Returns the
    /// previous number.
    ///
    /// # Errors
    ///
    /// [`Kind::Invalid`] if the collection is not clustered.
    pub async fn change_cluster_ttl(
        &self,
        collection: &Arc<Collection>,
        expire_after: Option<i64>,
    ) -> Result<Option<i64>, Error> {
        if expire_after.is_some() {
            self.prepare_telling(collection).await?;
        }
        let floors = self.inner.rules().floors();
        let edit: Box<RecordEdit<Option<i64>>> = Box::new(move |state: &CollectionState| {
            if state.record.cluster_key.is_none() {
                return Err(Error::new(Kind::Invalid, "the collection is not clustered"));
            }
            let was = state.record.cluster_expire_after();
            let apply = move |record: &mut Record, stamp: Stamp| {
                if was != expire_after {
                    change_rule(record, ID_INDEX, expire_after, stamp, floors);
                }
            };
            Ok(Some((Arc::new(apply) as Arc<RecordApply>, was)))
        });
        let (was, begun) = self.change_with_backfill(collection, &*edit).await?;
        self.build_counters(collection, begun).await?;
        Ok(was.flatten())
    }
}
