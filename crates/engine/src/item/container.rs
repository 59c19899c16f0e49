//! Containers: collections of items come and change, each with its definition in one commit.
//!
//! A change of the definition is in force at once but for two things, which need work on what is
//! stored: indexes of paths that were not indexed before, and a feed, which begins when every item
//! that is there is in its timeline. Where a container has a feed, expirations that are due by the
//! old definition are published before it changes (`feed/publish.rs`).

use std::sync::Arc;

use document::Document;
use store::{Stamp, Store};

use super::kept_paths::keep_named_paths;
use crate::{
    catalog::{
        Collection, CollectionState, CounterState, FeedBegun, FeedSettings, IndexShape, IndexSpec,
        ItemSettings, KeptPath, Record,
    },
    engine::{Engine, RecordApply, RecordEdit},
    error::{Error, Kind},
    expire::apply_default,
    names::{Model, Namespace, Partition},
};
use expiry::DefaultTtl;

/// What a container is, beside its items.
#[derive(Clone, Debug)]
pub struct ContainerDefinition {
    /// Its default TTL.
    pub default: DefaultTtl,
    /// How row keys begin; never changes.
    pub partition: Partition,
    /// Its indexes, by name; unique ones never change.
    pub indexes: Vec<IndexSpec>,
    /// How long a feed of all versions and expirations keeps its events, seconds; `None`: no such
    /// feed.
    pub retention_s: Option<i64>,
    /// What the door keeps with it.
    pub options: Document,
}

impl<S: Store> Engine<S> {
    /// Makes a container; an error when it exists.
    pub async fn create_container(
        &self,
        namespace: &Namespace,
        definition: &ContainerDefinition,
    ) -> Result<Arc<Collection>, Error> {
        let floors = self.inner.rules().floors();
        let wanted = definition.clone();
        let fill = move |record: &mut Record, stamp: Stamp| {
            record.options = wanted.options.clone();
            record.items = Some(ItemSettings {
                partition: wanted.partition,
                changed: stamp.seq,
                changed_ts: stamp.at_ms.div_euclid(1000),
                ruled_ts: stamp.at_ms.div_euclid(1000),
                feed: None,
            });
            // There is nothing yet that would have to be added.
            wanted.indexes.iter().for_each(|spec| add_index(record, spec, true));
            keep_named_paths(record, stamp, true);
            if wanted.default != DefaultTtl::Off {
                apply_default(record, wanted.default, stamp, floors);
                record.counters = CounterState::Ready(stamp.seq);
            }
            set_feed(record, wanted.retention_s, stamp, true);
        };
        self.create_with(Model::Items, namespace, Arc::new(fill)).await
    }

    /// Changes a container's definition, when it is still the version with this stamp. What is to
    /// be indexed anew waits for [`transform_indexes`](Self::transform_indexes).
    pub async fn replace_container(
        &self,
        collection: &Arc<Collection>,
        definition: &ContainerDefinition,
        version: Option<u64>,
    ) -> Result<(), Error> {
        let floors = self.inner.rules().floors();
        let wanted = definition.clone();
        // Checked where the change is made, so that no other change comes in between.
        let edit: Box<RecordEdit<()>> = Box::new(move |state: &CollectionState| {
            let changed = state.record.items.map(|items| items.changed);
            if version.is_some() && version != changed {
                let message = "the container is another version";
                return Err(Error::new(Kind::Precondition, message));
            }
            let wanted = wanted.clone();
            let apply = move |record: &mut Record, stamp: Stamp| {
                replace_definition(record, &wanted, stamp, floors);
            };
            Ok(Some((Arc::new(apply) as Arc<RecordApply>, ())))
        });
        let begun = if collection.state().record.running_feed().is_some() {
            self.change_published(collection, &*edit).await?
        } else {
            self.change_with_backfill(collection, &*edit).await?.1
        };
        self.build_counters(collection, begun).await?;
        // A feed begins when every item that is there is in its timeline.
        self.build_indexes(collection, |index| index.shape == IndexShape::Timeline).await
    }

    /// Begins a container's feed of all versions and expirations, unless it has one or its options do not
    /// permit it; its definition stays as it is. Returns once events are kept, where it is this call that
    /// begins it.
    pub async fn begin_feed(
        &self,
        collection: &Arc<Collection>,
        retention_s: i64,
        permits: fn(&Document) -> bool,
    ) -> Result<(), Error> {
        // Checked where the change is made, so that no other definition comes in between.
        let edit: Box<RecordEdit<()>> = Box::new(move |state: &CollectionState| {
            let has_none = state.record.items.is_some_and(|items| items.feed.is_none());
            if !has_none || !permits(&state.record.options) {
                return Ok(None);
            }
            let apply = move |record: &mut Record, stamp: Stamp| {
                set_feed(record, Some(retention_s), stamp, false);
            };
            Ok(Some((Arc::new(apply) as Arc<RecordApply>, ())))
        });
        let (changed, begun) = self.change_with_backfill(collection, &*edit).await?;
        if changed.is_none() {
            // The call that has begun it builds its timeline.
            return Ok(());
        }
        self.build_counters(collection, begun).await?;
        self.build_indexes(collection, |index| index.shape == IndexShape::Timeline).await
    }

    /// Completes the indexes of a container that are not in force yet.
    pub async fn transform_indexes(&self, collection: &Arc<Collection>) -> Result<(), Error> {
        self.build_indexes(collection, |_| true).await
    }
}

/// Puts a new definition into a record. Indexes that are still wanted stay as they are; unique ones
/// never change.
fn replace_definition(
    record: &mut Record,
    wanted: &ContainerDefinition,
    stamp: Stamp,
    floors: bool,
) {
    record.options = wanted.options.clone();
    if let Some(items) = &mut record.items {
        items.changed = stamp.seq;
        items.changed_ts = stamp.at_ms.div_euclid(1000);
    }
    replace_indexes(record, &wanted.indexes, stamp);
    if record.settings.default != wanted.default {
        apply_default(record, wanted.default, stamp, floors);
        if let Some(items) = &mut record.items {
            items.ruled_ts = stamp.at_ms.div_euclid(1000);
        }
    }
    set_feed(record, wanted.retention_s, stamp, false);
}

/// Replaces indexes by those that are wanted: what is still wanted, or still allowed, stays as it is.
fn replace_indexes(record: &mut Record, wanted: &[IndexSpec], stamp: Stamp) {
    let policy = wanted.iter().find_map(IndexSpec::policy);
    let allows = |held: &KeptPath| policy.is_some_and(|policy| policy.covers_path(&held.steps));
    let stays = |held: &IndexSpec| {
        held.unique
            || held.shape == IndexShape::Timeline
            || held.kept_path().is_some_and(allows)
            || wanted.iter().any(|spec| is_same(held, spec))
    };
    let gone = record.indexes.iter().filter(|held| !stays(held) && held.has_entries());
    // Compaction frees their entries.
    record.dropped.extend(gone.map(|held| held.id));
    record.indexes.retain(stays);
    for spec in wanted {
        if !spec.unique && !record.indexes.iter().any(|held| is_same(held, spec)) {
            add_index(record, spec, false);
        }
    }
    keep_named_paths(record, stamp, false);
}

/// Whether an index is the one that is wanted. One of all paths of a policy, which earlier versions
/// made, is as good as the policy.
fn is_same(held: &IndexSpec, spec: &IndexSpec) -> bool {
    let same_policy = spec.policy().is_some() && held.policy() == spec.policy();
    held.key == spec.key && held.unique == spec.unique && (same_policy || held.shape == spec.shape)
}

/// Begins, changes or ends a feed; in an `empty` container it is complete at once.
fn set_feed(record: &mut Record, retention_s: Option<i64>, stamp: Stamp, empty: bool) {
    let Some(items) = &mut record.items else { return };
    let now_s = stamp.at_ms.div_euclid(1000);
    match (retention_s, &mut items.feed) {
        (None, None) => {}
        (None, feed) => {
            *feed = None;
            let gone = record.indexes.iter().filter(|index| index.shape == IndexShape::Timeline);
            record.dropped.extend(gone.map(|index| index.id));
            record.indexes.retain(|index| index.shape != IndexShape::Timeline);
        }
        (Some(retention_s), Some(feed)) => {
            // A longer retention brings nothing back.
            feed.floor_s = feed.floor_s.max(now_s.saturating_sub(feed.retention_s));
            feed.retention_s = retention_s;
        }
        (Some(retention_s), feed) => {
            let begun = empty.then(|| FeedBegun::begun_at(&record.settings, stamp));
            *feed = Some(FeedSettings { retention_s, floor_s: i64::MIN, begun });
            let timeline = IndexSpec::new("timeline", Vec::new());
            add_index(record, &IndexSpec { shape: IndexShape::Timeline, ..timeline }, empty);
        }
    }
}

/// Adds an index under the next id; `ready` where there is nothing to build.
pub(super) fn add_index(record: &mut Record, spec: &IndexSpec, ready: bool) {
    debug_assert!(spec.shape != IndexShape::Fields);
    let id = record.next_index;
    record.next_index += 1;
    let ready = ready || !spec.has_entries();
    record.indexes.push(IndexSpec { id, ready, ..spec.clone() });
}
