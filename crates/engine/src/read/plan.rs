//! What a query is (a filter, then stages), and what one batch of its answer may hold.

use bytes::Bytes;
use evaluation::Context;
use memory::Share;
use pipeline::{
    Filter,
    exec::{Source, Stage},
};

use crate::access::Hint;

/// What a query is: a filter, then stages.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Which documents.
    pub filter: Filter,
    /// What is done to them.
    pub stages: Vec<Stage>,
    /// A wish for an access path.
    pub hint: Hint,
}

impl Plan {
    /// A filter without stages.
    pub fn new(filter: Filter) -> Self {
        Self { filter, stages: Vec::new(), hint: Hint::None }
    }

    /// The same plan with these stages.
    pub fn with_stages(self, stages: Vec<Stage>) -> Self {
        Self { stages, ..self }
    }
}

/// How much a batch may hold; one document always fits.
#[derive(Clone, Copy, Debug)]
pub struct BatchLimit {
    /// Documents.
    pub documents: usize,
    /// Bytes of documents.
    pub bytes: usize,
}

impl Batch {
    /// One without documents yet, of this operation.
    pub(super) fn of_operation(context: &Context) -> Self {
        Self { held: context.holding.share(), ..Self::default() }
    }

    /// Bytes of the documents.
    pub fn bytes(&self) -> usize {
        self.documents.iter().map(Bytes::len).sum()
    }
}

/// Documents of one batch.
#[derive(Debug, Default)]
pub struct Batch {
    /// Well-formed BSON, one a document.
    pub documents: Vec<Bytes>,
    /// There is nothing after it.
    pub done: bool,
    /// What the documents hold until they are sent.
    pub held: Share,
    /// Where they came from, when that is asked for.
    /// One for each document; only queries inside a query ask for them.
    pub(super) sources: Option<Vec<Source>>,
}
