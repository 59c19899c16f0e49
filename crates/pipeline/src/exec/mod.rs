//! Runs pipelines of stages over rows. `Exec` does not read collections and does not wait: the
//! caller offers input rows, and `Exec` returns rows, or requests input or rows of another
//! collection.
//!
//! Every stage is an [`Operator`]. Rows are pulled from the end: the last operator is polled for a
//! row; if it needs input, the one before it is polled, and so on up to the input. A row is passed
//! to the operator that needed it, which is then polled again. So a pipeline is a loop over an
//! index and not a recursion, and it can stop between any two steps: to yield, or to wait for rows
//! of another collection.
//!
//! ```text
//! next():   at = 3 (the caller)
//!           Need?  at = 2:  poll operator 2  -> Need     at = 1
//!                           poll operator 1  -> Need     at = 0:  input -> row
//!           accept_row(operator 1)  at = 1 -> 2:  poll operator 1 -> row ...
//! ```

mod bucket;
mod count_pipeline;
mod distinct;
mod each;
mod facet;
mod fields;
mod graph;
mod group;
mod group_fields;
mod group_row;
mod joins;
mod lookup;
mod meter;
mod operator;
mod other_collections;
mod redact;
mod rows;
mod sample;
mod size;
mod sort;
mod spilling;
mod unwind;

pub use bucket::BucketAuto;
pub use count_pipeline::CountPipeline;
pub use distinct::VALUES;
pub use each::edit_with;
pub use fields::{Conflict, Entry, Fields};
pub use graph::GraphLookup;
pub use group::Group;
pub use joins::Source;
pub use lookup::{Lookup, UnionWith};
pub use other_collections::other_collections;
pub use unwind::Unwind;

use std::{collections::VecDeque, sync::Arc};

use document::{DocBuf, DocRef, Path};
use evaluation::{Context, Error, Kind};
use memory::Share;

use crate::{expr::Expr, filter::Filter, project::Projection, sort::Sort};

use meter::Meter;
use operator::{Operator, Poll};

/// One stage of a pipeline, as the parser makes it. `exec/operator.rs` has the operator of each.
#[derive(Clone, Debug)]
pub enum Stage {
    /// Keeps the rows that match a filter.
    Match(Filter),
    /// Replaces each row by some of its fields and by computed ones.
    Project(Projection),
    /// Sets computed fields in each row.
    AddFields(Fields),
    /// Sorts the rows; with a limit, returns only the first ones.
    Sort {
        /// The order to sort the rows in.
        sort: Sort,
        /// The maximum number of rows; `None` for all.
        limit: Option<u64>,
    },
    /// Keeps this number of first rows.
    Limit(u64),
    /// Skips this number of first rows.
    Skip(u64),
    /// Returns one row with the number of rows in this field; no row if there are none.
    Count(String),
    /// Returns one row with the distinct values at a path in the field [`VALUES`].
    Distinct(Path),
    /// Returns one row per group.
    Group(Group),
    /// Returns one row per element of an array.
    Unwind(Unwind),
    /// Adds rows of another collection to each row.
    Lookup(Box<Lookup>),
    /// Replaces each row by a computed document.
    ReplaceRoot {
        /// The expression of the document.
        root: Expr,
        /// Name of the stage in error messages, which has two spellings.
        called: &'static str,
    },
    /// Returns one row with the results of several pipelines over the same rows.
    Facet(Vec<(String, Arc<[Stage]>)>),
    /// Returns this number of random rows.
    Sample(u64),
    /// Distributes the rows over a number of groups of about the same size.
    BucketAuto(Box<BucketAuto>),
    /// Appends the rows of another collection.
    UnionWith(Box<UnionWith>),
    /// Removes the parts of each row for which an expression requests it (`$redact`).
    Redact(Expr),
    /// Adds to each row the documents of another collection that it refers to, directly or
    /// indirectly.
    GraphLookup(Box<GraphLookup>),
    /// Returns computed rows instead of any input.
    Documents(Expr),
}

impl Stage {
    /// Returns the stage's name in messages.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Match(_) => "$match",
            Self::Project(_) => "$project",
            Self::AddFields(_) => "$addFields",
            Self::Sort { .. } => "$sort",
            Self::Limit(_) => "$limit",
            Self::Skip(_) => "$skip",
            Self::Count(_) => "$count",
            Self::Distinct(_) => "distinct",
            Self::Group(_) => "$group",
            Self::Unwind(_) => "$unwind",
            Self::Lookup(_) => "$lookup",
            Self::ReplaceRoot { .. } => "$replaceRoot",
            Self::Facet(_) => "$facet",
            Self::Sample(_) => "$sample",
            Self::BucketAuto(_) => "$bucketAuto",
            Self::UnionWith(_) => "$unionWith",
            Self::Redact(_) => "$redact",
            Self::GraphLookup(_) => "$graphLookup",
            Self::Documents(_) => "$documents",
        }
    }

    /// Returns whether the stage may return a row before the end of its input. Only such stages can
    /// be stopped early by a later limit.
    pub fn is_streaming(&self) -> bool {
        !matches!(
            self,
            Self::Sort { .. }
                | Self::Count(_)
                | Self::Distinct(_)
                | Self::Group(_)
                | Self::Facet(_)
                | Self::Sample(_)
                | Self::BucketAuto(_)
        )
    }
}

/// Returns whether a pipeline may return rows before the end of its input.
pub fn is_streaming(stages: &[Stage]) -> bool {
    stages.iter().all(Stage::is_streaming)
}

/// A document in a pipeline, with its source.
#[derive(Clone, Debug)]
pub struct Row {
    /// The document, as raw BSON bytes.
    pub document: DocBuf,
    /// The stored documents from which the row was computed.
    pub source: Source,
}

impl Row {
    /// Creates a row that was not made of stored documents.
    pub fn not_stored(document: DocBuf) -> Self {
        Self { document, source: Source::default() }
    }

    /// Returns the approximate memory of the row, in bytes.
    pub fn memory_bytes(&self) -> usize {
        self.document.bytes().len() + self.source.weight_of_source() + 64
    }
}

/// A request for rows of another collection. The caller applies the stages to them before it
/// supplies them.
#[derive(Clone, Debug)]
pub struct Request {
    /// The collection's database, if it is a different one.
    pub database: Option<String>,
    /// The name of the collection.
    pub collection: String,
    /// The filter, which an index may serve.
    pub filter: Filter,
    /// The stages to apply to the filtered documents.
    pub stages: Arc<[Stage]>,
    /// The context of the stages, with the variables of the requesting row.
    pub context: Arc<Context>,
}

/// The next action for the caller of a pipeline, before calling again.
#[derive(Debug)]
pub enum Next {
    /// A row of the pipeline's result.
    Row(Row),
    /// Input is needed: offer a row, or finish the input.
    NeedInput,
    /// Rows of another collection are needed: supply them.
    Want(Request),
    /// The caller should yield to other tasks and then call again.
    Pause,
    /// There are no more rows, and no input is needed.
    Done,
}

/// Units of work charged for passing a row to a stage, besides its bytes.
const STEP: usize = 1024;

/// A pipeline that is being run.
#[derive(Debug)]
pub struct Exec {
    /// The running stages, in order.
    operators: Vec<Box<dyn Operator>>,
    context: Arc<Context>,
    /// Offered rows that no operator has taken yet.
    input: VecDeque<Row>,
    /// Whether the caller has finished the input.
    finished: bool,
    /// Whether the operators were notified of the end of the input.
    ended: bool,
    /// Index of the operator that waits for rows of another collection.
    waiting: Option<usize>,
    /// Memory of the row that is being passed from one stage to the next.
    moving: Share,
}

impl Exec {
    /// Starts a pipeline without any input.
    pub fn new(stages: impl Into<Arc<[Stage]>>, context: Arc<Context>) -> Self {
        let stages: Arc<[Stage]> = stages.into();
        let start = |at| operator::start_operator(&stages, at, &context.operation_memory);
        let operators = (0..stages.len()).filter_map(start).collect();
        let moving = context.operation_memory.share();
        Self {
            operators,
            context,
            input: VecDeque::new(),
            finished: false,
            ended: false,
            waiting: None,
            moving,
        }
    }

    /// Passes an input row to the pipeline, as [`Next::NeedInput`] requests.
    pub fn offer_row(&mut self, row: Row) -> Result<(), Error> {
        if self.finished {
            return Err(caller_error("a row was offered after the end of the input"));
        }
        // A blocking first stage takes the row right away, without a call of `next`.
        let at_once = self.input.is_empty() && !self.context.budget.would_be_due();
        match self.operators.first_mut().filter(|first| first.is_gathering()) {
            Some(first) if at_once => {
                hand_over(row, first.as_mut(), &self.context, &mut self.moving)
            }
            _ => {
                self.input.push_back(row);
                Ok(())
            }
        }
    }

    /// Returns whether offering this document could affect the result. Callers check this first, to
    /// save making a row.
    pub fn may_use(&self, document: DocRef<'_>) -> bool {
        self.operators.first().is_none_or(|first| first.may_use(document, &self.context))
    }

    /// Ends the input; no row may follow.
    pub fn finish_input(&mut self) {
        self.finished = true;
    }

    /// Runs the stages until the caller has to act; returns the action. Returns as soon as there is
    /// a row, so only the stages hold memory.
    #[expect(
        clippy::should_implement_trait,
        reason = "the method can fail, so it cannot implement Iterator"
    )]
    pub fn next(&mut self) -> Result<Next, Error> {
        if self.waiting.is_some() {
            return Err(caller_error("rows of another collection are still requested"));
        }
        // `at` is the operator that needs a row, or the caller after the last one.
        let last = self.operators.len();
        let mut at = last;
        loop {
            // A pipeline that drops every row would otherwise never return.
            if self.context.budget.is_due() {
                return Ok(Next::Pause);
            }
            let poll = match at.checked_sub(1) {
                None => self.poll_input(),
                Some(before) => match self.operators.get_mut(before) {
                    Some(operator) => operator.poll_row(&self.context)?,
                    None => Poll::Done,
                },
            };
            // The result decides which operator is polled next: the one before or the one after.
            match poll {
                Poll::Need if at == 0 => return Ok(Next::NeedInput),
                Poll::Need => at -= 1,
                Poll::Want(request) => {
                    // The operator before `at` made the request and gets the rows.
                    self.waiting = at.checked_sub(1);
                    return Ok(Next::Want(*request));
                }
                Poll::Row(row) => match self.operators.get_mut(at) {
                    None => return Ok(Next::Row(row)),
                    Some(operator) => {
                        hand_over(row, operator.as_mut(), &self.context, &mut self.moving)?;
                        at += 1;
                    }
                },
                Poll::Pause => return Ok(Next::Pause),
                // The stage before has ended: this one is notified, and polled for its remaining
                // rows.
                Poll::Done => match self.operators.get_mut(at) {
                    None => return Ok(Next::Done),
                    Some(operator) => {
                        operator.end_of_input(&self.context)?;
                        at += 1;
                    }
                },
            }
        }
    }

    /// Returns a row of the input, or whether more may come.
    fn poll_input(&mut self) -> Poll {
        match self.input.pop_front() {
            Some(row) => Poll::Row(row),
            None if self.finished => {
                self.ended = true;
                Poll::Done
            }
            None => Poll::Need,
        }
    }

    /// Continues in another view. Requests are repeated, and kept rows of other collections are
    /// dropped, since documents may have changed or expired.
    pub fn resume(&mut self) {
        self.waiting = None;
        self.operators.iter_mut().for_each(|operator| operator.resume_input());
    }

    /// Supplies the rows that were requested by [`Next::Want`].
    pub fn supply(&mut self, rows: Vec<Row>) -> Result<(), Error> {
        let waiting = self.waiting.take().and_then(|at| self.operators.get_mut(at));
        match waiting {
            Some(operator) => operator.supply_wanted(rows),
            None => Err(caller_error("no rows of another collection were requested")),
        }
    }
}

/// Passes a row to a stage.
fn hand_over(
    row: Row,
    operator: &mut dyn Operator,
    context: &Arc<Context>,
    moving: &mut Share,
) -> Result<(), Error> {
    let bytes = row.document.bytes().len();
    context.budget.spend(STEP + bytes)?;
    // Small rows need no reservation. A buffer may have twice the capacity it needs.
    moving.set(2 * bytes)?;
    operator.accept_row(row, context)
}

/// Returns the error of an incorrect call, rather than of the request.
fn caller_error(what: &str) -> Error {
    Error::new(Kind::Invalid, 8, what)
}
