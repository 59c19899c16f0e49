//! The values at a path of all rows, each once, as one row; arrays give their elements.
//!
//! Equal values are told by their canonical encoding, as groups are, so that a value that was met
//! before is not copied.

use std::{collections::HashMap, sync::Arc};

use document::{
    DocBuilder, DocRef, Path, Value, ValueRef, compare,
    key::{TypeOrder, encode},
};
use evaluation::{Context, Error, Holding, Kind, limits::MAX_DOCUMENT_BYTES, memory_of};
use foldhash::fast::RandomState;

use super::{
    Meter, Row,
    operator::{Operator, Poll},
    slot::Slot,
};
use crate::path::{PathEnd, any_value};

/// The name of the field that the values are in.
pub const VALUES: &str = "values";
/// What an element of an array takes beside its value, about: its type, its index and a NUL.
const ELEMENT: usize = 7;

/// Distinct values, running. They are put in order at the end, which makes the result the same
/// whatever order rows come in.
#[derive(Debug)]
pub(super) struct Distinct {
    /// Where the values are.
    path: Path,
    values: Values,
    /// The one row, once all have come.
    slot: Slot,
}

/// Values so far. Numbers that are equal count once, whatever their types.
#[derive(Debug)]
struct Values {
    /// By their encoding.
    seen: HashMap<Box<[u8]>, Value, RandomState>,
    /// The encoding of the value under way; kept to use its memory again.
    key: Vec<u8>,
    /// Bytes of the values in a document.
    bytes: usize,
    /// Counts what the values hold.
    meter: Meter,
}

impl Distinct {
    /// A distinct stage that has seen no row.
    pub(super) fn new(path: Path, holding: &Holding) -> Self {
        let meter = Meter::new("distinct", holding);
        let values = Values { seen: HashMap::default(), key: Vec::new(), bytes: 0, meter };
        Self { path, values, slot: Slot::default() }
    }
}

impl Values {
    /// Adds a value that is not there yet; fails when the values would not fit into one document.
    fn add_value(&mut self, value: ValueRef<'_>) -> Result<(), Error> {
        self.key.clear();
        encode(value, TypeOrder::Bson, false, &mut self.key);
        // Looked for first, as most values of a path repeat and cost nothing more.
        if !self.seen.contains_key(self.key.as_slice()) {
            // Its size as an element of the answer's array, about.
            self.bytes += value.encoded_len() + ELEMENT;
            if MAX_DOCUMENT_BYTES < self.bytes {
                return Err(Error::new(Kind::TooLarge, 17217, "distinct too big, 16mb cap"));
            }
            self.meter.add_bytes(memory_of(value) + self.key.len())?;
            self.seen.insert(self.key.as_slice().into(), value.to_value());
        }
        Ok(())
    }

    /// Takes all values, in order.
    fn take_all(&mut self) -> Vec<Value> {
        let mut values: Vec<Value> = self.seen.drain().map(|(_, value)| value).collect();
        values.sort_unstable_by(|a, b| compare(a.as_ref(), b.as_ref()));
        values
    }
}

impl Operator for Distinct {
    fn accept_row(&mut self, row: Row, context: &Arc<Context>) -> Result<(), Error> {
        // An array gives its elements, an array in it is a value; a missing field gives nothing.
        let document: DocRef<'_> = row.document.as_ref();
        let Self { path, values: held, .. } = self;
        any_value(document, path, PathEnd::Whole, &mut |seen| {
            match seen.value {
                None => {}
                Some(ValueRef::Array(values)) => {
                    for value in values.iter() {
                        context.budget.spend(ONE)?;
                        held.add_value(value)?;
                    }
                }
                Some(value) => held.add_value(value)?,
            }
            Ok(false)
        })
        .map(|_| ())
    }

    fn is_gathering(&self) -> bool {
        !self.slot.ended
    }

    fn end_of_input(&mut self, _: &Arc<Context>) -> Result<(), Error> {
        self.slot.ended = true;
        let mut builder = DocBuilder::new();
        builder.array(VALUES, |array| {
            for value in self.values.take_all() {
                array.push(value.as_ref());
            }
        });
        // The set was turned into the row, which is what is held from now on.
        self.values.meter.clear_held();
        self.values.meter.add_bytes(builder.len())?;
        self.slot.row = Some(Row::not_stored(builder.finish()));
        Ok(())
    }

    fn poll_row(&mut self, _: &Arc<Context>) -> Result<Poll, Error> {
        Ok(self.slot.poll_slot())
    }
}

/// Work of one element.
/// Without it a row with a long array would be walked without ever letting others run.
const ONE: usize = 256;
