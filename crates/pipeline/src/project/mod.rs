//! Projections: which part of a document is returned, and what is computed beside it.
//!
//! Three passes, each over what the one before made: fields are copied or left out (`copy`), from
//! raw bytes to raw bytes; computed fields are set (`compute`) over the original document; parts of
//! arrays are cut (`special`). Most projections need the first pass alone, and decode nothing.

mod compute;
mod copy;
mod node;
mod special;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use document::{DocBuf, DocRef, ValueRef};
use evaluation::{
    Context, Error,
    limits::{MAX_DOCUMENT_BYTES, MAX_MADE_BYTES},
    too_large,
};

use crate::{expr::Env, filter::Filter};

pub use node::{Collision, Computed, Item, Node};
pub use special::Special;

/// What the named fields are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The ones that stay.
    Inclusion,
    /// The ones that go.
    Exclusion,
}

/// A projection.
#[derive(Clone, Debug)]
pub struct Projection {
    /// Computed fields are there in both.
    mode: Mode,
    node: Node,
    /// In the order in which they are done.
    specials: Vec<Special>,
    /// The filter that rows of a pipeline met, for the positional `$`.
    over: Option<Arc<Filter>>,
}

impl Projection {
    /// Includes or excludes the fields of a tree, computes others, then does what is special.
    pub fn new(mode: Mode, node: Node, specials: Vec<Special>) -> Self {
        Self { mode, node, specials, over: None }
    }

    /// The same projection of rows that met this filter, which is kept if the projection needs it.
    /// For a find that runs as a pipeline: the engine has matched the filter before rows come here.
    pub fn over_filter(mut self, filter: &Filter) -> Self {
        if self.needs_filter() {
            self.over = Some(Arc::new(filter.clone()));
        }
        self
    }

    /// What the named fields are.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// The named fields.
    pub fn node(&self) -> &Node {
        &self.node
    }

    /// Whether every document stays as it is.
    /// Then its bytes are returned without a pass over the fields.
    pub fn is_identity(&self) -> bool {
        self.mode == Mode::Exclusion && self.node.is_empty() && self.specials.is_empty()
    }

    /// Whether the filter that a document met is needed to project it: for the positional `$`.
    pub fn needs_filter(&self) -> bool {
        self.specials.iter().any(|special| matches!(special, Special::Positional { .. }))
    }

    /// The dotted paths of a pure inclusion: what an index would have to hold to answer alone.
    /// Nothing for any other projection.
    pub fn paths_needed(&self) -> Option<Vec<String>> {
        let pure =
            self.mode == Mode::Inclusion && self.specials.is_empty() && !self.node.has_computed();
        pure.then(|| self.node.dotted_paths())
    }

    /// The projected document. `filter` is the one that the document met, for the positional `$`.
    /// Fails when a computed field fails, or the result is too large.
    pub fn apply(
        &self,
        document: DocRef<'_>,
        filter: Option<&Filter>,
        context: &Context,
    ) -> Result<DocBuf, Error> {
        if self.is_identity() {
            return Ok(document.to_buf());
        }
        let filter = filter.or(self.over.as_deref());
        let copied = copy::copy_document(document, &self.node, self.mode);
        if self.specials.is_empty() && !self.node.has_computed() {
            return Ok(copied);
        }
        // The copy becomes a tree, which takes several times its bytes for as long as it is there.
        let _held = context.holding.share_for_tree(copied.as_ref())?;
        let mut tree = copied.as_ref().to_tree();
        // Expressions see the document as it was, not what the copy left of it.
        let env = Env::new(document, context);
        compute::compute_fields(&mut tree, &self.node, &env, &mut env.new_growth())?;
        for special in &self.specials {
            special.apply_to(&mut tree, document, filter, context)?;
        }
        // It may be several times as large as a stored one, and is there as a tree and as bytes.
        let bytes = ValueRef::Document(DocRef::Tree(&tree)).encoded_len();
        if bytes > MAX_MADE_BYTES {
            return Err(too_large(bytes));
        }
        let mut room = context.holding.share();
        if MAX_DOCUMENT_BYTES / 16 < bytes {
            room.grow(bytes)?;
        }
        Ok(tree.to_buf())
    }
}
