//! Sorts rows by their fields (`$sort`). The sort key of a row is computed once, and not at all for
//! a row that is known to be beyond the limit. `spilling::Sorter` keeps and sorts the rows.

use std::sync::Arc;

use document::DocRef;
use evaluation::{Context, Error, OperationMemory};

use super::{
    Row,
    operator::{Operator, Poll},
    spilling::{Entry, Sorter},
};
use crate::sort::Sort;

#[derive(Debug)]
pub(super) struct SortOperator(Sorter);

impl SortOperator {
    /// Creates a sort of at most `limit` rows; a limit beyond `usize` is none.
    pub(super) fn new(sort: Sort, limit: Option<u64>, operation_memory: &OperationMemory) -> Self {
        let most = limit.and_then(|limit| usize::try_from(limit).ok());
        Self(Sorter::new("$sort", sort, most, operation_memory))
    }
}

impl Operator for SortOperator {
    fn accept_row(&mut self, row: Row, context: &Arc<Context>) -> Result<(), Error> {
        // Rows beyond the limit are not copied.
        if !self.may_use(row.document.as_ref(), context) {
            return Ok(());
        }
        let key = self.0.sort_order().key_of(row.document.as_ref(), context.collation());
        // The copy releases the store's block during the sort.
        let row = Row { document: row.document.detached(), ..row };
        self.0.add_entry(Entry { key, row }, context)
    }

    fn may_use(&self, document: DocRef<'_>, context: &Context) -> bool {
        !self.0.is_beyond(document, context)
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

#[cfg(test)]
mod tests {
    use document::{DocBuf, Value, array, doc};

    use super::*;
    use crate::{
        exec::{Exec, Next, Stage},
        sort::SortPart,
    };

    /// Returns the field value of a test row: `None`, an array, or a scalar that other rows have,
    /// too.
    fn value(number: u64) -> Option<Value> {
        match number % 9 {
            0 => None,
            1 => Some(array![(number / 9 % 5) as i32, (number / 45 % 5) as i32]),
            2 => Some(Value::Double((number / 9 % 7) as f64 / 2.0)),
            3 => Some(Value::String(format!("x{}", number / 9 % 3))),
            4 => Some(Value::Null),
            _ => Some(Value::Int32((number / 9 % 6) as i32)),
        }
    }

    fn rows(shape: u64) -> Vec<DocBuf> {
        let mut number = shape + 1;
        let row = |id: i32| {
            let mut row = doc! { "_id": id };
            for name in ["a", "b"] {
                number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(shape | 1);
                let value = match shape % 4 {
                    0 => Some(Value::Int32(id)),
                    1 => Some(Value::Int32(-id)),
                    2 => Some(Value::Int32(7)),
                    _ => value(number >> 33),
                };
                value.into_iter().for_each(|value| row.push(name, value));
            }
            row.to_buf()
        };
        (0..200).map(row).collect()
    }

    fn ids(rows: &[DocBuf]) -> Vec<Value> {
        rows.iter().map(|row| row.get("_id").unwrap().to_value()).collect()
    }

    #[test]
    fn with_a_limit_it_returns_the_beginning_of_the_whole_order() {
        let part =
            |path: &str, descending| SortPart { path: document::Path::new(path), descending };
        for shape in 0..60 {
            let turned = shape % 3 == 0;
            let parts = vec![part("a", turned), part("b", !turned)];
            let sort = Sort { parts: parts.into_iter().take(1 + shape as usize % 2).collect() };
            let rows = rows(shape);
            let mut want = rows.clone();
            want.sort_by(|a, b| sort.compare_documents(a.as_ref(), b.as_ref()));
            for limit in [1, 2, 20, 70, 199, 200, 300] {
                let stage = Stage::Sort { sort: sort.clone(), limit: Some(limit) };
                let mut exec = Exec::new(vec![stage], Arc::new(Context::default()));
                for row in &rows {
                    // Calling `may_use` first makes no difference.
                    if limit % 2 == 0 || exec.may_use(row.as_ref()) {
                        exec.offer_row(Row::not_stored(row.clone())).unwrap();
                    }
                }
                exec.finish_input();
                let mut found = Vec::new();
                while let Next::Row(row) = exec.next().unwrap() {
                    found.push(row.document);
                }
                let want = &want[..want.len().min(limit as usize)];
                assert_eq!(ids(&found), ids(want), "shape {shape} limit {limit}");
            }
        }
    }
}
