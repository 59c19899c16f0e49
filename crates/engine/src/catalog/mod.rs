//! What collections there are, in memory and as stored records. A change of a record is a commit in
//! the same order as writes of documents.

mod codec;
mod collection;
mod fields;
mod ids;
mod map;
mod policy;
mod record;

pub(crate) use codec::{decode, encode};
pub(crate) use collection::{Change, PartialFilter, Publish, put_record};
pub use collection::{Collection, Ordering, State};
pub(crate) use ids::CollectionIds;
pub(crate) use map::Map;
pub use policy::{Policy, PolicyRule};
pub use record::{Books, FeedBegun, FeedSettings, IndexSpec, ItemSettings, Record, Shape};

use document::DocRef;
use pipeline::Filter;

use crate::names::Model;

/// What the engine asks a query language about stored settings.
pub trait Dialect: Send + Sync + 'static {
    /// Parses a filter as it was stored with a partial index.
    fn filter(&self, model: Model, filter: DocRef<'_>) -> Result<Filter, String>;
}
