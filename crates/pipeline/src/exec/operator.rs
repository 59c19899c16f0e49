//! What a running stage does, and which one runs each stage of a plan.

use std::sync::Arc;

use document::DocRef;
use evaluation::{Context, Error, Holding};

use super::{
    Request, Row, Stage, bucket, caller_error, distinct::Distinct, each::Each, facet, graph, group,
    lookup, rows, sample, sort, unwind,
};

/// A running stage. Rows are pushed in and polled out, one at a time.
///
/// `poll_row` says `Need` until there is something to return; then a row is accepted, and it is
/// asked again. After `end_of_input` it returns what it still has and then `Done`.
pub(super) trait Operator: std::fmt::Debug + Send + Sync {
    /// Takes a row; only called after `poll_row` returned `Need`.
    /// It may fail; the pipeline is of no use after that.
    fn accept_row(&mut self, row: Row, context: &Arc<Context>) -> Result<(), Error>;

    /// Whether `poll_row` would say `Need` now, and nothing else: so may be said by a stage that
    /// returns nothing before the end of its input.
    fn is_gathering(&self) -> bool {
        false
    }

    /// Whether a document that is offered now can change what comes out.
    fn may_use(&self, document: DocRef<'_>) -> bool {
        let _ = document;
        true
    }

    /// Says that there are no more rows.
    /// It is called once.
    fn end_of_input(&mut self, context: &Arc<Context>) -> Result<(), Error>;

    /// What comes next. After `end_of_input` it does not return `Need` again.
    fn poll_row(&mut self, context: &Arc<Context>) -> Result<Poll, Error>;

    /// Takes the rows that it wanted.
    /// They went through the stages of the request before.
    fn supply_wanted(&mut self, rows: Vec<Row>) -> Result<(), Error> {
        drop(rows);
        Err(caller_error("this stage wanted nothing"))
    }

    /// Goes on in another view: wants again what it wanted, and forgets what it kept to answer
    /// later rows with.
    fn resume_input(&mut self) {}
}

/// What a running stage returns.
#[derive(Debug)]
pub(super) enum Poll {
    /// A row: more may follow at once.
    Row(Row),
    /// It needs another row, or the end of the input.
    Need,
    /// It needs rows of another collection.
    Want(Box<Request>),
    /// Others should run first.
    Pause,
    /// There are no more rows.
    Done,
}

/// The operator of a stage.
/// `None` past the end. Stages are cloned, as one plan may run several times.
pub(super) fn start_operator(
    stages: &Arc<[Stage]>,
    at: usize,
    holding: &Holding,
) -> Option<Box<dyn Operator>> {
    let stage = stages.get(at)?;
    Some(match stage {
        Stage::Limit(count) => Box::new(rows::Limit::new(*count)),
        Stage::Skip(count) => Box::new(rows::Skip::new(*count)),
        Stage::Count(name) => Box::new(rows::Count::new(name.clone())),
        Stage::Distinct(path) => Box::new(Distinct::new(path.clone(), holding)),
        Stage::Documents(expr) => Box::new(rows::Documents::new(expr.clone(), holding)),
        Stage::Sort { sort, limit } => {
            let next = stages.get(at + 1..).unwrap_or_default();
            // A limit after the sort is still there as a stage: this only keeps the sort from
            // holding more.
            let limit = rows_wanted(*limit, next);
            Box::new(sort::Sorting::new(sort.clone(), limit, holding))
        }
        Stage::Group(group) => Box::new(group::Grouping::new(group.clone(), holding)),
        Stage::Unwind(unwind) => Box::new(unwind::Unwinding::new(unwind.clone(), holding)),
        Stage::Lookup(lookup) => {
            Box::new(lookup::Joining::new((**lookup).clone(), stages.get(at + 1), holding))
        }
        Stage::GraphLookup(graph) => Box::new(graph::Walking::new((**graph).clone())),
        Stage::UnionWith(union) => Box::new(lookup::Uniting::new((**union).clone(), holding)),
        Stage::Facet(facets) => Box::new(facet::Faceting::new(facets, holding)),
        Stage::Sample(count) => Box::new(sample::Sampling::new(*count, holding)),
        Stage::BucketAuto(bucket) => Box::new(bucket::Bucketing::new((**bucket).clone(), holding)),
        Stage::Match(_)
        | Stage::Project(_)
        | Stage::AddFields(_)
        | Stage::ReplaceRoot { .. }
        | Stage::Redact(_) => Box::new(Each::new(Arc::clone(stages), at)),
    })
}

/// How many sorted rows are looked at: by the sort's own limit, and by the stages behind it
/// (`$limit`, or `$skip` and then `$limit`). A sort that knows holds no more than about twice as
/// many.
/// A limit after anything that drops or adds rows says nothing about the sort.
fn rows_wanted(own: Option<u64>, next: &[Stage]) -> Option<u64> {
    let behind = match next {
        [Stage::Limit(count), ..] => Some(*count),
        // What is skipped has to be sorted, too.
        [Stage::Skip(skipped), Stage::Limit(count), ..] => skipped.checked_add(*count),
        _ => None,
    };
    match (own, behind) {
        (Some(own), Some(behind)) => Some(own.min(behind)),
        (own, behind) => own.or(behind),
    }
}
