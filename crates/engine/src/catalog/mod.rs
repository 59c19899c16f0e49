//! What collections there are, in memory and as stored records. A change of a record is a commit in
//! the same order as writes of documents.
//!
//! ```text
//!  record ──codec──▶ stored bytes          what is durable about a collection
//!  collection        its state as last published, and the fence in front of it
//!  map               collections by name          ids   each given once
//!  policy            which paths of items may be indexed
//!  kept              which of them are          demand    which queries ask for
//!  reap_floors       what may be dropped          index_figures   how often indexes were used
//! ```

mod codec;
mod collection;
mod demand;
mod fields;
mod ids;
mod index_codec;
mod index_figures;
mod kept;
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
pub(crate) use kept::PathState;
pub use kept::policy_path;
pub(crate) use map::{CollectionMap, Coming};
pub use policy::{Policy, PolicyRule};
pub(crate) use reap_floors::ReapFloors;
pub use record::{
    CounterState, FeedBegun, FeedSettings, IndexShape, IndexSpec, ItemSettings, KeptFor, KeptPath,
    Record,
};

use document::DocRef;
use pipeline::Filter;

use crate::names::Model;

/// What the engine asks a query language about stored settings.
pub trait Dialect: Send + Sync + 'static {
    /// Parses a filter as it was stored with a partial index.
    fn parse_filter(&self, model: Model, filter: DocRef<'_>) -> Result<Filter, String>;
}
