//! Joins: rows of another collection beside each row (`$lookup`), or after all rows (`$unionWith`).
//! The other collection is asked for with a filter that an index can serve; the engine reads it in
//! the same view as the rows.
//!
//! Each row asks for what it joins, unless every row asks for the same: then the answer is kept.

use std::{collections::VecDeque, sync::Arc};

use document::{DocRef, Path, Value, ValueRef};
use evaluation::{
    Context, Error, Holding, Kind,
    limits::{MAX_MADE_BYTES, STEP},
    memory_of,
};

use super::{
    Meter, Request, Row, Stage,
    joins::{Sources, set_at_path},
    operator::{Operator, Poll},
    size::{checked_size, room_for},
    slot::Slot,
};
use crate::{
    expr::{Env, Expr},
    filter::{Comparison, Filter, InSet, PathTest},
    path::values_for_join,
};

/// Rows of another collection beside each row.
/// Equality and stages may both be there: the stages see what the equality leaves.
#[derive(Clone, Debug)]
pub struct Lookup {
    /// Its database, when it is another one.
    pub database: Option<String>,
    /// Its name.
    pub collection: String,
    /// Where the array of its rows goes.
    pub name: Path,
    /// The path of a row and the path of the other collection that have to hold equal values.
    /// An array at the row's path joins by each of its elements.
    pub join: Option<(Path, Path)>,
    /// Variables of a row for the stages.
    pub variables: Vec<(Arc<str>, Expr)>,
    /// What is done to the other rows.
    pub stages: Arc<[Stage]>,
}

/// Then the rows of another collection.
#[derive(Clone, Debug)]
pub struct UnionWith {
    /// Its database, when it is another one.
    pub database: Option<String>,
    /// Its name.
    pub collection: String,
    /// What is done to its rows.
    pub stages: Arc<[Stage]>,
}

impl Lookup {
    /// What a row asks for, and how many bytes the variables of the request hold.
    /// Variables become constants of the operation that the stages run in; those of an outer join
    /// are among them already. A missing variable is undefined there, which reads as missing.
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
            // An operation of its own for this row, since its variables are the row's.
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
        // What the other collection is asked for, and what is done to it.
        let (filter, stages) = match self.stages.split_first() {
            // Documents that the request brought are not looked up: they are chosen among here.
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

    /// Whether every row asks for the same.
    /// Such a join reads the other collection once.
    fn is_constant(&self) -> bool {
        self.join.is_none() && self.variables.is_empty()
    }
}

/// The filter of an equality join: one of the values; no value is null.
/// A row that lacks the field joins documents that lack theirs or have null.
fn join_filter(mut values: Vec<Value>, foreign: &Path) -> Filter {
    let test = match values.len() {
        0 => PathTest::Compare(Comparison::Eq, Value::Null),
        1 => PathTest::Compare(Comparison::Eq, values.pop().unwrap_or(Value::Null)),
        _ => PathTest::In(InSet::new(values, Vec::new())),
    };
    Filter::Path(foreign.clone(), test)
}

/// A join, running.
/// The row waits in the slot from the request until its answer; no other is taken meanwhile.
#[derive(Debug)]
pub(super) struct Joining {
    /// What is asked for.
    lookup: Lookup,
    /// The row that waits for what it joins.
    slot: Slot,
    /// The rows for the row in the slot as an array, and where they came from. It is there between
    /// the request and the row.
    supplied: Option<(Value, Sources)>,
    /// The rows for every row, where all ask for the same.
    kept: Option<(Value, Sources)>,
    /// Whether each row that is joined becomes a row of its own, in an array of one: an `$unwind`
    /// of the array follows, so that the whole array need never be there.
    one_by_one: bool,
    /// What is left to be joined one by one to the row in the slot.
    left: Option<VecDeque<Row>>,
    /// Counts the answer and the variables of the request.
    meter: Meter,
}

impl Joining {
    /// A join that has seen no row.
    pub(super) fn new(lookup: Lookup, next: Option<&Stage>, holding: &Holding) -> Self {
        let meter = Meter::new("$lookup", holding);
        // The position of an element is that in the whole array.
        let is_taken_apart = matches!(next,
            Some(Stage::Unwind(unwind)) if unwind.index.is_none() && unwind.path == lookup.name);
        let one_by_one = is_taken_apart && !lookup.is_constant();
        let (supplied, kept, left) = (None, None, None);
        Self { lookup, slot: Slot::default(), supplied, kept, one_by_one, left, meter }
    }

    /// The row with the next one of those that are joined to it one by one. Without any it has an
    /// empty array.
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

    /// A row with what was joined to it.
    /// Fails when the document would become too large.
    fn joined_row(
        &self,
        row: Row,
        (rows, from): (Value, Sources),
        context: &Context,
    ) -> Result<Poll, Error> {
        let bytes = row.document.bytes().len().saturating_add(rows.as_ref().encoded_len());
        let _room = room_for(bytes, &context.holding)?;
        let document = checked_size(set_at_path(&self.lookup.name, rows, &row.document)?)?;
        let source = row.source.after_join(&row.document, &document, &self.lookup.name, from);
        Ok(Poll::Row(Row { document, source }))
    }
}

impl Operator for Joining {
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
        // The row that asked is in the slot again: now it has its answer.
        if let Some(rows) = self.supplied.take() {
            let answer = self.joined_row(row, rows, context);
            // Where the answer is kept it goes on being held.
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
        // The row waits in the slot for the answer.
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
        // They all go into one document.
        if MAX_MADE_BYTES < bytes {
            let from = &self.lookup.collection;
            let text = format!(
                "Total size of documents in {from} matching pipeline's $lookup stage exceeds {MAX_MADE_BYTES} bytes"
            );
            return Err(Error::new(Kind::TooLarge, 4568, text));
        }
        self.meter.clear_held();
        for row in &rows {
            // It becomes a tree, and is there as it came until all have.
            let tree = memory_of(ValueRef::Document(row.document.as_ref()));
            self.meter.add_bytes(tree + row.memory_bytes())?;
        }
        // The array is made once, and shared where every row asks for the same.
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
        // What is kept was read in the old view. Of rows that are joined one by one some were
        // returned already, and the others are checked again when they are.
        (self.supplied, self.kept) = (None, None);
        if self.left.is_none() {
            self.meter.clear_held();
        }
    }
}

/// A union, running: first its input, then the rows of the other collection.
/// All rows of the other collection come at once and are counted.
#[derive(Debug)]
pub(super) struct Uniting {
    /// What is asked for.
    union: UnionWith,
    /// The row that passes.
    slot: Slot,
    /// Rows of the other collection; none before they were asked for.
    others: Option<VecDeque<Row>>,
    /// Counts those.
    meter: Meter,
}

impl Uniting {
    /// A union that has seen no row.
    pub(super) fn new(union: UnionWith, holding: &Holding) -> Self {
        let meter = Meter::new("$unionWith", holding);
        Self { union, slot: Slot::default(), others: None, meter }
    }
}

impl Operator for Uniting {
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
