//! Rows in a number of groups of about the same size, by the order of a value.

use std::sync::Arc;

use document::{Document, Value, compare};

use super::{
    Meter, Row,
    group::{finished, start},
    operator::{Operator, Poll},
};
use crate::{
    Context, Env, Error, Expr,
    expr::{Holding, memory},
    group::Field,
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
    bucket: BucketAuto,
    held: Vec<(Value, Row)>,
    meter: Meter,
    made: Option<std::vec::IntoIter<Row>>,
}

impl Bucketing {
    pub(super) fn new(bucket: BucketAuto, holding: &Holding) -> Self {
        let meter = Meter::new("$bucketAuto", holding);
        Self { bucket, held: Vec::new(), meter, made: None }
    }

    fn rows(&mut self, context: &Context) -> Result<Vec<Row>, Error> {
        self.held.sort_by(|(a, _), (b, _)| compare(a.as_ref(), b.as_ref()));
        let ideal = (self.held.len() as f64 / self.bucket.count.max(1) as f64).round() as usize;
        let ideal = ideal.max(1);
        let mut rest = self.held.as_slice();
        let mut rows = Vec::new();
        while let Some((least, _)) = rest.first() {
            let last_bucket = rows.len() + 1 == self.bucket.count;
            let mut size = if last_bucket { rest.len() } else { ideal.min(rest.len()) };
            let greatest = rest.get(size - 1).map_or(least, |(value, _)| value);
            let same =
                |(value, _): &&(Value, Row)| compare(value.as_ref(), greatest.as_ref()).is_eq();
            size += rest.get(size..).unwrap_or_default().iter().take_while(same).count();
            let (inside, after) = rest.split_at(size.min(rest.len()));
            let end = after.first().map_or(greatest, |(value, _)| value);
            let mut id = Document::new();
            id.push("min", least.clone());
            id.push("max", end.clone());
            let id = Value::Document(id);
            let mut states = start(&self.bucket.fields, id.as_ref(), context)?;
            for (_, row) in inside {
                let env = Env::new(row.document.as_ref(), context);
                for (field, state) in self.bucket.fields.iter().zip(&mut states) {
                    self.meter.add(field.add(state, &env)?)?;
                }
            }
            rows.push(finished(&id, &self.bucket.fields, states)?);
            rest = after;
        }
        Ok(rows)
    }
}

impl Operator for Bucketing {
    fn accept(&mut self, row: Row, context: &Arc<Context>) -> Result<(), Error> {
        let value = self.bucket.by.eval(&Env::new(row.document.as_ref(), context))?;
        let value = value.unwrap_or(Value::Null);
        // The block of the store that it came in shall not wait with it.
        let row = Row { document: row.document.detached(), ..row };
        self.meter.add(row.weight() + memory(value.as_ref()))?;
        self.held.push((value, row));
        Ok(())
    }

    fn end(&mut self, context: &Arc<Context>) -> Result<(), Error> {
        let rows = self.rows(context)?;
        self.held.clear();
        self.meter.clear();
        rows.iter().try_for_each(|row| self.meter.add(row.weight()))?;
        self.made = Some(rows.into_iter());
        Ok(())
    }

    fn poll(&mut self, _: &Arc<Context>) -> Result<Poll, Error> {
        Ok(match &mut self.made {
            None => Poll::Need,
            Some(rows) => rows.next().map_or(Poll::Done, Poll::Row),
        })
    }
}
