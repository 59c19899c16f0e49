//! Projections: the part of a document to return, and computed fields.
//!
//! There are three passes, each over the result of the one before: fields are copied or omitted
//! (`copy`), from raw bytes to raw bytes; computed fields, evaluated over the original document,
//! are set (`compute`); parts of arrays are selected (`special`). Most projections need only the
//! first pass and decode nothing.

mod compute;
mod copy;
mod node;
mod special;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use document::{DocBuf, DocRef, MAX_DOCUMENT_BYTES, ValueRef};
use evaluation::{Context, Error, MAX_MADE_BYTES, too_large};

use crate::{expr::Env, filter::Filter};

pub use node::{Collision, Computed, Item, Node};
pub use special::Special;

/// Effect of a projection on the fields that it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The named fields are kept.
    Inclusion,
    /// The named fields are removed.
    Exclusion,
}

/// The projection of a find or a `$project` stage.
#[derive(Clone, Debug)]
pub struct Projection {
    /// Inclusion or exclusion. Projections of both modes may have computed fields.
    mode: Mode,
    node: Node,
    /// Array operations in the order of application.
    specials: Vec<Special>,
    /// The filter that the rows of a pipeline have matched, for the positional `$`.
    query_filter: Option<Arc<Filter>>,
}

impl Projection {
    /// Creates a projection from a tree of included, excluded or computed fields, and array
    /// operations.
    pub fn new(mode: Mode, node: Node, specials: Vec<Special>) -> Self {
        Self { mode, node, specials, query_filter: None }
    }

    /// Attaches the filter that the rows have matched, if the projection needs it. For a find that
    /// runs as a pipeline, whose rows the engine has filtered.
    pub fn over_filter(mut self, filter: &Filter) -> Self {
        if self.needs_filter() {
            self.query_filter = Some(Arc::new(filter.clone()));
        }
        self
    }

    /// Returns whether the named fields are kept or removed.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Returns the tree of named fields.
    pub fn node(&self) -> &Node {
        &self.node
    }

    /// Returns whether the projection leaves every document unchanged.
    pub fn is_identity(&self) -> bool {
        self.mode == Mode::Exclusion && self.node.is_empty() && self.specials.is_empty()
    }

    /// Returns whether the filter is needed to project a document, for the positional `$`.
    pub fn needs_filter(&self) -> bool {
        self.specials.iter().any(|special| matches!(special, Special::Positional { .. }))
    }

    /// Returns the dotted paths of a pure inclusion: an index that contains them covers the
    /// projection. `None` for any other projection.
    pub fn paths_needed(&self) -> Option<Vec<String>> {
        let pure =
            self.mode == Mode::Inclusion && self.specials.is_empty() && !self.node.has_computed();
        pure.then(|| self.node.dotted_paths())
    }

    /// Projects a document. `filter` is the filter it matched, for the positional `$`. Fails if a
    /// computed field fails, or if the result is too large.
    pub fn apply(
        &self,
        document: DocRef<'_>,
        filter: Option<&Filter>,
        context: &Context,
    ) -> Result<DocBuf, Error> {
        if self.is_identity() {
            return Ok(document.to_buf());
        }
        let filter = filter.or(self.query_filter.as_deref());
        let copied = copy::copy_document(document, &self.node, self.mode);
        if self.specials.is_empty() && !self.node.has_computed() {
            return Ok(copied);
        }
        // The tree takes several times the bytes of the copy while it exists.
        let _held = context.operation_memory.share_for_tree(copied.as_ref())?;
        let mut tree = copied.as_ref().to_tree();
        // Expressions see the original document, not the copy.
        let env = Env::new(document, context);
        compute::compute_fields(&mut tree, &self.node, &env, &mut env.new_growth())?;
        for special in &self.specials {
            special.apply_to(&mut tree, document, filter, context)?;
        }
        // The result may be several times as large as a stored document, and exists as a tree and
        // as bytes.
        let bytes = ValueRef::Document(DocRef::Tree(&tree)).encoded_len();
        if bytes > MAX_MADE_BYTES {
            return Err(too_large(bytes));
        }
        let mut room = context.operation_memory.share();
        if MAX_DOCUMENT_BYTES / 16 < bytes {
            room.grow(bytes)?;
        }
        Ok(tree.to_buf())
    }
}
