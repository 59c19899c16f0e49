//! Pipelines: stages that turn rows into rows, driven by whoever has the rows.

use document::{DocBuf, DocRef};

use crate::{Context, Error};

/// One stage of a pipeline.
#[derive(Clone, Debug)]
pub enum Stage {}

/// Runs stages that keep one document one document (`$set`, `$unset`, `$project`, `$replaceWith`):
/// what updates with a pipeline use.
pub fn edit_with(
    stages: &[Stage],
    document: DocRef<'_>,
    context: &Context,
) -> Result<DocBuf, Error> {
    let _ = (stages, context);
    Ok(document.to_buf())
}
