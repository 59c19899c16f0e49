//! Parses stored filters of partial indexes in the query language of the MongoDB API.

use document::DocRef;
use engine::{Dialect, Model};
use pipeline::Filter;

/// Parses stored filters with `mongo_query`.
#[derive(Clone, Copy, Debug, Default)]
pub struct ParsedDialect;

impl Dialect for ParsedDialect {
    fn parse_filter(&self, _: Model, filter: DocRef<'_>) -> Result<Filter, String> {
        mongo_query::filter::parse(filter).map_err(|error| error.message)
    }
}
