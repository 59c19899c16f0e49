//! Sort documents (`{a: 1, b: -1}`).

use document::DocRef;
use query::sort::Sort;

use crate::Error;

/// Parses a sort document.
pub fn parse(sort: DocRef<'_>) -> Result<Sort, Error> {
    let _ = sort;
    Ok(Sort::default())
}
