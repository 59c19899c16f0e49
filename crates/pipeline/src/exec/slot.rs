//! What a stage keeps that takes one row at a time: the row, and whether the input has ended. What
//! is done to the row is the stage's.

use super::{Row, operator::Poll};

/// A row on its way through, and whether the input has ended.
/// Shared by stages so that all of them say `Need` and `Done` by the same rule.
#[derive(Debug, Default)]
pub(super) struct Slot {
    /// The row, until it is taken.
    pub(super) row: Option<Row>,
    /// Whether no row comes any more.
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
