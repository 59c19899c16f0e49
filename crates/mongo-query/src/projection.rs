//! Projection documents, as find's option and as the `$project` stage.

use document::DocRef;
use query::project::Projection;

use crate::Error;

/// Parses the projection of a find.
pub fn parse_find(projection: DocRef<'_>) -> Result<Projection, Error> {
    let _ = projection;
    Ok(Projection {})
}

/// Parses the body of a `$project` stage.
pub fn parse_stage(projection: DocRef<'_>) -> Result<Projection, Error> {
    let _ = projection;
    Ok(Projection {})
}
