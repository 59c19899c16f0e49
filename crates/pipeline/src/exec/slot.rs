//! What a stage keeps that takes one row at a time: the row, and whether the input has ended. What
//! is done to the row is the stage's.

use super::{Row, operator::Poll};

/// A row on its way through, and whether the input has ended.
#[derive(Debug, Default)]
pub(super) struct Slot {
    pub(super) row: Option<Row>,
    pub(super) ended: bool,
}

impl Slot {
    /// The row, once; without one, whether another can come.
    pub(super) fn poll_slot(&mut self) -> Poll {
        match self.row.take() {
            Some(row) => Poll::Row(row),
            None if self.ended => Poll::Done,
            None => Poll::Need,
        }
    }
}
