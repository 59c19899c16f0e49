//! Rows in order of their fields (`$sort`): the key of each row that may be among the wanted ones is
//! computed once, and `spilling::Sorter` keeps and orders them.

use std::sync::Arc;

use evaluation::{Context, Error, Holding};

use super::{
    Row,
    operator::{Operator, Poll},
    spilling::{Entry, Sorter},
};
use crate::sort::Sort;

/// A sort, running.
#[derive(Debug)]
pub(super) struct Sorting(Sorter);

impl Sorting {
    /// A sort of at most `limit` rows; a limit beyond the machine's numbers is none.
    pub(super) fn new(sort: Sort, limit: Option<u64>, holding: &Holding) -> Self {
        let most = limit.and_then(|limit| usize::try_from(limit).ok());
        Self(Sorter::new("$sort", sort, most, holding))
    }
}

impl Operator for Sorting {
    fn accept_row(&mut self, row: Row, context: &Arc<Context>) -> Result<(), Error> {
        // It is not copied where it cannot win.
        if self.0.is_beyond(row.document.as_ref()) {
            return Ok(());
        }
        let key = self.0.sort_order().key_of(row.document.as_ref());
        // The block of the store that it came in shall not wait with it.
        let row = Row { document: row.document.detached(), ..row };
        self.0.add_entry(Entry { key, row }, context)
    }

    fn is_gathering(&self) -> bool {
        !self.0.is_finished()
    }

    fn end_of_input(&mut self, context: &Arc<Context>) -> Result<(), Error> {
        self.0.finish_input(context)
    }

    fn poll_row(&mut self, context: &Arc<Context>) -> Result<Poll, Error> {
        if !self.0.is_finished() {
            return Ok(Poll::Need);
        }
        Ok(self.0.next_entry(context)?.map_or(Poll::Done, |entry| Poll::Row(entry.row)))
    }
}
