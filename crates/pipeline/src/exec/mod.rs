//! Pipelines: stages that turn rows into rows, driven by whoever has the rows. `Exec` neither reads
//! nor waits: it is offered rows, returns rows, and says when it needs more or wants another
//! collection's.
//!
//! Every stage is an [`Operator`]. Rows are pulled from the end: the last operator is asked for a
//! row; when it needs input, the one before it is asked, and so on to the input itself. A row that
//! comes is handed to the operator that needed it, which is then asked again. So a pipeline is a
//! loop over an index and not a recursion, and it can stop between any two steps: to let others
//! run, or to wait for rows of another collection.
//!
//! ```text
//! next():   at = 3 (the caller)
//!           Need?  at = 2:  poll operator 2  -> Need     at = 1
//!                           poll operator 1  -> Need     at = 0:  input -> row
//!           accept_row(operator 1)  at = 1 -> 2:  poll operator 1 -> row ...
//! ```

mod bucket;
mod distinct;
mod each;
mod facet;
mod fields;
mod graph;
mod group;
mod group_error;
mod group_row;
mod joins;
mod lookup;
mod meter;
mod operator;
mod others;
mod picked;
mod redact;
mod rows;
mod sample;
mod size;
mod slot;
mod sort;
mod spilling;
mod tally;
mod unwind;

pub use bucket::BucketAuto;
pub use distinct::VALUES;
pub use each::edit_with;
pub use fields::{Conflict, Entry, Fields};
pub use graph::GraphLookup;
pub use group::Group;
pub use joins::Source;
pub use lookup::{Lookup, UnionWith};
pub use others::other_collections;
pub use tally::Tally;
pub use unwind::Unwind;

use std::{collections::VecDeque, sync::Arc};

use document::{DocBuf, DocRef, Path};
use evaluation::{Context, Error, Kind};
use memory::Share;

use crate::{expr::Expr, filter::Filter, project::Projection, sort::Sort};

use meter::Meter;
use operator::{Operator, Poll};

/// One stage of a pipeline, as the parser makes it; `exec/operator.rs` says which operator runs it.
#[derive(Clone, Debug)]
pub enum Stage {
    /// Rows that meet a condition.
    Match(Filter),
    /// Part of each row, and computed fields.
    Project(Projection),
    /// Fields computed and set in each row.
    AddFields(Fields),
    /// Rows in order; with a limit, only the first so many.
    Sort {
        /// The order.
        sort: Sort,
        /// How many rows are wanted.
        limit: Option<u64>,
    },
    /// The first so many rows.
    Limit(u64),
    /// All but the first so many rows.
    Skip(u64),
    /// One row with the number of rows under this name; none for no rows.
    Count(String),
    /// One row with the values at a path, each once, under the name [`VALUES`].
    Distinct(Path),
    /// One row a group.
    Group(Group),
    /// One row an element of an array.
    Unwind(Unwind),
    /// Rows of another collection beside each row.
    Lookup(Box<Lookup>),
    /// A computed document in place of each row.
    ReplaceRoot {
        /// The document.
        root: Expr,
        /// What messages call it.
        called: &'static str,
    },
    /// One row with the results of several pipelines over the same rows.
    Facet(Vec<(String, Arc<[Stage]>)>),
    /// So many random rows.
    Sample(u64),
    /// Rows in a number of groups of about the same size.
    BucketAuto(Box<BucketAuto>),
    /// Then the rows of another collection.
    UnionWith(Box<UnionWith>),
    /// Rows without the parts that an expression prunes.
    Redact(Expr),
    /// Documents of another collection that references lead to.
    GraphLookup(Box<GraphLookup>),
    /// Rows that an expression computes, instead of any input.
    Documents(Expr),
}

impl Stage {
    /// Its name, as messages have it.
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

    /// Whether it returns a row before it has seen all rows. Only such stages can be stopped early
    /// by a limit behind them.
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

/// Whether a pipeline answers rows before it has seen all of them.
pub fn is_streaming(stages: &[Stage]) -> bool {
    stages.iter().all(Stage::is_streaming)
}

/// A document on its way through a pipeline, with where it came from.
#[derive(Clone, Debug)]
pub struct Row {
    /// The document.
    pub document: DocBuf,
    /// Where it came from.
    pub source: Source,
}

impl Row {
    /// A row that is not a stored document.
    pub fn not_stored(document: DocBuf) -> Self {
        Self { document, source: Source::default() }
    }

    /// About the bytes that the row holds.
    pub fn memory_bytes(&self) -> usize {
        self.document.bytes().len() + self.source.weight_of_source() + 64
    }
}

/// What a pipeline wants of another collection. Its documents go through the stages before they
/// come back.
#[derive(Clone, Debug)]
pub struct Request {
    /// Its database, when it is another one.
    pub database: Option<String>,
    /// Its name.
    pub collection: String,
    /// Which of its documents; an index may serve it.
    pub filter: Filter,
    /// What is done to them then.
    pub stages: Arc<[Stage]>,
    /// The operation the stages run in, with the variables of the row that asks.
    pub context: Arc<Context>,
}

/// What comes next. The caller does what it says and asks again.
#[derive(Debug)]
pub enum Next {
    /// A row.
    Row(Row),
    /// Offer a row, or finish.
    NeedInput,
    /// Supply the rows of another collection.
    Want(Request),
    /// Enough was done that others should run; then ask again.
    Pause,
    /// There are no more rows; further input is not needed.
    Done,
}

/// Work of handing a row to a stage, beside its bytes.
const STEP: usize = 1024;

/// A running pipeline.
#[derive(Debug)]
pub struct Exec {
    /// The stages, running, in the order of the pipeline.
    operators: Vec<Box<dyn Operator>>,
    /// The operation.
    context: Arc<Context>,
    /// Rows that were offered and that no operator has taken yet.
    input: VecDeque<Row>,
    /// Whether the caller has no more rows.
    finished: bool,
    /// Whether the operators know that.
    ended: bool,
    /// The operator that wants rows of another collection.
    waiting: Option<usize>,
    /// What the row on its way holds.
    moving: Share,
}

impl Exec {
    /// A pipeline at its start.
    pub fn new(stages: impl Into<Arc<[Stage]>>, context: Arc<Context>) -> Self {
        let stages: Arc<[Stage]> = stages.into();
        let start = |at| operator::start_operator(&stages, at, &context.holding);
        let operators = (0..stages.len()).filter_map(start).collect();
        let moving = context.holding.share();
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

    /// Takes a row in; the caller offers one when [`Next::NeedInput`] asked for it.
    pub fn offer_row(&mut self, row: Row) -> Result<(), Error> {
        if self.finished {
            return Err(caller_error("a row was offered after the end of the input"));
        }
        // A stage that gathers takes it at once, without a turn of the loop for each row.
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

    /// Whether it makes a difference to offer a row with this document. Asked first, it spares making
    /// the row.
    pub fn may_use(&self, document: DocRef<'_>) -> bool {
        self.operators.first().is_none_or(|first| first.may_use(document))
    }

    /// There is no more input.
    pub fn finish_input(&mut self) {
        self.finished = true;
    }

    /// Returns what comes next. It returns as soon as there is a row, so memory is bounded by what
    /// stages hold.
    #[expect(clippy::should_implement_trait, reason = "it fails, and its end is not an iterator's")]
    pub fn next(&mut self) -> Result<Next, Error> {
        if self.waiting.is_some() {
            return Err(caller_error("rows of another collection are still wanted"));
        }
        // `at` is who wants a row: an operator, or the caller behind the last one.
        let last = self.operators.len();
        let mut at = last;
        loop {
            // A pipeline that drops every row would otherwise never return.
            if self.context.budget.is_due() {
                return Ok(Next::Pause);
            }
            // Whoever is behind `at` wants a row from the operator before it.
            let poll = match at.checked_sub(1) {
                None => self.poll_input(),
                Some(before) => match self.operators.get_mut(before) {
                    Some(operator) => operator.poll_row(&self.context)?,
                    None => Poll::Done,
                },
            };
            // What came decides who is asked next: one stage to the front, or one to the back.
            match poll {
                Poll::Need if at == 0 => return Ok(Next::NeedInput),
                Poll::Need => at -= 1,
                Poll::Want(request) => {
                    // Who is before `at` has asked, and gets the rows.
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
                // The stage before has no more: this one is told, and asked for what it still has.
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

    /// A row of the input, or whether there can be another.
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

    /// Goes on in another view: what is wanted of other collections is wanted again, and what was
    /// kept of them is forgotten, since documents may have changed or expired.
    pub fn resume(&mut self) {
        self.waiting = None;
        self.operators.iter_mut().for_each(|operator| operator.resume_input());
    }

    /// Hands over the rows that were wanted.
    pub fn supply(&mut self, rows: Vec<Row>) -> Result<(), Error> {
        // Its answer arrives only once.
        let waiting = self.waiting.take().and_then(|at| self.operators.get_mut(at));
        match waiting {
            Some(operator) => operator.supply_wanted(rows),
            None => Err(caller_error("nothing was wanted of another collection")),
        }
    }
}

/// Gives a row to a stage that needs it.
fn hand_over(
    row: Row,
    operator: &mut dyn Operator,
    context: &Arc<Context>,
    moving: &mut Share,
) -> Result<(), Error> {
    let bytes = row.document.bytes().len();
    context.budget.spend(STEP + bytes)?;
    // Small ones cost nothing. A buffer may have room for as much again.
    moving.set(2 * bytes)?;
    operator.accept_row(row, context)
}

/// A failure of the caller, not of the request.
fn caller_error(what: &str) -> Error {
    Error::new(Kind::Invalid, 8, what)
}
