//! Returns random rows, by reservoir sampling, in random order: row n replaces one of k kept rows
//! with probability k / n, so each row so far is in the reservoir with the same probability.

use std::sync::Arc;

use evaluation::{Context, Error, OperationMemory};

use super::{
    Meter, Row,
    operator::{Operator, Poll},
};

/// The running `$sample` stage. Its memory depends on the number of rows wanted, not on the number
/// read.
#[derive(Debug)]
pub(super) struct SampleOperator {
    limit: usize,
    seen: u64,
    held: Vec<Row>,
    meter: Meter,
    /// Whether the input has ended.
    ended: bool,
}

impl SampleOperator {
    pub(super) fn new(count: u64, operation_memory: &OperationMemory) -> Self {
        Self {
            limit: usize::try_from(count).unwrap_or(usize::MAX),
            seen: 0,
            held: Vec::new(),
            meter: Meter::new("$sample", operation_memory),
            ended: false,
        }
    }
}

/// Returns a random number below `bound` from the operation's stream, so that a test with a seed is
/// repeatable.
fn random_below(context: &Context, bound: u64) -> usize {
    usize::try_from(context.random.next_number() % bound.max(1)).unwrap_or(0)
}

impl Operator for SampleOperator {
    fn accept_row(&mut self, row: Row, context: &Arc<Context>) -> Result<(), Error> {
        self.seen += 1;
        // The copy releases the store's block. It is made for all rows, since only the code below
        // decides which are kept.
        let row = Row { document: row.document.detached(), ..row };
        if self.held.len() < self.limit {
            self.meter.add_bytes(row.memory_bytes())?;
            self.held.push(row);
        // With an index outside the reservoir the row is not taken.
        } else if let Some(place) = self.held.get_mut(random_below(context, self.seen)) {
            self.meter.free_bytes(place.memory_bytes());
            self.meter.add_bytes(row.memory_bytes())?;
            *place = row;
        }
        Ok(())
    }

    fn end_of_input(&mut self, _: &Arc<Context>) -> Result<(), Error> {
        self.ended = true;
        Ok(())
    }

    fn poll_row(&mut self, context: &Arc<Context>) -> Result<Poll, Error> {
        // An empty sample reads no input.
        if !self.ended && self.limit > 0 {
            return Ok(Poll::Need);
        }
        if self.held.is_empty() {
            return Ok(Poll::Done);
        }
        let at = random_below(context, u64::try_from(self.held.len()).unwrap_or(1));
        let row = self.held.swap_remove(at);
        self.meter.free_bytes(row.memory_bytes());
        Ok(Poll::Row(row))
    }
}
