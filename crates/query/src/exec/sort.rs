//! Rows in order. With a limit, only about twice as many rows as wanted are ever held.

use std::sync::Arc;

use super::{
    Meter, Row,
    operator::{Operator, Poll},
};
use crate::{
    Context, Error,
    expr::{Holding, memory},
    sort::{Sort, SortKey},
};

/// A sort, running.
#[derive(Debug)]
pub(super) struct Sorting {
    sort: Sort,
    most: Option<usize>,
    held: Vec<(SortKey, Row)>,
    meter: Meter,
    sorted: Option<std::vec::IntoIter<(SortKey, Row)>>,
}

fn bytes_of((key, row): &(SortKey, Row)) -> usize {
    key.0.iter().map(|value| memory(value.as_ref())).sum::<usize>() + row.weight()
}

impl Sorting {
    pub(super) fn new(sort: Sort, limit: Option<u64>, holding: &Holding) -> Self {
        let most = limit.and_then(|limit| usize::try_from(limit).ok());
        let meter = Meter::new("$sort", holding);
        Self { sort, most, held: Vec::new(), meter, sorted: None }
    }

    /// Puts the held rows in order and drops those beyond the limit.
    fn settle(&mut self) {
        let sort = &self.sort;
        self.held.sort_by(|(a, _), (b, _)| sort.compare(a, b));
        if let Some(most) = self.most.filter(|most| *most < self.held.len()) {
            let dropped = self.held.drain(most..);
            self.meter.free(dropped.as_slice().iter().map(bytes_of).sum());
        }
    }
}

impl Operator for Sorting {
    fn accept(&mut self, row: Row, _: &Arc<Context>) -> Result<(), Error> {
        let key = self.sort.key(row.document.as_ref());
        // The block of the store that it came in shall not wait with it.
        let entry = (key, Row { document: row.document.detached(), ..row });
        self.meter.add(bytes_of(&entry))?;
        self.held.push(entry);
        if self.most.is_some_and(|most| most.saturating_mul(2).max(64) <= self.held.len()) {
            self.settle();
        }
        Ok(())
    }

    fn end(&mut self, _: &Arc<Context>) -> Result<(), Error> {
        self.settle();
        self.sorted = Some(std::mem::take(&mut self.held).into_iter());
        Ok(())
    }

    fn poll(&mut self, _: &Arc<Context>) -> Result<Poll, Error> {
        Ok(match &mut self.sorted {
            None => Poll::Need,
            Some(rows) => match rows.next() {
                Some(entry) => {
                    self.meter.free(bytes_of(&entry));
                    Poll::Row(entry.1)
                }
                None => {
                    self.meter.clear();
                    Poll::Done
                }
            },
        })
    }
}
