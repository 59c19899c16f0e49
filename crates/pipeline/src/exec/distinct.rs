//! The values at a path of all rows, each once, as one row; arrays give their elements.

use std::{collections::BTreeSet, sync::Arc};

use document::{BsonOrder, DocBuilder, DocRef, Path, Value, ValueRef};
use evaluation::{Context, Error, Holding, Kind, limits::MAX_DOCUMENT_BYTES, memory_of};

use super::{
    Meter, Row,
    operator::{Operator, Poll},
    slot::Slot,
};
use crate::path::{PathEnd, any_value};

/// The name of the field that the values are in.
pub const VALUES: &str = "values";

/// Distinct values, running. They are kept in order, which makes the result the same whatever order
/// rows come in.
#[derive(Debug)]
pub(super) struct Distinct {
    /// Where the values are.
    path: Path,
    /// Values so far.
    /// Numbers that are equal count once, whatever their types.
    seen: BTreeSet<BsonOrder>,
    /// Bytes of the values in a document.
    bytes: usize,
    /// Counts what the values hold.
    meter: Meter,
    /// The one row, once all have come.
    slot: Slot,
}

impl Distinct {
    /// A distinct stage that has seen no row.
    pub(super) fn new(path: Path, holding: &Holding) -> Self {
        let (seen, slot) = (BTreeSet::new(), Slot::default());
        Self { path, seen, bytes: 0, meter: Meter::new("distinct", holding), slot }
    }

    /// Adds a value that is not there yet; fails when the values would not fit into one document.
    fn add_value(&mut self, value: ValueRef<'_>) -> Result<(), Error> {
        let held = BsonOrder(value.to_value());
        // Looked for first, as most values of a path repeat and cost nothing more.
        if !self.seen.contains(&held) {
            let mut alone = DocBuilder::new();
            // Its size as an element of the answer's array, about.
            alone.append("", value);
            self.bytes += alone.len();
            if MAX_DOCUMENT_BYTES < self.bytes {
                return Err(Error::new(Kind::TooLarge, 17217, "distinct too big, 16mb cap"));
            }
            self.meter.add_bytes(memory_of(value))?;
            self.seen.insert(held);
        }
        Ok(())
    }
}

impl Operator for Distinct {
    fn accept_row(&mut self, row: Row, context: &Arc<Context>) -> Result<(), Error> {
        // An array gives its elements, an array in it is a value; a missing field gives nothing.
        let path = self.path.clone();
        let document: DocRef<'_> = row.document.as_ref();
        any_value(document, &path, PathEnd::Whole, &mut |seen| {
            match seen.value {
                None => {}
                Some(ValueRef::Array(values)) => {
                    for value in values.iter() {
                        context.budget.spend(ONE)?;
                        self.add_value(value)?;
                    }
                }
                Some(value) => self.add_value(value)?,
            }
            Ok(false)
        })
        .map(|_| ())
    }

    fn end_of_input(&mut self, _: &Arc<Context>) -> Result<(), Error> {
        self.slot.ended = true;
        let mut builder = DocBuilder::new();
        builder.array(VALUES, |array| {
            for BsonOrder(value) in std::mem::take(&mut self.seen) {
                let value: Value = value;
                array.push(value.as_ref());
            }
        });
        // The set was turned into the row, which is what is held from now on.
        self.meter.clear_held();
        self.meter.add_bytes(builder.len())?;
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
