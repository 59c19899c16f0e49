//! DISTINCT with an ORDER BY that the selected value does not decide, as in `SELECT DISTINCT c.a
//! FROM c ORDER BY c.b`: each value is returned at its first sort position. All values are kept
//! until the last row, because any of them may still occur at an earlier sort position.

use std::collections::HashMap;

use super::Output;
use crate::form::takes_precedence;

/// Memory charged for an entry in addition to value, key and sort position.
const ENTRY_BYTES: usize = 160;

#[derive(Debug, Default)]
pub(super) struct FirstOccurrences {
    /// For the identity key of each distinct value: the earliest sort position at which it occurs,
    /// the ordinal of the row there among the rows of its document, and the value.
    values: HashMap<Vec<u8>, (Vec<u8>, u64, Output), foldhash::fast::RandomState>,
    /// Approximate memory of all values, in bytes.
    bytes: usize,
}

impl FirstOccurrences {
    /// Returns the approximate memory held, in bytes.
    pub(super) fn memory_bytes(&self) -> usize {
        self.bytes
    }

    /// Adds a value at a sort position, or moves the value there if the sort position is earlier
    /// than its current one.
    pub(super) fn add_value(
        &mut self,
        key: Vec<u8>,
        sort_position: Vec<u8>,
        ordinal: u64,
        value: Output,
    ) {
        if let Some(first) = self.values.get_mut(&key) {
            if (&sort_position, ordinal) < (&first.0, first.1) {
                (first.0, first.1) = (sort_position, ordinal);
            }
            if takes_precedence(value.as_ref(), first.2.as_ref()) {
                first.2 = value;
            }
            return;
        }
        self.bytes += key.len() + sort_position.len() + value.size_of_result().memory + ENTRY_BYTES;
        self.values.insert(key, (sort_position, ordinal, value));
    }

    /// Returns the values with their sort positions, in no particular order.
    pub(super) fn into_results(self) -> impl Iterator<Item = ((Vec<u8>, u64), Output)> {
        self.values
            .into_values()
            .map(|(sort_position, ordinal, value)| ((sort_position, ordinal), value))
    }
}
