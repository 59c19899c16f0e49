//! Distributes rows over a number of groups of about the same size, in the order of a value
//! (`$bucketAuto`).
//!
//! All rows are sorted by the value first. Then buckets are filled one after the other, each with
//! its share of the rows. Rows with the same value as a bucket's last row are added to it, so that
//! no value is in two buckets. The last bucket takes the remaining rows.

use std::sync::Arc;

use collation::contains_text;
use document::{Document, Path, Value, ValueRef};
use evaluation::{Context, Error, OperationMemory};

use super::{
    Meter, Row,
    group_row::{group_row, new_states},
    operator::{Operator, Poll},
    spilling::{Entry, Sorter},
};
use crate::{
    expr::{Env, Expr},
    group::{Field, GroupState},
    sort::{Sort, SortKey, SortPart, key_value},
};

/// The `$bucketAuto` stage of a plan.
#[derive(Clone, Debug)]
pub struct BucketAuto {
    /// The expression that rows are grouped by.
    pub by: Expr,
    /// The maximum number of groups.
    pub count: usize,
    /// The fields computed for each group.
    pub fields: Vec<Field>,
}

#[derive(Debug)]
pub(super) struct BucketAutoOperator {
    bucket: BucketAuto,
    /// All rows, until they are sorted.
    sorter: Sorter,
    /// Number of rows. The size of buckets depends on it, so the first bucket is filled after the
    /// last row has arrived.
    rows: usize,
    buckets: usize,
    open: Option<OpenBucket>,
    /// Memory of the computed fields of the bucket that is being filled.
    meter: Meter,
}

/// The bucket that is being filled: its range, its size, and its computed fields. Only one is in
/// memory; the sorter holds the rows.
#[derive(Debug)]
struct OpenBucket {
    /// The `groupBy` value of the bucket's first row.
    min: Value,
    /// The `groupBy` value of the bucket's last row so far.
    max: Value,
    /// Number of rows in the bucket.
    inside: usize,
    /// States of the computed fields.
    states: Vec<GroupState>,
}

impl BucketAutoOperator {
    pub(super) fn new(bucket: BucketAuto, operation_memory: &OperationMemory) -> Self {
        // The key consists of one value, so the path is not used.
        let sort = Sort { parts: vec![SortPart { path: Path::new(""), descending: false }] };
        Self {
            bucket,
            sorter: Sorter::new("$bucketAuto", sort, None, operation_memory),
            rows: 0,
            buckets: 0,
            open: None,
            meter: Meter::new("$bucketAuto", operation_memory),
        }
    }

    /// Returns how many rows the open bucket takes, without later rows that have the same value as
    /// its last one. The last bucket takes all remaining rows, so that rounding loses none.
    fn bucket_size(&self) -> usize {
        if self.buckets + 1 == self.bucket.count {
            return usize::MAX;
        }
        ((self.rows as f64 / self.bucket.count.max(1) as f64).round() as usize).max(1)
    }

    /// Adds a row to the open bucket or to a new one. If this closes a bucket, returns its result
    /// row. Rows come in order, so only one bucket is open.
    fn add_to_bucket(
        &mut self,
        value: Value,
        row: &Row,
        context: &Context,
    ) -> Result<Option<Row>, Error> {
        let goes_on = |open: &OpenBucket| {
            open.inside < self.bucket_size()
                || context.compare(value.as_ref(), open.max.as_ref()).is_eq()
        };
        let closed = match &self.open {
            Some(open) if !goes_on(open) => self.close_bucket(Some(&value))?,
            _ => None,
        };
        let open = match &mut self.open {
            Some(open) => open,
            none => {
                // Accumulator arguments that are evaluated once per bucket are evaluated without a
                // key.
                let states = new_states(&self.bucket.fields, ValueRef::Null, context)?;
                let (min, max) = (value.clone(), Value::Null);
                none.insert(OpenBucket { min, max, inside: 0, states })
            }
        };
        open.max = value;
        open.inside += 1;
        let env = Env::new(row.document.as_ref(), context);
        for (field, state) in self.bucket.fields.iter().zip(&mut open.states) {
            self.meter.add_bytes(field.add_row(state, &env)?)?;
        }
        Ok(closed)
    }

    /// Closes the open bucket and returns its row. Its range ends where the next bucket starts, or
    /// at its greatest value if it is the last one.
    fn close_bucket(&mut self, next: Option<&Value>) -> Result<Option<Row>, Error> {
        let Some(open) = self.open.take() else { return Ok(None) };
        self.buckets += 1;
        let mut id = Document::new();
        id.push("min", open.min);
        id.push("max", next.cloned().unwrap_or(open.max));
        let operation_memory = self.meter.operation_memory();
        let row =
            group_row(&Value::Document(id), &self.bucket.fields, open.states, operation_memory)?;
        self.meter.clear_held();
        Ok(Some(row))
    }
}

impl Operator for BucketAutoOperator {
    fn accept_row(&mut self, row: Row, context: &Arc<Context>) -> Result<(), Error> {
        let value = self.bucket.by.evaluate_borrowed(&Env::new(row.document.as_ref(), context))?;
        let key = SortKey(vec![key_value(value.or_null(), context.collation())]);
        self.rows += 1;
        // The copy releases the store's block during the sort. The origin is not kept, as the
        // results are no stored documents.
        self.sorter.add_entry(Entry { key, row: Row::not_stored(row.document.detached()) }, context)
    }

    fn end_of_input(&mut self, context: &Arc<Context>) -> Result<(), Error> {
        self.sorter.finish_input(context)
    }

    fn poll_row(&mut self, context: &Arc<Context>) -> Result<Poll, Error> {
        if !self.sorter.is_finished() {
            return Ok(Poll::Need);
        }
        while let Some(Entry { key, row }) = self.sorter.next_entry(context)? {
            let key = key.0.into_iter().next().unwrap_or(Value::Null);
            // Buckets show the value, of which a sort key of a collation does not remain.
            let value = match context.collation() {
                Some(_) if contains_text(key.as_ref()) => {
                    let value =
                        self.bucket.by.evaluate(&Env::new(row.document.as_ref(), context))?;
                    value.unwrap_or(Value::Null)
                }
                _ => key,
            };
            if let Some(closed) = self.add_to_bucket(value, &row, context)? {
                return Ok(Poll::Row(closed));
            }
            context.budget.spend(row.document.bytes().len())?;
            // All rows may go into one bucket, so the loop has to yield.
            if context.budget.is_due() {
                return Ok(Poll::Pause);
            }
        }
        Ok(self.close_bucket(None)?.map_or(Poll::Done, Poll::Row))
    }
}
