//! A collection's record: what is durable about it.

use bytes::Bytes;
use clock::Instant;
use document::Document;
use expiry::{Class, Settings};
use select::sarg::PathStep;

use super::Policy;
use crate::{
    keys,
    names::{Model, Namespace, Partition},
};

/// What an index holds of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum IndexShape {
    /// The values at dotted paths, one entry per element of arrays, in BSON's order.
    #[default]
    Fields,
    /// Every value at every path that a policy includes, in JSON's order.
    Wild(Policy),
    /// Nothing itself: the paths that may have indexes of their own (`catalog/kept.rs`).
    Allowed(Policy),
    /// Every value at one path, in JSON's order.
    Path(KeptPath),
    /// One entry: the values at paths of properties (`/a/b`), arrays not walked, in JSON's order.
    Tuple {
        /// A unique one counts within a logical partition.
        scoped: bool,
    },
    /// When each item that can expire will, by its class: expirations are published from it.
    Timeline,
}

/// Why a path is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeptFor {
    /// A query looked at many items for want of it.
    Query,
    /// The policy names it.
    Name,
}

/// A path whose values have entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptPath {
    /// The path from the root.
    pub steps: Vec<PathStep>,
    /// Why it is kept.
    pub why: KeptFor,
    /// The second since when it is.
    pub since_s: i64,
    /// The second of a use, not more than a day before the last one.
    pub used_s: i64,
}

/// An index.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexSpec {
    /// Its id; never used again in its collection.
    pub id: u32,
    /// Its name.
    pub name: String,
    /// Paths in order, and whether each is descending.
    pub key: Vec<(String, bool)>,
    /// No two live documents share a value.
    pub unique: bool,
    /// Documents without any of its fields are left out.
    pub sparse: bool,
    /// Only documents that meet this filter are in it, in the door's language.
    pub partial: Option<Document>,
    /// Kept up to date, but never chosen for a query.
    pub hidden: bool,
    /// Seconds after which it expires documents.
    pub expire_after: Option<i64>,
    /// It stands for the collection's own default TTL and has no entries.
    pub system_ttl: bool,
    /// Some document has more than one entry in it.
    pub multikey: bool,
    /// It is complete and may be read.
    pub ready: bool,
    /// The specification as the door shows it.
    pub shown: Document,
    /// What it holds of a document.
    pub shape: IndexShape,
    /// Entries of equal values are in the order in which their items were created. It never changes
    /// for an index, since it is part of the keys of all of its entries.
    pub by_birth: bool,
}

impl IndexSpec {
    /// Whether it has entries on disk.
    pub fn has_entries(&self) -> bool {
        !self.system_ttl && !matches!(self.shape, IndexShape::Allowed(_))
    }

    /// Whether the keys of its entries end with the `_id` of the document, so that entries with equal
    /// values are in the order of `_id`.
    pub(crate) fn ends_with_id(&self) -> bool {
        self.shape == IndexShape::Fields
            && !self.unique
            && !self.key.iter().any(|(path, _)| path == "_id")
    }

    /// Whether it is an index of items as earlier versions made them: entries of equal values are in
    /// the order of row keys. Such an index serves conditions but no order, until it is replaced.
    pub(crate) fn is_by_row_key(&self) -> bool {
        let of_items = match self.shape {
            IndexShape::Path(_) | IndexShape::Wild(_) | IndexShape::Tuple { .. } => true,
            IndexShape::Fields | IndexShape::Allowed(_) | IndexShape::Timeline => false,
        };
        of_items && !self.unique && !self.by_birth
    }

    /// The key pattern as a document of 1 and -1.
    pub fn key_pattern(&self) -> Document {
        let direction = |descending: &bool| if *descending { -1 } else { 1 };
        self.key
            .iter()
            .map(|(path, descending)| (path.clone(), direction(descending).into()))
            .collect()
    }
}

/// How far the sums by second are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CounterState {
    /// None by class are kept; those by date are complete.
    Off,
    /// Writers keep them; what was there before is being added.
    Building(u64),
    /// Complete.
    Ready(u64),
}

impl CounterState {
    /// The build whose sums writers keep; 0 for those from the collection's beginning on.
    pub fn build_number(self) -> u64 {
        match self {
            Self::Off => 0,
            Self::Building(build) | Self::Ready(build) => build,
        }
    }
}

/// What is durable about a collection.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Its id; never used again.
    pub id: u32,
    /// Which door it belongs to.
    pub model: Model,
    /// Its name.
    pub namespace: Namespace,
    /// Its TTL state.
    pub settings: Settings,
    /// Its indexes beside that of the id.
    pub indexes: Vec<IndexSpec>,
    /// The next index gets this id.
    pub next_index: u32,
    /// Dropped indexes whose entries may still be on disk.
    pub dropped: Vec<u32>,
    /// Sums by second.
    pub counters: CounterState,
    /// Stamp of its creation.
    pub created: u64,
    /// What the door keeps with it.
    pub options: Document,
    /// What only a collection of items has.
    pub items: Option<ItemSettings>,
}

/// What a collection of items has beside its documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ItemSettings {
    /// How its row keys begin.
    pub partition: Partition,
    /// Stamp of the last change of its definition.
    pub changed: u64,
    /// Second of that change.
    pub changed_ts: i64,
    /// Second of the last change of its default TTL, in which documents may have expired by it.
    pub ruled_ts: i64,
    /// Its feed of all versions and expirations.
    pub feed: Option<FeedSettings>,
}

/// A feed of all versions and expirations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeedSettings {
    /// How long events are kept, seconds.
    pub retention_s: i64,
    /// Events before this second are not shown any more, however long events are kept later.
    pub floor_s: i64,
    /// Since when it is kept; `None` until the timeline of items that were there is complete.
    pub begun: Option<FeedBegun>,
}

impl FeedSettings {
    /// The second from which on events are kept at an instant.
    pub(crate) fn kept_from(&self, at: Instant) -> i64 {
        at.seconds().saturating_sub(self.retention_s)
    }
}

/// The beginning of a feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeedBegun {
    /// Only later commits have events.
    pub since: u64,
    /// Items of class inherit written up to this second had expired before.
    pub inherit_s: i64,
    /// Items with a deadline up to this second had expired before.
    pub explicit_s: i64,
}

impl FeedBegun {
    /// A feed that begins with a commit.
    pub(crate) fn begun_at(settings: &Settings, stamp: store::Stamp) -> Self {
        let floors = settings.floors_at(Instant::from_ms(stamp.at_ms));
        Self { since: stamp.seq, inherit_s: floors.inherit_s, explicit_s: floors.explicit_s }
    }
}

impl Record {
    /// Whether writers keep sums by class.
    pub(crate) fn sums_classes(&self) -> bool {
        self.counters != CounterState::Off && self.settings.by_class()
    }

    /// How row keys of items begin.
    pub(crate) fn partition_layout(&self) -> Option<Partition> {
        self.items.map(|items| items.partition)
    }

    /// The index of expirations to come, where there is one.
    pub(crate) fn timeline_index(&self) -> Option<&IndexSpec> {
        self.indexes.iter().find(|index| index.shape == IndexShape::Timeline)
    }

    /// The key of an item in it: none where there is no timeline, or the item never expires.
    pub(crate) fn timeline_key(&self, class: Class, ts: i64, row_key: &[u8]) -> Option<Bytes> {
        keys::timeline_entry(self.timeline_index()?.id, class, ts, row_key)
    }

    /// Whether the feed of all versions and expirations has begun.
    pub fn keeps_events(&self) -> bool {
        self.running_feed().is_some()
    }

    /// The feed of all versions and expirations, where it has begun.
    pub(crate) fn running_feed(&self) -> Option<(FeedSettings, FeedBegun)> {
        let feed = self.items?.feed?;
        Some((feed, feed.begun?))
    }

    /// The index with this name.
    pub fn index_named(&self, name: &str) -> Option<&IndexSpec> {
        self.indexes.iter().find(|index| index.name == name)
    }
}
