//! The interface of a running stage, the operator of each stage of a plan, and the state of a stage
//! that processes one row at a time.

use std::sync::Arc;

use document::DocRef;
use evaluation::{Context, Error, OperationMemory};

use super::{
    Request, Row, Stage, bucket, caller_error, distinct::Distinct, each::Each, facet, graph, group,
    lookup, rows, sample, sort, unwind,
};

/// A running stage. Rows are pushed in and polled, one at a time.
///
/// If `poll_row` returns `Need`, the caller passes in a row and polls the stage again. After
/// `end_of_input` the stage returns its remaining rows and then `Done`.
pub(super) trait Operator: std::fmt::Debug + Send + Sync {
    /// Accepts a row; called only after `poll_row` returned `Need`. After an error the pipeline is
    /// unusable.
    fn accept_row(&mut self, row: Row, context: &Arc<Context>) -> Result<(), Error>;

    /// Returns true only if `poll_row` would return `Need` now. Implemented by stages that return
    /// nothing before the end of their input.
    fn is_gathering(&self) -> bool {
        false
    }

    /// Returns whether this document, if offered now, could affect the result.
    fn may_use(&self, document: DocRef<'_>, context: &Context) -> bool {
        let _ = (document, context);
        true
    }

    /// Ends the input; called once.
    fn end_of_input(&mut self, context: &Arc<Context>) -> Result<(), Error>;

    /// Returns a row, or the reason why there is no row yet. After `end_of_input` it does not
    /// return `Need` again.
    fn poll_row(&mut self, context: &Arc<Context>) -> Result<Poll, Error>;

    /// Supplies requested rows, to which the stages of the request were applied.
    fn supply_wanted(&mut self, rows: Vec<Row>) -> Result<(), Error> {
        drop(rows);
        Err(caller_error("this stage wanted nothing"))
    }

    /// Continues in another view: repeats an outstanding request and drops rows kept for later
    /// input rows.
    fn resume_input(&mut self) {}
}

/// The result of polling a running stage.
#[derive(Debug)]
pub(super) enum Poll {
    /// A row of the result; more may follow immediately.
    Row(Row),
    /// Another row, or the end of the input, is needed.
    Need,
    /// Rows of another collection are needed.
    Want(Box<Request>),
    /// The task should yield to others before the next call.
    Pause,
    /// There are no more rows.
    Done,
}

/// Creates the operator of a stage; `None` if there is no stage at `at`. Stages are cloned, since a
/// plan may run several times.
pub(super) fn start_operator(
    stages: &Arc<[Stage]>,
    at: usize,
    operation_memory: &OperationMemory,
) -> Option<Box<dyn Operator>> {
    let stage = stages.get(at)?;
    Some(match stage {
        Stage::Limit(count) => Box::new(rows::Limit::new(*count)),
        Stage::Skip(count) => Box::new(rows::Skip::new(*count)),
        Stage::Count(name) => Box::new(rows::Count::new(name.clone())),
        Stage::Distinct(path) => Box::new(Distinct::new(path.clone(), operation_memory)),
        Stage::Documents(expr) => Box::new(rows::Documents::new(expr.clone(), operation_memory)),
        Stage::Sort { sort, limit } => {
            let next = stages.get(at + 1..).unwrap_or_default();
            // The limit stage remains: this only saves memory of the sort.
            let limit = rows_wanted(*limit, next);
            Box::new(sort::SortOperator::new(sort.clone(), limit, operation_memory))
        }
        Stage::Group(group) => Box::new(group::GroupOperator::new(group.clone(), operation_memory)),
        Stage::Unwind(unwind) => {
            Box::new(unwind::UnwindOperator::new(unwind.clone(), operation_memory))
        }
        Stage::Lookup(lookup) => Box::new(lookup::LookupOperator::new(
            (**lookup).clone(),
            stages.get(at + 1),
            operation_memory,
        )),
        Stage::GraphLookup(graph) => Box::new(graph::GraphLookupOperator::new((**graph).clone())),
        Stage::UnionWith(union) => {
            Box::new(lookup::UnionOperator::new((**union).clone(), operation_memory))
        }
        Stage::Facet(facets) => Box::new(facet::FacetOperator::new(facets, operation_memory)),
        Stage::Sample(count) => Box::new(sample::SampleOperator::new(*count, operation_memory)),
        Stage::BucketAuto(bucket) => {
            Box::new(bucket::BucketAutoOperator::new((**bucket).clone(), operation_memory))
        }
        Stage::Match(_)
        | Stage::Project(_)
        | Stage::AddFields(_)
        | Stage::ReplaceRoot { .. }
        | Stage::Redact(_) => Box::new(Each::new(Arc::clone(stages), at)),
    })
}

/// Returns how many sorted rows are needed, according to the sort's own limit and the following
/// stages (`$limit`, or `$skip` and `$limit`). With a limit a sort holds about twice as many rows
/// at most. A later `$limit` after stages that drop or add rows does not count.
fn rows_wanted(own: Option<u64>, next: &[Stage]) -> Option<u64> {
    let behind = match next {
        [Stage::Limit(count), ..] => Some(*count),
        // The skipped rows count as well, because they are sorted, too.
        [Stage::Skip(skipped), Stage::Limit(count), ..] => skipped.checked_add(*count),
        _ => None,
    };
    match (own, behind) {
        (Some(own), Some(behind)) => Some(own.min(behind)),
        (own, behind) => own.or(behind),
    }
}

/// The slot for the only row in a stage that processes one row at a time, and whether the input has
/// ended. For all such stages it decides between `Need` and `Done`.
#[derive(Debug, Default)]
pub(super) struct Slot {
    /// The row, until it is taken.
    pub(super) row: Option<Row>,
    /// Whether the input has ended.
    pub(super) ended: bool,
}

impl Slot {
    /// Takes the row; if the slot is empty, returns whether a row can still follow.
    pub(super) fn poll_slot(&mut self) -> Poll {
        match self.row.take() {
            Some(row) => Poll::Row(row),
            None if self.ended => Poll::Done,
            None => Poll::Need,
        }
    }
}
