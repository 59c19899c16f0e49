//! Stages that count rows (`$limit`, `$skip`, `$count`), and one that makes them (`$documents`).
//! They hold nothing but a number and the row on its way.

use std::{collections::VecDeque, sync::Arc};

use document::{DocRef, Document, Value};
use evaluation::{Context, Error, Holding};

use super::{
    Meter, Row,
    operator::{Operator, Poll},
    slot::Slot,
    tally::count_document,
};
use crate::{
    expr::{Env, Expr},
    failure::invalid_request,
};

/// The first so many rows. It is done with the last one, so that no further input is read.
#[derive(Debug)]
pub(super) struct Limit {
    /// Rows that may still pass.
    left: u64,
    /// The row that passes.
    slot: Slot,
}

impl Limit {
    /// The first `count` rows.
    pub(super) fn new(count: u64) -> Self {
        Self { left: count, slot: Slot::default() }
    }
}

impl Operator for Limit {
    fn accept_row(&mut self, row: Row, _: &Arc<Context>) -> Result<(), Error> {
        // Counted when it is taken in: it is handed on in any case.
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
            // The row itself is handed on before that.
            Poll::Need if self.left == 0 => Ok(Poll::Done),
            other => Ok(other),
        }
    }
}

/// All but the first so many rows.
/// Rows that are passed over are read all the same.
#[derive(Debug)]
pub(super) struct Skip {
    /// Rows that are still to be passed over.
    left: u64,
    /// The row that passes.
    slot: Slot,
}

impl Skip {
    /// All but the first `count` rows.
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

/// The number of rows, as one row; none for no rows.
#[derive(Debug)]
pub(super) struct Count {
    /// The field that the number goes into.
    name: String,
    /// Rows so far.
    count: i64,
    /// The one row.
    slot: Slot,
}

impl Count {
    /// The number of rows, under this name.
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
        // No rows make no row, not a zero.
        if self.count > 0 {
            self.slot.row = Some(Row::not_stored(count_document(&self.name, self.count)));
        }
        Ok(())
    }

    fn poll_row(&mut self, _: &Arc<Context>) -> Result<Poll, Error> {
        Ok(self.slot.poll_slot())
    }
}

/// Rows that an expression computes (`$documents`), in place of any input.
/// It never asks for input, so a collection before it would not be read.
#[derive(Debug)]
pub(super) struct Documents {
    /// What gives the array of documents.
    expr: Expr,
    /// Documents that were not returned yet; none before the expression was evaluated.
    rows: Option<VecDeque<Row>>,
    /// Counts those.
    meter: Meter,
}

impl Documents {
    /// The rows that an expression computes.
    pub(super) fn new(expr: Expr, holding: &Holding) -> Self {
        Self { expr, rows: None, meter: Meter::new("$documents", holding) }
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
        // Evaluated when the first row is wanted, once.
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
