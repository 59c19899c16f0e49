//! Filter documents (`{a: {$gt: 1}}`).

use document::DocRef;
use query::Filter;

use crate::Error;

/// Parses a filter document.
pub fn parse(filter: DocRef<'_>) -> Result<Filter, Error> {
    let _ = filter;
    Ok(Filter::And(Vec::new()))
}
