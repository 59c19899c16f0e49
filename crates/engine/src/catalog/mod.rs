//! The catalog of collections, in memory and as stored records. A change of a record is a commit in
//! the same order as writes of documents.
//!
//! ```text
//!  record --codec--> stored bytes          the durable state of a collection
//!  collection        its last published state, and the fence that protects it
//!  map               collections by name          ids   assigned once
//!  policy            which paths of items may be indexed
//!  indexed_paths     which of them are          demand    which ones queries request
//!  reap_floors       what may be dropped          index_figures   how often indexes were used
//! ```

mod codec;
mod collection;
mod demand;
mod fields;
mod ids;
mod index_codec;
mod index_figures;
mod indexed_paths;
mod map;
mod policy;
mod reap_floors;
mod record;

pub(crate) use codec::{decode_record, encode_record};
pub use collection::{Collection, CollectionState, ListOrdering};
pub(crate) use collection::{
    PartialFilter, Publication, RecordChange, put_last_change, put_record,
};
pub(crate) use ids::CollectionIds;
pub use index_figures::{BuildProgress, ID_INDEX, IndexUsage};
pub(crate) use indexed_paths::PathState;
pub use indexed_paths::policy_path;
pub(crate) use map::{CollectionMap, PendingCreation};
pub use policy::{Policy, PolicyRule};
pub(crate) use reap_floors::ReapFloors;
pub use record::{
    CounterState, FeedSettings, FeedStart, IndexReason, IndexShape, IndexSpec, IndexedPath,
    ItemSettings, Record,
};

use document::DocRef;
use pipeline::Filter;

use crate::names::Model;

/// Parses stored settings that are written in a query language.
pub trait Dialect: Send + Sync + 'static {
    /// Parses the stored filter of a partial index.
    fn parse_filter(&self, model: Model, filter: DocRef<'_>) -> Result<Filter, String>;
}
