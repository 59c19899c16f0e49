//! The replacement of a collection as a whole: a temporary collection with the same indexes and
//! options is filled, and then gets the collection's name in one commit.

use std::sync::Arc;

use store::Stamp;

use super::change::{add_index, change_rule};
use crate::{
    catalog::{Collection, CounterState, ID_INDEX, IndexShape, IndexSpec, Record},
    engine::Engine,
    error::Error,
    names::{Model, Namespace},
};

/// Error number: the collection to be replaced has changed since the operation began.
const CHANGED: i32 = 125;

impl Engine {
    /// Creates a temporary collection of documents with the options, indexes and TTL of the
    /// collection `like`, or with none. It is dropped at the next start unless it is renamed.
    pub async fn create_temporary(
        &self,
        namespace: &Namespace,
        like: Option<&Record>,
    ) -> Result<Arc<Collection>, Error> {
        let floors = self.inner.rules().floors();
        let like = like.cloned();
        let fill = move |record: &mut Record, stamp: Stamp| {
            record.temporary = true;
            let Some(like) = &like else { return };
            record.options = like.options.clone();
            record.cluster_key.clone_from(&like.cluster_key);
            if let Some(seconds) = like.cluster_expire_after() {
                change_rule(record, ID_INDEX, Some(seconds), stamp, floors);
            }
            let indexes = like.indexes.iter().filter(|spec| spec.shape != IndexShape::Timeline);
            indexes.for_each(|spec| add_index(record, spec.clone(), stamp, floors));
            // There are no documents to count.
            if let CounterState::Building(build) = record.counters {
                record.counters = CounterState::Ready(build);
            }
        };
        let made = self.create_with(Model::Documents, namespace, Arc::new(fill)).await?;
        self.build_indexes(&made, |_| true).await?;
        Ok(made)
    }

    /// Gives a temporary collection the name of another one, which is dropped in the same commit.
    /// `held` is the record of the other collection when the temporary one was created.
    ///
    /// # Errors
    ///
    /// Number 125 if options, indexes or TTL of the other collection have changed since, or if it
    /// was created or dropped.
    pub async fn replace_collection(
        &self,
        temporary: &Namespace,
        name: &Namespace,
        held: Option<Record>,
    ) -> Result<(), Error> {
        let shown = name.clone();
        let check = move |now: Option<&Record>| {
            let is_same = match (&held, now) {
                (Some(held), Some(now)) => is_like(held, now),
                (held, now) => held.is_none() && now.is_none(),
            };
            if is_same {
                return Ok(());
            }
            let message = format!(
                "collection options of target collection {shown} changed during processing"
            );
            let kind = evaluation::Kind::Conflict;
            Err(evaluation::Error::new(kind, CHANGED, message).into())
        };
        self.rename_checked(Model::Documents, temporary, name, true, &check).await
    }
}

/// Returns whether a collection with one record could replace that with the other one.
fn is_like<'a>(one: &'a Record, other: &'a Record) -> bool {
    let plain =
        |index: &IndexSpec| IndexSpec { id: 0, multikey: false, ready: true, ..index.clone() };
    let same_index = |(one, other): (&IndexSpec, &IndexSpec)| plain(one) == plain(other);
    // Each collection has its own index of upcoming expirations.
    let indexes = |record: &'a Record| {
        record.indexes.iter().filter(|index| index.shape != IndexShape::Timeline)
    };
    one.options == other.options
        && one.cluster_key == other.cluster_key
        && one.cluster_expire_after() == other.cluster_expire_after()
        && one.settings.default == other.settings.default
        && indexes(one).count() == indexes(other).count()
        && indexes(one).zip(indexes(other)).all(same_index)
}
