//! Stages that count rows (`$limit`, `$skip`, `$count`), and one that creates them (`$documents`).

use std::{collections::VecDeque, sync::Arc};

use document::{DocRef, Document, Value};
use evaluation::{Context, Error, OperationMemory};

use super::{
    Meter, Row,
    count_pipeline::count_document,
    operator::{Operator, Poll, Slot},
};
use crate::{
    expr::{Env, Expr},
    invalid_request,
};

/// Keeps the first rows. Ends with the last of them, so that no further input is read.
#[derive(Debug)]
pub(super) struct Limit {
    /// Number of rows that may still pass.
    left: u64,
    slot: Slot,
}

impl Limit {
    /// Creates a stage that keeps `count` rows.
    pub(super) fn new(count: u64) -> Self {
        Self { left: count, slot: Slot::default() }
    }
}

impl Operator for Limit {
    fn accept_row(&mut self, row: Row, _: &Arc<Context>) -> Result<(), Error> {
        // Counted here, since the row is passed on in any case.
        self.left = self.left.saturating_sub(1);
        self.slot.row = Some(row);
        Ok(())
    }

    fn end_of_input(&mut self, _: &Arc<Context>) -> Result<(), Error> {
        self.slot.ended = true;
        Ok(())
    }

    fn poll_row(&mut self, _: &Arc<Context>) -> Result<Poll, Error> {
        match self.slot.poll_slot() {
            Poll::Need if self.left == 0 => Ok(Poll::Done),
            other => Ok(other),
        }
    }
}

/// Skips the first rows, which are read all the same.
#[derive(Debug)]
pub(super) struct Skip {
    /// Number of rows still to be skipped.
    left: u64,
    slot: Slot,
}

impl Skip {
    /// Creates a stage that skips `count` rows.
    pub(super) fn new(count: u64) -> Self {
        Self { left: count, slot: Slot::default() }
    }
}

impl Operator for Skip {
    fn accept_row(&mut self, row: Row, _: &Arc<Context>) -> Result<(), Error> {
        match self.left.checked_sub(1) {
            Some(left) => self.left = left,
            None => self.slot.row = Some(row),
        }
        Ok(())
    }

    fn end_of_input(&mut self, _: &Arc<Context>) -> Result<(), Error> {
        self.slot.ended = true;
        Ok(())
    }

    fn poll_row(&mut self, _: &Arc<Context>) -> Result<Poll, Error> {
        Ok(self.slot.poll_slot())
    }
}

/// Counts all rows and yields one row with the count in the field `name`; yields no row if there
/// were none.
#[derive(Debug)]
pub(super) struct Count {
    /// Name of the field that contains the count.
    name: String,
    count: i64,
    slot: Slot,
}

impl Count {
    pub(super) fn new(name: String) -> Self {
        Self { name, count: 0, slot: Slot::default() }
    }
}

impl Operator for Count {
    fn accept_row(&mut self, _: Row, _: &Arc<Context>) -> Result<(), Error> {
        self.count += 1;
        Ok(())
    }

    fn is_gathering(&self) -> bool {
        !self.slot.ended
    }

    fn end_of_input(&mut self, _: &Arc<Context>) -> Result<(), Error> {
        self.slot.ended = true;
        // As in MongoDB, there is no row with 0.
        if self.count > 0 {
            self.slot.row = Some(Row::not_stored(count_document(&self.name, self.count)));
        }
        Ok(())
    }

    fn poll_row(&mut self, _: &Arc<Context>) -> Result<Poll, Error> {
        Ok(self.slot.poll_slot())
    }
}

/// Returns computed rows (`$documents`) and never reads input.
#[derive(Debug)]
pub(super) struct Documents {
    /// The expression of an array of documents.
    expr: Expr,
    /// Rows not returned yet; `None` before the expression was evaluated.
    rows: Option<VecDeque<Row>>,
    meter: Meter,
}

impl Documents {
    pub(super) fn new(expr: Expr, operation_memory: &OperationMemory) -> Self {
        Self { expr, rows: None, meter: Meter::new("$documents", operation_memory) }
    }
}

impl Operator for Documents {
    fn accept_row(&mut self, _: Row, _: &Arc<Context>) -> Result<(), Error> {
        Ok(())
    }

    fn end_of_input(&mut self, _: &Arc<Context>) -> Result<(), Error> {
        Ok(())
    }

    fn poll_row(&mut self, context: &Arc<Context>) -> Result<Poll, Error> {
        // Evaluated once, when the first row is needed.
        if self.rows.is_none() {
            let nothing = Document::new();
            let env = Env::new(DocRef::Tree(&nothing), context);
            let wrong = || invalid_request(5_858_203, "an array is expected for $documents");
            let Some(Value::Array(values)) = self.expr.evaluate(&env)? else { return Err(wrong()) };
            let meter = &mut self.meter;
            let row = |value: Value| match value {
                Value::Document(fields) => {
                    let row = Row::not_stored(fields.to_buf());
                    meter.add_bytes(row.memory_bytes())?;
                    Ok(row)
                }
                _ => Err(invalid_request(
                    40228,
                    "'each element of $documents' must evaluate to an object",
                )),
            };
            self.rows = Some(values.into_iter().map(row).collect::<Result<_, Error>>()?);
        }
        let row = self.rows.as_mut().and_then(VecDeque::pop_front);
        row.iter().for_each(|row| self.meter.free_bytes(row.memory_bytes()));
        Ok(row.map_or(Poll::Done, Poll::Row))
    }
}
