//! Creates and changes containers: collections of items, each with its definition in one commit.
//!
//! A changed definition takes effect at once except for what needs work on stored items: indexes of
//! newly indexed paths, and a feed, which starts once every existing item is in its index of
//! upcoming expirations (timeline). If a container has a feed, expirations due by the old
//! definition are published first (`feed/publish.rs`).

use std::sync::Arc;

use document::Document;
use store::Stamp;

use super::indexed_paths::index_named_paths;
use crate::{
    catalog::{
        Collection, CollectionState, CounterState, FeedSettings, FeedStart, IndexShape, IndexSpec,
        IndexedPath, ItemSettings, Record,
    },
    engine::{Engine, RecordApply, RecordEdit},
    error::{Error, Kind},
    expire::apply_default,
    names::{Model, Namespace, Partition},
};
use expiry::DefaultTtl;

/// The definition of a container.
#[derive(Clone, Debug)]
pub struct ContainerDefinition {
    /// Default TTL of the container's items.
    pub default: DefaultTtl,
    /// Layout of row keys; never changes.
    pub partition: Partition,
    /// Indexes, identified by name; unique ones never change.
    pub indexes: Vec<IndexSpec>,
    /// Retention of a feed of all versions and expirations, seconds; `None` for no such feed.
    pub retention_s: Option<i64>,
    /// Options of the container that only the API interprets.
    pub options: Document,
}

impl Engine {
    /// Creates a container; fails if it exists.
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
            // The container is empty, so its indexes are complete.
            wanted.indexes.iter().for_each(|spec| add_index(record, spec, true));
            index_named_paths(record, stamp, true);
            if wanted.default != DefaultTtl::Off {
                apply_default(record, wanted.default, stamp, floors);
                record.counters = CounterState::Ready(stamp.seq);
            }
            set_feed(record, wanted.retention_s, stamp, true);
        };
        self.create_with(Model::Items, namespace, Arc::new(fill)).await
    }

    /// Changes a container's definition if its version still has the given stamp. New indexes are
    /// built by [`transform_indexes`](Self::transform_indexes).
    pub async fn replace_container(
        &self,
        collection: &Arc<Collection>,
        definition: &ContainerDefinition,
        version: Option<u64>,
    ) -> Result<(), Error> {
        let floors = self.inner.rules().floors();
        let wanted = definition.clone();
        // The version is checked within the change, so that no other change can intervene.
        let edit: Box<RecordEdit<()>> = Box::new(move |state: &CollectionState| {
            let changed = state.record.items.map(|items| items.changed);
            if version.is_some() && version != changed {
                let message = "the container has a different version";
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
        // A feed starts once every existing item is in its timeline.
        self.build_indexes(collection, |index| index.shape == IndexShape::Timeline).await
    }

    /// Starts a container's feed of all versions and expirations, unless it has one or its options
    /// do not permit it. If this call starts it, returns once events are recorded.
    pub async fn begin_feed(
        &self,
        collection: &Arc<Collection>,
        retention_s: i64,
        permits: fn(&Document) -> bool,
    ) -> Result<(), Error> {
        // Feed and options are checked within the change, so that no other definition can
        // intervene.
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
            // The call that started the feed builds its timeline.
            return Ok(());
        }
        self.build_counters(collection, begun).await?;
        self.build_indexes(collection, |index| index.shape == IndexShape::Timeline).await
    }

    /// Builds all incomplete indexes of a container.
    pub async fn transform_indexes(&self, collection: &Arc<Collection>) -> Result<(), Error> {
        self.build_indexes(collection, |_| true).await
    }
}

/// Applies a new definition to a record. Indexes that are still wanted are unchanged; unique ones
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

/// Replaces the indexes by the wanted ones. Existing indexes that are wanted, or whose path the
/// policy allows, are unchanged.
fn replace_indexes(record: &mut Record, wanted: &[IndexSpec], stamp: Stamp) {
    let policy = wanted.iter().find_map(IndexSpec::policy);
    let allows = |held: &IndexedPath| policy.is_some_and(|policy| policy.covers_path(&held.steps));
    let stays = |held: &IndexSpec| {
        held.unique
            || held.shape == IndexShape::Timeline
            || held.indexed_path().is_some_and(allows)
            || wanted.iter().any(|spec| is_same(held, spec))
    };
    let gone = record.indexes.iter().filter(|held| !stays(held) && held.has_entries());
    // Compactions drop the entries of the removed indexes.
    record.dropped.extend(gone.map(|held| held.id));
    record.indexes.retain(stays);
    for spec in wanted {
        if !spec.unique && !record.indexes.iter().any(|held| is_same(held, spec)) {
            add_index(record, spec, false);
        }
    }
    index_named_paths(record, stamp, false);
}

/// Returns whether an existing index has the wanted definition. An index of all paths of a policy,
/// as earlier versions created it, counts as the index of that policy.
fn is_same(held: &IndexSpec, spec: &IndexSpec) -> bool {
    let same_policy = spec.policy().is_some() && held.policy() == spec.policy();
    held.key == spec.key && held.unique == spec.unique && (same_policy || held.shape == spec.shape)
}

/// Starts, changes or ends a feed; in an `empty` container the feed starts immediately.
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
            // A longer retention does not make older events visible again.
            feed.floor_s = feed.floor_s.max(now_s.saturating_sub(feed.retention_s));
            feed.retention_s = retention_s;
        }
        (Some(retention_s), feed) => {
            let begun = empty.then(|| FeedStart::begun_at(&record.settings, stamp));
            *feed = Some(FeedSettings { retention_s, floor_s: i64::MIN, begun });
            let timeline = IndexSpec::new("timeline", Vec::new());
            add_index(record, &IndexSpec { shape: IndexShape::Timeline, ..timeline }, empty);
        }
    }
}

/// Adds an index with the next id; `ready` if there is nothing to build.
pub(super) fn add_index(record: &mut Record, spec: &IndexSpec, ready: bool) {
    debug_assert!(spec.shape != IndexShape::Fields);
    let id = record.next_index;
    record.next_index += 1;
    let ready = ready || !spec.has_entries();
    record.indexes.push(IndexSpec { id, ready, ..spec.clone() });
}
