//! Random rows: a reservoir, returned in random order. Of the rows so far each is in the reservoir
//! with the same chance: row n replaces one of k kept rows with probability k / n.

use std::sync::Arc;

use evaluation::{Context, Error, Holding};

use super::{
    Meter, Row,
    operator::{Operator, Poll},
};

/// A sample, running.
/// Memory grows with the rows that are wanted, not with those that are read.
#[derive(Debug)]
pub(super) struct Sampling {
    /// How many rows are wanted.
    most: usize,
    /// Rows so far.
    seen: u64,
    /// The reservoir.
    held: Vec<Row>,
    /// Counts what the reservoir holds.
    meter: Meter,
    /// Whether all rows have come.
    ended: bool,
}

impl Sampling {
    /// A sample of at most `count` rows.
    pub(super) fn new(count: u64, holding: &Holding) -> Self {
        Self {
            most: usize::try_from(count).unwrap_or(usize::MAX),
            seen: 0,
            held: Vec::new(),
            meter: Meter::new("$sample", holding),
            ended: false,
        }
    }
}

/// A random number below `bound`.
/// The numbers are the operation's, so that a test with a seed repeats a sample.
fn random_below(context: &Context, bound: u64) -> usize {
    usize::try_from(context.random.next_number() % bound.max(1)).unwrap_or(0)
}

impl Operator for Sampling {
    fn accept_row(&mut self, row: Row, context: &Arc<Context>) -> Result<(), Error> {
        self.seen += 1;
        // The block of the store that it came in shall not wait with it.
        // It is copied also where it is not kept: which rows are is known only after.
        let row = Row { document: row.document.detached(), ..row };
        if self.held.len() < self.most {
            self.meter.add_bytes(row.memory_bytes())?;
            self.held.push(row);
        // A place beyond the reservoir means that the row is not taken.
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
        // A sample of nothing reads nothing.
        if !self.ended && self.most > 0 {
            return Ok(Poll::Need);
        }
        if self.held.is_empty() {
            return Ok(Poll::Done);
        }
        // Rows leave in random order, too.
        let at = random_below(context, u64::try_from(self.held.len()).unwrap_or(1));
        let row = self.held.swap_remove(at);
        self.meter.free_bytes(row.memory_bytes());
        Ok(Poll::Row(row))
    }
}
