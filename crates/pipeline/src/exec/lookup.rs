//! Joins: rows of another collection added to each row (`$lookup`) or after all rows
//! (`$unionWith`). The other collection is requested with a filter that an index can serve; the
//! engine reads it in the same view as the input.
//!
//! There is one request per row, unless every row has the same request: then its answer is kept.

use std::{collections::VecDeque, sync::Arc};

use document::{DocRef, Path, Value, ValueRef};
use evaluation::{Context, Error, Kind, MAX_MADE_BYTES, OperationMemory, STEP, memory_of};

use super::{
    Meter, Request, Row, Stage,
    joins::{Sources, set_at_path},
    operator::{Operator, Poll, Slot},
    size::{checked_size, room_for},
};
use crate::{
    expr::{Env, Expr},
    filter::{Comparison, Filter, InSet, PathTest},
    path::values_for_join,
};

/// The `$lookup` stage of a plan. With both an equality and stages, the stages process the
/// documents that satisfy the equality.
#[derive(Clone, Debug)]
pub struct Lookup {
    /// The other collection's database, if it is a different one.
    pub database: Option<String>,
    /// The name of the other collection.
    pub collection: String,
    /// The path that receives the array of joined rows.
    pub name: Path,
    /// The paths in the row and in the other collection that must have equal values. An array at
    /// the row's path joins by each of its elements.
    pub join: Option<(Path, Path)>,
    /// Variables (`let`), evaluated over the row.
    pub variables: Vec<(Arc<str>, Expr)>,
    /// The stages applied to the rows of the other collection.
    pub stages: Arc<[Stage]>,
}

/// The `$unionWith` stage of a plan.
#[derive(Clone, Debug)]
pub struct UnionWith {
    /// The other collection's database, if it is a different one.
    pub database: Option<String>,
    /// The name of the other collection.
    pub collection: String,
    /// The stages applied to the rows of the other collection.
    pub stages: Arc<[Stage]>,
}

impl Lookup {
    /// Returns the request of a row and the memory of its variables. Variables become constants of
    /// the context of the stages, in addition to those of outer joins. A missing variable is stored
    /// as undefined, which reads as missing.
    fn request_for(
        &self,
        document: DocRef<'_>,
        context: &Arc<Context>,
    ) -> Result<(Request, usize), Error> {
        let filter = match &self.join {
            Some((local, foreign)) => join_filter(values_for_join(document, local), foreign),
            None => Filter::And(Vec::new()),
        };
        let mut bound = Arc::clone(context);
        let mut held = 0;
        if !self.variables.is_empty() {
            let env = Env::new(document, context);
            // The variables belong to this row, so it needs its own context.
            let mut inner = (**context).clone();
            context.budget.spend(STEP * inner.constants.len())?;
            for (name, expr) in &self.variables {
                context.budget.spend(STEP)?;
                let value = expr.evaluate(&env.with_held(held)?)?.unwrap_or(Value::Undefined);
                held += memory_of(value.as_ref());
                inner.constants.insert(name.to_string(), value);
            }
            bound = Arc::new(inner);
        }
        let (filter, stages) = match self.stages.split_first() {
            // Documents given in the request are not read from a collection, so the equality
            // becomes a stage after them.
            Some((first @ Stage::Documents(_), rest)) if self.join.is_some() => {
                let chosen = [first.clone(), Stage::Match(filter)].into_iter();
                (Filter::And(Vec::new()), chosen.chain(rest.iter().cloned()).collect())
            }
            _ => (filter, Arc::clone(&self.stages)),
        };
        let request = Request {
            database: self.database.clone(),
            collection: self.collection.clone(),
            filter,
            stages,
            context: bound,
        };
        Ok((request, held))
    }

    /// Returns whether every row has the same request, so that the other collection is read once.
    fn is_constant(&self) -> bool {
        self.join.is_none() && self.variables.is_empty()
    }
}

/// Returns the filter of an equality join: the path has one of the values, or null if `values` is
/// empty. A row without the field joins documents in which the joined field is missing or null.
fn join_filter(mut values: Vec<Value>, foreign: &Path) -> Filter {
    let test = match values.len() {
        0 => PathTest::Compare(Comparison::Eq, Value::Null),
        1 => PathTest::Compare(Comparison::Eq, values.pop().unwrap_or(Value::Null)),
        _ => PathTest::In(InSet::new(values, Vec::new())),
    };
    Filter::Path(foreign.clone(), test)
}

/// The running `$lookup` stage. The row waits in the slot for the answer to its request.
#[derive(Debug)]
pub(super) struct LookupOperator {
    lookup: Lookup,
    slot: Slot,
    /// The joined array for the row in the slot and the sources of its elements, after the answer
    /// to the request has arrived and before the row is returned.
    supplied: Option<(Value, Sources)>,
    /// The joined array, if all rows have the same request and so the same array.
    kept: Option<(Value, Sources)>,
    /// Whether each joined row becomes a row of its own, with an array of one element. This is so
    /// if an `$unwind` of the array follows, to avoid building the whole array.
    one_by_one: bool,
    /// The remaining rows to be joined one by one to the row in the slot.
    left: Option<VecDeque<Row>>,
    /// Memory of the joined rows and of the request's variables.
    meter: Meter,
}

impl LookupOperator {
    pub(super) fn new(
        lookup: Lookup,
        next: Option<&Stage>,
        operation_memory: &OperationMemory,
    ) -> Self {
        let meter = Meter::new("$lookup", operation_memory);
        // With an index field, `$unwind` needs the position in the whole array.
        let is_taken_apart = matches!(next,
            Some(Stage::Unwind(unwind)) if unwind.index.is_none() && unwind.path == lookup.name);
        let one_by_one = is_taken_apart && !lookup.is_constant();
        let (supplied, kept, left) = (None, None, None);
        Self { lookup, slot: Slot::default(), supplied, kept, one_by_one, left, meter }
    }

    /// Returns the row joined with the next of the remaining rows, or with an empty array if there
    /// are none.
    fn next_of_left(&mut self, row: Row, context: &Context) -> Result<Poll, Error> {
        let next = self.left.as_mut().and_then(VecDeque::pop_front);
        if self.left.as_ref().is_some_and(|left| left.is_empty()) {
            self.left = None;
            self.meter.clear_held();
        } else {
            self.slot.row = Some(row.clone());
        }
        let values = next.iter().map(|next| Value::from(next.document.as_ref())).collect();
        let from = next.into_iter().map(|next| next.source).collect();
        self.joined_row(row, (Value::Array(values), from), context)
    }

    /// Returns a row with its joined array. Fails if the document would be too large.
    fn joined_row(
        &self,
        row: Row,
        (rows, from): (Value, Sources),
        context: &Context,
    ) -> Result<Poll, Error> {
        let bytes = row.document.bytes().len().saturating_add(rows.as_ref().encoded_len());
        let _room = room_for(bytes, &context.operation_memory)?;
        let document = checked_size(set_at_path(&self.lookup.name, rows, &row.document)?)?;
        let source = row.source.after_join(&row.document, &document, &self.lookup.name, from);
        Ok(Poll::Row(Row { document, source }))
    }
}

impl Operator for LookupOperator {
    fn accept_row(&mut self, row: Row, _: &Arc<Context>) -> Result<(), Error> {
        self.slot.row = Some(row);
        Ok(())
    }

    fn end_of_input(&mut self, _: &Arc<Context>) -> Result<(), Error> {
        self.slot.ended = true;
        Ok(())
    }

    fn poll_row(&mut self, context: &Arc<Context>) -> Result<Poll, Error> {
        let Some(row) = self.slot.row.take() else { return Ok(self.slot.poll_slot()) };
        if self.left.is_some() {
            return self.next_of_left(row, context);
        }
        // The row in the slot has its answer.
        if let Some(rows) = self.supplied.take() {
            let answer = self.joined_row(row, rows, context);
            // The memory of a kept answer stays reserved.
            if self.kept.is_none() {
                self.meter.clear_held();
            }
            return answer;
        }
        if let Some(rows) = &self.kept {
            return self.joined_row(row, rows.clone(), context);
        }
        let (request, held) = self.lookup.request_for(row.document.as_ref(), context)?;
        self.meter.clear_held();
        self.meter.add_bytes(held)?;
        self.slot.row = Some(row);
        Ok(Poll::Want(Box::new(request)))
    }

    fn supply_wanted(&mut self, rows: Vec<Row>) -> Result<(), Error> {
        if self.one_by_one {
            self.meter.clear_held();
            rows.iter().try_for_each(|row| self.meter.add_bytes(row.memory_bytes()))?;
            self.left = Some(rows.into());
            return Ok(());
        }
        let bytes: usize = rows.iter().map(|row| row.document.bytes().len()).sum();
        // All joined rows become part of one document.
        if MAX_MADE_BYTES < bytes {
            let from = &self.lookup.collection;
            let text = format!(
                "Total size of documents in {from} matching pipeline's $lookup stage exceeds {MAX_MADE_BYTES} bytes"
            );
            return Err(Error::new(Kind::TooLarge, 4568, text));
        }
        self.meter.clear_held();
        for row in &rows {
            // Each row is decoded to a tree, and the bytes of all rows stay until the last one is
            // decoded.
            let tree = memory_of(ValueRef::Document(row.document.as_ref()));
            self.meter.add_bytes(tree + row.memory_bytes())?;
        }
        // Built once and shared if every row has the same request.
        let values = rows.iter().map(|row| Value::from(row.document.as_ref())).collect();
        let from = rows.into_iter().map(|row| row.source).collect();
        let rows = (Value::Array(values), from);
        if self.lookup.is_constant() {
            self.kept = Some(rows.clone());
        }
        self.supplied = Some(rows);
        Ok(())
    }

    fn resume_input(&mut self) {
        // Kept answers were read in the previous view. Of the rows joined one by one, some have
        // been returned, and the others are rechecked when they are returned.
        (self.supplied, self.kept) = (None, None);
        if self.left.is_none() {
            self.meter.clear_held();
        }
    }
}

/// The running `$unionWith` stage: it returns its input, and then the rows of the other collection,
/// which are supplied all at once.
#[derive(Debug)]
pub(super) struct UnionOperator {
    union: UnionWith,
    /// The input row that is returned next.
    slot: Slot,
    /// Rows of the other collection; `None` before they are requested.
    others: Option<VecDeque<Row>>,
    meter: Meter,
}

impl UnionOperator {
    pub(super) fn new(union: UnionWith, operation_memory: &OperationMemory) -> Self {
        let meter = Meter::new("$unionWith", operation_memory);
        Self { union, slot: Slot::default(), others: None, meter }
    }
}

impl Operator for UnionOperator {
    fn accept_row(&mut self, row: Row, _: &Arc<Context>) -> Result<(), Error> {
        self.slot.row = Some(row);
        Ok(())
    }

    fn end_of_input(&mut self, _: &Arc<Context>) -> Result<(), Error> {
        self.slot.ended = true;
        Ok(())
    }

    fn poll_row(&mut self, context: &Arc<Context>) -> Result<Poll, Error> {
        match self.slot.poll_slot() {
            Poll::Done => {}
            poll => return Ok(poll),
        }
        match &mut self.others {
            Some(others) => match others.pop_front() {
                Some(row) => {
                    self.meter.free_bytes(row.memory_bytes());
                    Ok(Poll::Row(row))
                }
                None => Ok(Poll::Done),
            },
            None => Ok(Poll::Want(Box::new(Request {
                database: self.union.database.clone(),
                collection: self.union.collection.clone(),
                filter: Filter::And(Vec::new()),
                stages: Arc::clone(&self.union.stages),
                context: Arc::clone(context),
            }))),
        }
    }

    fn supply_wanted(&mut self, rows: Vec<Row>) -> Result<(), Error> {
        rows.iter().try_for_each(|row| self.meter.add_bytes(row.memory_bytes()))?;
        self.others = Some(rows.into());
        Ok(())
    }
}
