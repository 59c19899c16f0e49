//! DISTINCT with an ORDER BY that the selected value does not decide, as in `SELECT DISTINCT c.a
//! FROM c ORDER BY c.b`: each value stands where it would come first. All values have to be kept
//! until all rows have come, as an earlier place may still come for any of them.

use std::collections::HashMap;

use super::Output;
use crate::form::takes_precedence;

/// About what a value holds beside itself, its key and its place.
const ENTRY_BYTES: usize = 160;

/// Values by key, each with its first place.
#[derive(Debug, Default)]
pub(super) struct Firsts {
    /// By identity: the place, the ordinal there, and the value.
    values: HashMap<Vec<u8>, (Vec<u8>, u64, Output), foldhash::fast::RandomState>,
    /// About the bytes of all of these.
    bytes: usize,
}

impl Firsts {
    /// About the bytes held.
    pub(super) fn memory_bytes(&self) -> usize {
        self.bytes
    }

    /// Adds a value at a place, or moves the value there if the place is earlier than its own.
    pub(super) fn add_value(&mut self, key: Vec<u8>, place: Vec<u8>, ordinal: u64, value: Output) {
        if let Some(first) = self.values.get_mut(&key) {
            if (&place, ordinal) < (&first.0, first.1) {
                (first.0, first.1) = (place, ordinal);
            }
            if takes_precedence(value.as_ref(), first.2.as_ref()) {
                first.2 = value;
            }
            return;
        }
        self.bytes += key.len() + place.len() + value.size_of_result().memory + ENTRY_BYTES;
        self.values.insert(key, (place, ordinal, value));
    }

    /// The values with their places, in no order.
    pub(super) fn into_results(self) -> impl Iterator<Item = ((Vec<u8>, u64), Output)> {
        self.values.into_values().map(|(place, ordinal, value)| ((place, ordinal), value))
    }
}
