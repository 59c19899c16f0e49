//! Projections: which part of a document is returned, and what is computed beside it.

use document::{DocBuf, DocRef};

use crate::{Context, Error, Filter};

/// A projection.
#[derive(Clone, Debug)]
pub struct Projection {}

impl Projection {
    /// The projected document. `filter` is the one that the document met, for the positional `$`.
    pub fn apply(
        &self,
        document: DocRef<'_>,
        filter: Option<&Filter>,
        context: &Context,
    ) -> Result<DocBuf, Error> {
        let _ = (filter, context);
        Ok(document.to_buf())
    }
}
