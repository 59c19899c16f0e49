//! The state of a stage that processes one row at a time: the row, and whether the input has ended.

use super::{Row, operator::Poll};

/// A row in a stage, and whether the input has ended. It implements the rules of `Need` and `Done`
/// for all such stages.
#[derive(Debug, Default)]
pub(super) struct Slot {
    /// The row, until it is taken.
    pub(super) row: Option<Row>,
    /// Whether the input has ended.
    pub(super) ended: bool,
}

impl Slot {
    /// Takes the row; if the slot is empty, returns whether a row can still follow.
    pub(super) fn poll_slot(&mut self) -> Poll {
        match self.row.take() {
            Some(row) => Poll::Row(row),
            None if self.ended => Poll::Done,
            None => Poll::Need,
        }
    }
}
