//! Rows in a number of groups of about the same size, by the order of a value (`$bucketAuto`).
//!
//! All rows are sorted by the value first. Then buckets are filled one after the other, each with
//! its share of the rows; rows with the value of the last one stay in its bucket, so that no value
//! is in two. The last bucket takes what is left.

use std::sync::Arc;

use document::{Document, Path, Value, ValueRef, compare};
use evaluation::{Context, Error, Holding};

use super::{
    Meter, Row,
    group_row::{group_row, new_states},
    operator::{Operator, Poll},
    spilling::{Entry, Sorter},
};
use crate::{
    expr::{Env, Expr},
    group::{Field, GroupState},
    sort::{Sort, SortKey, SortPart},
};

/// How many groups, of what, and what is computed of them.
#[derive(Clone, Debug)]
pub struct BucketAuto {
    /// The value that rows are grouped by.
    pub by: Expr,
    /// How many groups at most.
    pub count: usize,
    /// The computed fields.
    pub fields: Vec<Field>,
}

/// Buckets, running.
#[derive(Debug)]
pub(super) struct Bucketing {
    /// What is asked for.
    bucket: BucketAuto,
    /// All rows, until they are sorted.
    sorter: Sorter,
    /// Rows so far.
    /// Known in full before the first bucket is made: their size depends on it.
    rows: usize,
    /// Buckets that were returned.
    made: usize,
    /// The bucket that is being filled.
    open: Option<Open>,
    /// Counts what the open bucket has computed.
    meter: Meter,
}

/// The bucket that is being filled: its range, its rows, and what was computed of them.
/// One bucket at a time is in memory; the rows are with the sorter.
#[derive(Debug)]
struct Open {
    /// The value of its first row.
    least: Value,
    /// The value of its last row so far.
    greatest: Value,
    /// Rows in it.
    inside: usize,
    /// What was computed of its rows, by field.
    states: Vec<GroupState>,
}

impl Bucketing {
    /// Buckets without rows.
    pub(super) fn new(bucket: BucketAuto, holding: &Holding) -> Self {
        // By one value, which stands at no path.
        let sort = Sort { parts: vec![SortPart { path: Path::new(""), descending: false }] };
        Self {
            bucket,
            sorter: Sorter::new("$bucketAuto", sort, None, holding),
            rows: 0,
            made: 0,
            open: None,
            meter: Meter::new("$bucketAuto", holding),
        }
    }

    /// How many rows the open bucket takes, those with its greatest value not counted.
    /// The last bucket takes all that is left, so that rounding loses no row.
    fn bucket_size(&self) -> usize {
        if self.made + 1 == self.bucket.count {
            return usize::MAX;
        }
        ((self.rows as f64 / self.bucket.count.max(1) as f64).round() as usize).max(1)
    }

    /// Puts a row into the open bucket, or into a new one; returns the row of the bucket that it
    /// closes.
    /// Rows come in order, so only the bucket that is open can take them.
    fn add_to_bucket(
        &mut self,
        value: Value,
        row: &Row,
        context: &Context,
    ) -> Result<Option<Row>, Error> {
        let goes_on = |open: &Open| {
            open.inside < self.bucket_size()
                || compare(value.as_ref(), open.greatest.as_ref()).is_eq()
        };
        let closed = match &self.open {
            Some(open) if !goes_on(open) => self.close_bucket(Some(&value))?,
            _ => None,
        };
        let open = match &mut self.open {
            Some(open) => open,
            none => {
                // There is no key yet: what is asked once of a bucket is asked of nothing.
                let states = new_states(&self.bucket.fields, ValueRef::Null, context)?;
                // The greatest value is set right below.
                let (least, greatest) = (value.clone(), Value::Null);
                none.insert(Open { least, greatest, inside: 0, states })
            }
        };
        open.greatest = value;
        open.inside += 1;
        let env = Env::new(row.document.as_ref(), context);
        for (field, state) in self.bucket.fields.iter().zip(&mut open.states) {
            self.meter.add_bytes(field.add_row(state, &env)?)?;
        }
        Ok(closed)
    }

    /// The row of the open bucket, whose range ends where the next one begins.
    /// The last bucket has no next one, and its range ends with its greatest value.
    fn close_bucket(&mut self, next: Option<&Value>) -> Result<Option<Row>, Error> {
        let Some(open) = self.open.take() else { return Ok(None) };
        self.made += 1;
        let mut id = Document::new();
        id.push("min", open.least);
        id.push("max", next.cloned().unwrap_or(open.greatest));
        let holding = self.meter.holding();
        let row = group_row(&Value::Document(id), &self.bucket.fields, open.states, holding)?;
        self.meter.clear_held();
        Ok(Some(row))
    }
}

impl Operator for Bucketing {
    fn accept_row(&mut self, row: Row, context: &Arc<Context>) -> Result<(), Error> {
        // A missing value sorts and groups as null.
        let value = self.bucket.by.evaluate(&Env::new(row.document.as_ref(), context))?;
        let key = SortKey(vec![value.unwrap_or(Value::Null)]);
        self.rows += 1;
        // The block of the store that it came in shall not wait with it; where it came from does
        // not matter, as buckets are no stored documents.
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
            let value = key.0.into_iter().next().unwrap_or(Value::Null);
            if let Some(closed) = self.add_to_bucket(value, &row, context)? {
                return Ok(Poll::Row(closed));
            }
            context.budget.spend(row.document.bytes().len())?;
            // All rows may go into one bucket: others run in between.
            if context.budget.is_due() {
                return Ok(Poll::Pause);
            }
        }
        Ok(self.close_bucket(None)?.map_or(Poll::Done, Poll::Row))
    }
}
