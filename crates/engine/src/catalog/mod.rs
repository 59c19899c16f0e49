//! The catalog of collections, in memory and as stored records. A change of a record is a commit in
//! the same order as writes of documents.
//!
//! ```text
//!  record --codec--> stored bytes          the durable state of a collection
//!  collection        its last published state, and the fence that protects it
//!  map               collections by name          ids   assigned once
//!  policy            which paths of items may be indexed
//!  indexed_paths     which of them are          demand    which ones queries request
//!  capped            limits and order of capped collections
//!  wildcard_paths    which paths a wildcard index contains
//!  reap_floors       what may be dropped          index_figures   how often indexes were used
//! ```

mod capped;
mod codec;
mod collection;
mod demand;
mod fields;
mod id_index;
mod ids;
mod index_codec;
mod index_figures;
mod indexed_paths;
mod map;
mod next_expiration;
mod policy;
mod reap_floors;
mod record;
mod record_change;
mod wildcard_paths;

pub use capped::Capped;
pub(crate) use capped::put_evicted;
pub(crate) use codec::{decode_record, encode_record};
pub use collection::{Collection, CollectionState, ListOrdering};
pub(crate) use collection::{PartialFilter, put_last_change, put_record};
pub use id_index::{ID_INDEX_NAME, default_collation};
pub(crate) use ids::CollectionIds;
pub use index_figures::{BuildProgress, ID_INDEX, IndexUsage};
pub(crate) use indexed_paths::PathState;
pub use indexed_paths::policy_path;
pub(crate) use map::{CollectionMap, PendingCreation};
pub use policy::{Policy, PolicyRule};
pub(crate) use reap_floors::{ReapFloors, decode_floors, encode_floors};
pub use record::{
    CounterState, FeedSettings, FeedStart, IndexReason, IndexShape, IndexSpec, IndexedPath,
    ItemSettings, Record, TEXT_FIELD, ToldExpirations,
};
pub(crate) use record_change::{Publication, RecordChange};
pub(crate) use wildcard_paths::WildcardKey;
pub use wildcard_paths::WildcardPaths;

use std::{fmt, sync::Arc};

use document::DocRef;
use evaluation::Context;
use pipeline::{Filter, exec::Stage};

use crate::{error::Error, names::Model};

/// Interprets stored settings that are written in a query language.
pub trait Dialect: Send + Sync + 'static {
    /// Parses the stored filter of a partial index.
    fn parse_filter(&self, model: Model, filter: DocRef<'_>) -> Result<Filter, String>;

    /// Returns the rule that the options of a collection contain for its documents, if any. This
    /// function is called where commits are ordered, so it has to be fast: it leaves the parsing to
    /// the first use of the rule.
    fn document_rule(&self, record: &Record) -> Option<Arc<dyn DocumentRule>> {
        let _ = record;
        None
    }

    /// Returns whether the change records of a collection contain images: the document before the
    /// change, and after every edit. Called where commits are ordered.
    fn keeps_images(&self, record: &Record) -> bool {
        let _ = record;
        false
    }

    /// Returns the definition of a stored view, parsed anew, if the record is one. Called when a
    /// query on it begins.
    ///
    /// # Errors
    ///
    /// [`Kind::Corrupt`](crate::Kind::Corrupt) for a definition that cannot be parsed.
    fn stored_view(&self, record: &Record) -> Result<Option<StoredView>, Error> {
        let _ = record;
        Ok(None)
    }
}

/// The definition of a stored view (MongoDB's view): a pipeline with a name, whose documents are
/// computed by each query. Its record is that of a collection without documents, with the
/// definition among its options.
#[derive(Clone, Debug)]
pub struct StoredView {
    /// Name of the collection or view that the pipeline reads, in the same database.
    pub source: String,
    /// The stages of the pipeline.
    pub stages: Vec<Stage>,
    /// Size of the pipeline in bytes.
    pub bytes: usize,
}

/// A rule that the documents of a collection must meet, such as a validator of MongoDB. Only the
/// API interprets it.
pub trait DocumentRule: fmt::Debug + Send + Sync {
    /// Checks a document before it is written; `before` is the document that it replaces.
    ///
    /// # Errors
    ///
    /// [`Kind::FailedRule`](crate::Kind::FailedRule) for a document that does not meet the rule.
    fn check(
        &self,
        document: DocRef<'_>,
        before: Option<DocRef<'_>>,
        context: &Context,
    ) -> Result<(), Error>;
}

/// Provides the context in which documents are checked against a rule. The context is requested
/// only if the collection has a rule, so that other writes need not create one.
pub trait RuleContext: Sync {
    /// Returns the context in which documents are checked.
    fn context(&self) -> &Context;
}

impl RuleContext for Context {
    fn context(&self) -> &Context {
        self
    }
}
