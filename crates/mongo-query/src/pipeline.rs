//! Aggregation pipelines.

use document::ArrayRef;
use query::exec::Stage;

use crate::Error;

/// Parses the pipeline of an update: only stages that keep one document one document.
pub fn parse_update(pipeline: ArrayRef<'_>) -> Result<Vec<Stage>, Error> {
    let _ = pipeline;
    Ok(Vec::new())
}
