//! A collection's catalog record: its durable state.

use std::sync::Arc;

use bytes::Bytes;
use clock::Instant;
use collation::Collation;
use document::{DocRef, Document, Value, ValueRef};
use expiry::{Class, Floors, Settings};
use full_text::TextIndex;
use geometry::GeoIndex;
use select::sarg::PathStep;
use store::Stamp;

use super::{Capped, ID_INDEX, Policy, WildcardPaths};
use crate::{
    keys,
    names::{Model, Namespace, Partition},
};

/// Name of the first of the two fields that stand for the words in the key of a text index; the
/// second one continues it.
pub const TEXT_FIELD: &str = "_fts";

/// Parts of a document of which an index has entries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum IndexShape {
    /// The values at dotted paths, one entry per array element, in BSON order.
    #[default]
    Fields,
    /// An entry for each value at each path that a policy includes, in the order in which the NoSQL
    /// API sorts JSON values.
    Wild(Policy),
    /// No entries: only the paths that may have indexes of their own (`catalog/indexed_paths.rs`).
    Allowed(Policy),
    /// An entry for each value at one path, in the order in which the NoSQL API sorts JSON values.
    Path(IndexedPath),
    /// One entry with the values at property paths (`/a/b`), in the order in which the NoSQL API
    /// sorts JSON values; arrays are not expanded.
    Tuple {
        /// Whether uniqueness applies within a logical partition.
        scoped: bool,
    },
    /// As `Fields`, but the value at this path of the key is replaced by its hash, and documents with
    /// arrays at a path of the key are refused.
    Hashed(String),
    /// An entry with path and value for each scalar value at these paths, in BSON order; arrays are
    /// expanded.
    Wildcard(WildcardPaths),
    /// An entry for each word of the document's texts, between the values at the paths of the key
    /// before [`TEXT_FIELD`] and after it. Documents with arrays at these paths are refused.
    Text(TextIndex),
    /// An entry for each cell of a document's geometries, among the values at the other paths of the
    /// key. Documents without a geometry are left out.
    Geo(GeoIndex),
    /// Each item that may expire, by expiry class (default or own TTL) and by the second of its
    /// write or deadline; expirations are published from this index.
    Timeline,
    /// Each document of a capped collection, by the order of the inserts. Only the engine uses this
    /// index; no API lists it.
    InsertionOrder,
}

/// Reason why a path is indexed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexReason {
    /// A query had to examine many items because the path had no index.
    Query,
    /// The indexing policy includes the path by name.
    Name,
}

/// A path of items whose values an index contains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexedPath {
    /// The path from the root.
    pub steps: Vec<PathStep>,
    /// The reason why the path is indexed.
    pub why: IndexReason,
    /// Second since which the path is indexed, for reports.
    pub since_s: i64,
    /// Second of a recent use of the index, at most a day before the last use.
    pub used_s: i64,
}

/// The definition of an index.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexSpec {
    /// Id of the index, never reused within its collection.
    pub id: u32,
    /// Name of the index, unique in its collection.
    pub name: String,
    /// The indexed paths in the order in which they form the key; true means descending.
    pub key: Vec<(String, bool)>,
    /// Whether no two live documents may have the same value.
    pub unique: bool,
    /// Whether documents that have none of the indexed fields are left out.
    pub sparse: bool,
    /// Only documents that match this filter are indexed; in the API's query language.
    pub partial: Option<Document>,
    /// Whether the index is maintained, but never chosen for a query.
    pub hidden: bool,
    /// TTL of a date index: seconds from the date to the expiry.
    pub expire_after: Option<i64>,
    /// Whether the index represents the collection's default TTL; it then has no entries.
    pub system_ttl: bool,
    /// Whether some document has more than one entry.
    pub multikey: bool,
    /// Whether the index is complete and may be read.
    pub ready: bool,
    /// The index specification in the form that the API returns.
    pub shown: Document,
    /// Parts of a document that have entries.
    pub shape: IndexShape,
    /// Whether entries with equal values are ordered by the creation of their items. Fixed for the
    /// life of an index, since it is part of all its keys.
    pub by_creation: bool,
    /// The order of texts in keys; `None` if they are ordered by their bytes. Fixed for the life of
    /// an index.
    pub collation: Option<Arc<Collation>>,
}

impl IndexSpec {
    /// Returns whether the index has entries on disk.
    pub fn has_entries(&self) -> bool {
        !self.system_ttl && !matches!(self.shape, IndexShape::Allowed(_))
    }

    /// Returns whether the keys of the index's entries end with the document's `_id`, so that
    /// entries with equal values are ordered by `_id`.
    pub(crate) fn ends_with_id(&self) -> bool {
        self.has_fields() && !self.unique && !self.key.iter().any(|(path, _)| path == "_id")
    }

    /// Returns whether this is an item index of an earlier version, whose entries with equal values
    /// are ordered by row key. Such an index serves conditions but no order until it is replaced.
    pub(crate) fn is_by_row_key(&self) -> bool {
        let of_items = match self.shape {
            IndexShape::Path(_) | IndexShape::Wild(_) | IndexShape::Tuple { .. } => true,
            IndexShape::Fields
            | IndexShape::Hashed(_)
            | IndexShape::Wildcard(_)
            | IndexShape::Text(_)
            | IndexShape::Geo(_)
            | IndexShape::Allowed(_)
            | IndexShape::Timeline
            | IndexShape::InsertionOrder => false,
        };
        of_items && !self.unique && !self.by_creation
    }

    /// Returns whether the keys of the index's entries are the values or hashes at the paths of
    /// `key`, in this order.
    pub(crate) fn has_fields(&self) -> bool {
        matches!(self.shape, IndexShape::Fields | IndexShape::Hashed(_))
    }

    /// Returns the path whose values are hashed.
    pub(crate) fn hashed_path(&self) -> Option<&str> {
        match &self.shape {
            IndexShape::Hashed(path) => Some(path),
            _ => None,
        }
    }

    /// Returns the key pattern as a document of 1 and -1, with the kind of a field that has one.
    pub fn key_pattern(&self) -> Document {
        let part = |path: &str, descending: bool| match &self.shape {
            IndexShape::Geo(geo) if geo.paths.iter().any(|held| held == path) => geo.kind().into(),
            _ if self.hashed_path() == Some(path) => "hashed".into(),
            IndexShape::Text(_) if path == TEXT_FIELD => "text".into(),
            _ if descending => Value::Int32(-1),
            _ => Value::Int32(1),
        };
        let parts = self.key.iter();
        parts.map(|(path, descending)| (path.clone(), part(path, *descending))).collect()
    }
}

/// State of the per-second counts of expiring documents and bytes, from which live documents are
/// counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CounterState {
    /// No counters by expiry class are maintained; the counters of date indexes are complete.
    Off,
    /// Writers maintain the counts; rows written before are being added. The number identifies the
    /// build.
    Building(u64),
    /// The counts are complete; the number identifies their build.
    Ready(u64),
}

impl CounterState {
    /// Returns the number of the counter build whose counts writers keep up to date; 0 if the
    /// counts were kept since the collection was created.
    pub fn build_number(self) -> u64 {
        match self {
            Self::Off => 0,
            Self::Building(build) | Self::Ready(build) => build,
        }
    }
}

/// The durable state of a collection.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Id of the collection, never reused.
    pub id: u32,
    /// Data model of the collection: documents or items.
    pub model: Model,
    /// Names of the database and the collection.
    pub namespace: Namespace,
    /// Default TTL, rules of date indexes, and expiry floors: times up to which documents have
    /// permanently expired.
    pub settings: Settings,
    /// The collection's indexes, except the primary key.
    pub indexes: Vec<IndexSpec>,
    /// Id of the next index.
    pub next_index: u32,
    /// Dropped indexes whose entries may still be on disk.
    pub dropped: Vec<u32>,
    /// State of the per-second counts of expiring documents and bytes, from which live documents
    /// are counted.
    pub counters: CounterState,
    /// Stamp of the collection's creation.
    pub created: u64,
    /// Options of the collection. Only the API interprets them, except for `collation`, the default
    /// order of texts.
    pub options: Document,
    /// Settings that only item collections have.
    pub items: Option<ItemSettings>,
    /// Name of the primary key of a clustered collection, whose documents may expire by a date in
    /// their `_id`; `None` for other collections. The order of rows is the same for both.
    pub cluster_key: Option<String>,
    /// Whether the collection exists only while an operation fills it: it is dropped at the next
    /// start unless it is renamed before.
    pub temporary: bool,
    /// Limits at which inserts evict the oldest documents; `None` if the collection is not capped.
    pub capped: Option<Capped>,
    /// State of the recording of expirations in the change log; `None` if they are not recorded.
    pub told: Option<ToldExpirations>,
}

/// State of the recording of a collection's expirations in the change log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToldExpirations {
    /// Floors up to which documents had expired when the recording started; `None` until all
    /// documents are in the index of upcoming expirations.
    pub begun: Option<Floors>,
    /// Stamp of the last change of the collection's TTL settings. Documents that expired by the
    /// change itself expired at this stamp.
    pub ruled: Stamp,
}

/// Settings that only item collections have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ItemSettings {
    /// Layout of the partition key at the start of row keys.
    pub partition: Partition,
    /// Stamp of the last change of the container's definition.
    pub changed: u64,
    /// Second of the last change of the container's definition.
    pub changed_ts: i64,
    /// Second of the last change of the default TTL. Documents that expired by the change itself
    /// expired in this second.
    pub ruled_ts: i64,
    /// Settings of the container's feed of all versions and expirations, if it has one.
    pub feed: Option<FeedSettings>,
}

/// Settings of a feed of all versions and expirations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeedSettings {
    /// Number of seconds for which events are kept.
    pub retention_s: i64,
    /// Events before this second stay hidden, even if the retention is extended later.
    pub floor_s: i64,
    /// The point from which the feed has events; `None` until existing items are in the index of
    /// expirations.
    pub begun: Option<FeedStart>,
}

impl FeedSettings {
    /// Returns the oldest second whose events are still retained at the instant `at`.
    pub(crate) fn kept_from(&self, at: Instant) -> i64 {
        at.seconds().saturating_sub(self.retention_s)
    }
}

/// The point from which a feed has events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeedStart {
    /// The feed has only events of commits with a larger stamp.
    pub since: u64,
    /// Items that expire by the default TTL and were written up to this second had expired before
    /// the feed started.
    pub inherit_s: i64,
    /// Items with a deadline of their own up to this second had expired before the feed started.
    pub explicit_s: i64,
}

impl FeedStart {
    /// Returns the start of a feed that the commit with this stamp enables.
    pub(crate) fn begun_at(settings: &Settings, stamp: Stamp) -> Self {
        let floors = settings.floors_at(Instant::from_ms(stamp.at_ms));
        Self { since: stamp.seq, inherit_s: floors.inherit_s, explicit_s: floors.explicit_s }
    }
}

impl Record {
    /// Returns whether writers maintain per-second counts by expiry class.
    pub(crate) fn counts_by_class(&self) -> bool {
        self.counters != CounterState::Off && self.settings.by_class()
    }

    /// Returns the layout of the partition key at the start of row keys; `None` for document
    /// collections.
    pub(crate) fn partition_layout(&self) -> Option<Partition> {
        self.items.map(|items| items.partition)
    }

    /// Returns the index of upcoming expirations from which a feed is published, if it exists.
    pub(crate) fn timeline_index(&self) -> Option<&IndexSpec> {
        self.indexes.iter().find(|index| index.shape == IndexShape::Timeline)
    }

    /// Returns the keys of a row in the index of upcoming expirations: one for its class and one for
    /// each of its dates; none without such an index or if the row never expires.
    pub(crate) fn timeline_keys(
        &self,
        (class, ts): (Class, i64),
        dates: impl Iterator<Item = (u32, i64)>,
        row_key: &[u8],
    ) -> Vec<Bytes> {
        let Some(index) = self.timeline_index() else { return Vec::new() };
        let own = keys::timeline_entry(index.id, class, ts, row_key);
        let by_date = dates.map(|date| keys::timeline_date(index.id, date, row_key));
        own.into_iter().chain(by_date).collect()
    }

    /// Returns whether the feed of all versions and expirations has started.
    pub fn keeps_events(&self) -> bool {
        self.running_feed().is_some()
    }

    /// Returns the feed of all versions and expirations if it has started.
    pub(crate) fn running_feed(&self) -> Option<(FeedSettings, FeedStart)> {
        let feed = self.items?.feed?;
        Some((feed, feed.begun?))
    }

    /// Returns the primary key's id and the date in a document's `_id`, as headers of a clustered
    /// collection contain them, whether or not documents expire by them now; `None` if the
    /// collection is not clustered or the `_id` is no date.
    pub(crate) fn cluster_date(&self, document: DocRef<'_>) -> Option<(u32, i64)> {
        match document.get("_id") {
            Some(ValueRef::DateTime(ms)) if self.cluster_key.is_some() => Some((ID_INDEX, ms)),
            _ => None,
        }
    }

    /// Returns the number of seconds after the date in its `_id` at which a document of a clustered
    /// collection expires; `None` if it does not.
    pub fn cluster_expire_after(&self) -> Option<i64> {
        self.settings.dates.iter().find(|rule| rule.index == ID_INDEX)?.after_s
    }

    /// Returns whether this is a name of the primary key.
    pub(crate) fn is_primary_key(&self, name: &str) -> bool {
        name == "_id_" || self.cluster_key.as_deref() == Some(name)
    }

    /// Returns the name of an index or of the cluster key by its id.
    pub(crate) fn index_name(&self, id: u32) -> Option<&str> {
        if id == ID_INDEX {
            return self.cluster_key.as_deref();
        }
        self.indexes.iter().find(|index| index.id == id).map(|index| index.name.as_str())
    }

    /// Returns the listed index with this name.
    pub fn index_named(&self, name: &str) -> Option<&IndexSpec> {
        self.listed_indexes().find(|index| index.name == name)
    }
}
