//! A query (a filter, then stages), and the limits of a batch.

use bytes::Bytes;
use evaluation::Context;
use memory::Share;
use pipeline::{
    Filter,
    exec::{Source, Stage},
};

use crate::access::Hint;

/// A query: a filter, then stages.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Filter that selects the documents.
    pub filter: Filter,
    /// Stages applied to the matching documents.
    pub stages: Vec<Stage>,
    /// Access path that the client requests.
    pub hint: Hint,
    /// The form in which each document is returned.
    pub output: Output,
}

/// Part of each document that a query returns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Output {
    /// The document as the stages return it.
    #[default]
    Document,
    /// The document, with the second of its write in a last field `_ts` if no stage has changed it.
    WithSecond,
    /// The document, with an identifier of its row in a last field `$recordId`.
    WithRecordId,
    /// The key of the index that is read, by which the document was found; an empty document if no
    /// index is read.
    IndexKey,
}

impl Plan {
    /// Creates a plan without stages.
    pub fn new(filter: Filter) -> Self {
        Self { filter, stages: Vec::new(), hint: Hint::None, output: Output::Document }
    }

    /// Returns whether a stage sorts.
    pub fn sorts(&self) -> bool {
        self.stages.iter().any(|stage| matches!(stage, Stage::Sort { .. }))
    }

    /// Returns the equivalent plan whose filter contains the filters that are its first stages, so
    /// that an index can serve them.
    pub(super) fn with_leading_filters(self) -> Self {
        let Self { filter, stages, hint, output } = self;
        let mut filters = vec![filter];
        let mut rest = stages.into_iter().peekable();
        while let Some(Stage::Match(filter)) = rest.next_if(|it| matches!(it, Stage::Match(_))) {
            filters.push(filter);
        }
        filters.retain(|filter| !filter.is_always());
        Self { filter: Filter::all(filters), stages: rest.collect(), hint, output }
    }

    /// Returns the plan with these stages instead of its own.
    pub fn with_stages(self, stages: Vec<Stage>) -> Self {
        Self { stages, ..self }
    }
}

/// Maximum size of a batch; one document always fits.
#[derive(Clone, Copy, Debug)]
pub struct BatchLimit {
    /// Maximum number of documents in a batch.
    pub documents: usize,
    /// Maximum total size of the documents in bytes.
    pub bytes: usize,
}

impl Batch {
    /// Creates an empty batch of an operation.
    pub(super) fn of_operation(context: &Context) -> Self {
        Self { held: context.operation_memory.share(), ..Self::default() }
    }

    /// Returns the total bytes of the documents.
    pub fn bytes(&self) -> usize {
        self.documents.iter().map(Bytes::len).sum()
    }
}

/// The documents of one batch.
#[derive(Debug, Default)]
pub struct Batch {
    /// The documents of the batch as well-formed BSON.
    pub documents: Vec<Bytes>,
    /// Whether this is the last batch.
    pub done: bool,
    /// Memory reserved for the documents until they are sent.
    pub held: Share,
    /// Source of each document; recorded only for nested queries.
    pub(super) sources: Option<Vec<Source>>,
}
