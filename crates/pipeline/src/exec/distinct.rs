//! Returns the distinct values at a path as one row; the elements of arrays count as values.
//!
//! Values are compared by their canonical encoding, as in groups, so that a value seen before is
//! not copied.

use std::{collections::HashMap, sync::Arc};

use document::{DocBuilder, DocRef, MAX_DOCUMENT_BYTES, Path, Value, ValueRef};
use evaluation::{Context, Error, Kind, OperationMemory, memory_of};
use foldhash::fast::RandomState;

use super::{
    Meter, Row,
    operator::{Operator, Poll, Slot},
};
use crate::path::{PathEnd, any_value};

/// Name of the result's field that contains the values.
pub const VALUES: &str = "values";
/// Approximate bytes of an array element besides its value: type, index and NUL.
const ELEMENT: usize = 7;

/// The running stage that collects distinct values. They are sorted at the end, so that the result
/// does not depend on the order of rows.
#[derive(Debug)]
pub(super) struct Distinct {
    path: Path,
    values: Values,
    /// Holds the only result row once the input has ended.
    slot: Slot,
}

/// The distinct values so far. Equal numbers of different types count once.
#[derive(Debug)]
struct Values {
    /// The values by their canonical encoding.
    seen: HashMap<Box<[u8]>, Value, RandomState>,
    /// Buffer for the encoding of the current value.
    key: Vec<u8>,
    /// Approximate bytes of the values in the result.
    bytes: usize,
    meter: Meter,
}

impl Distinct {
    pub(super) fn new(path: Path, operation_memory: &OperationMemory) -> Self {
        let meter = Meter::new("distinct", operation_memory);
        let values = Values { seen: HashMap::default(), key: Vec::new(), bytes: 0, meter };
        Self { path, values, slot: Slot::default() }
    }
}

impl Values {
    /// Adds a value unless it was added before; fails if the values would not fit into one
    /// document.
    fn add_value(&mut self, value: ValueRef<'_>, context: &Context) -> Result<(), Error> {
        self.key.clear();
        context.encode_value(value, &mut self.key);
        // Checked before copying: most values of a path repeat.
        if !self.seen.contains_key(self.key.as_slice()) {
            self.bytes += value.encoded_len() + ELEMENT;
            if MAX_DOCUMENT_BYTES < self.bytes {
                return Err(Error::new(Kind::TooLarge, 17217, "distinct too big, 16mb cap"));
            }
            self.meter.add_bytes(memory_of(value) + self.key.len())?;
            self.seen.insert(self.key.as_slice().into(), value.to_value());
        }
        Ok(())
    }

    /// Removes and returns all values, sorted.
    fn take_all(&mut self, context: &Context) -> Vec<Value> {
        let mut values: Vec<Value> = self.seen.drain().map(|(_, value)| value).collect();
        values.sort_unstable_by(|a, b| context.compare(a.as_ref(), b.as_ref()));
        values
    }
}

impl Operator for Distinct {
    fn accept_row(&mut self, row: Row, context: &Arc<Context>) -> Result<(), Error> {
        // The elements of an array are values, arrays inside them are not expanded; a missing field
        // has no value.
        let document: DocRef<'_> = row.document.as_ref();
        let Self { path, values: held, .. } = self;
        any_value(document, path, PathEnd::Whole, &mut |seen| {
            match seen.value {
                None => {}
                Some(ValueRef::Array(values)) => {
                    for value in values.iter() {
                        context.budget.spend(ONE)?;
                        held.add_value(value, context)?;
                    }
                }
                Some(value) => held.add_value(value, context)?,
            }
            Ok(false)
        })
        .map(|_| ())
    }

    fn is_gathering(&self) -> bool {
        !self.slot.ended
    }

    fn end_of_input(&mut self, context: &Arc<Context>) -> Result<(), Error> {
        self.slot.ended = true;
        let mut builder = DocBuilder::new();
        builder.array(VALUES, |array| {
            for value in self.values.take_all(context) {
                array.push(value.as_ref());
            }
        });
        // The set has become the result row, so the reserved memory is now that of the row.
        self.values.meter.clear_held();
        self.values.meter.add_bytes(builder.len())?;
        self.slot.row = Some(Row::not_stored(builder.finish()));
        Ok(())
    }

    fn poll_row(&mut self, _: &Arc<Context>) -> Result<Poll, Error> {
        Ok(self.slot.poll_slot())
    }
}

/// Units of work charged for one element; otherwise a row with a long array would be processed
/// without yielding.
const ONE: usize = 256;
