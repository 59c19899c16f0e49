//! The language of partial index filters. The engine stores such a filter as the document that the
//! client sent, and has it parsed when it opens the index.

use document::DocRef;
use engine::{Dialect, Model};
use pipeline::Filter;

/// Parses partial index filters in MongoDB's query language.
#[derive(Clone, Copy, Debug, Default)]
pub struct MongoDialect;

impl Dialect for MongoDialect {
    fn parse_filter(&self, model: Model, filter: DocRef<'_>) -> Result<Filter, String> {
        match model {
            Model::Documents => mongo_query::filter::parse(filter).map_err(|error| error.message),
            Model::Items | Model::Receipts => Err("it has no partial indexes".to_owned()),
        }
    }
}
