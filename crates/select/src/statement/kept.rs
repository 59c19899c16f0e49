//! Results that came in any order, kept in the canonical one: no more than a page needs.

use std::collections::BTreeMap;

use evaluation::Evaluated;

use super::Output;
use crate::form::takes_precedence;

/// About what a result holds beside its value and its place.
const ENTRY_BYTES: usize = 128;

/// Results by place, and by ordinal within a place. Only as many are kept as the page needs: a
/// query that sorts a million rows for a page of a hundred holds about a hundred.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// By place, and by ordinal within it.
    results: BTreeMap<(Vec<u8>, u64), Output>,
    /// Bytes of values.
    bytes: usize,
    /// Bytes that values, places and what is around take in memory.
    memory: usize,
    /// Whether results were forgotten, which come after these: then there is a next page.
    more: bool,
}

impl Kept {
    /// Whether a place comes after `most` results that are there already.
    pub(super) fn is_behind(&self, place: &[u8], most: usize) -> bool {
        most <= self.results.len()
            && self.results.last_key_value().is_some_and(|((last, _), _)| last.as_slice() < place)
    }

    /// About the bytes held.
    pub(super) fn memory_bytes(&self) -> usize {
        self.memory
    }

    /// Adds a result at a place of its own, and returns its bytes.
    pub(super) fn add_result(&mut self, place: Vec<u8>, ordinal: u64, value: Output) -> usize {
        let size = value.size_of_result();
        self.bytes = self.bytes.saturating_add(size.bytes);
        self.memory = self.memory.saturating_add(size.memory + place.len() + ENTRY_BYTES);
        self.results.insert((place, ordinal), value);
        size.bytes
    }

    /// Whether the result at this place is there already. The value may take over its form if it
    /// precedes it, so that the form does not depend on the order of rows.
    pub(super) fn merge_form(&mut self, place: &[u8], value: &Evaluated<'_>) -> bool {
        let Some(known) = self.results.get_mut(&(place.to_vec(), 0)) else { return false };
        if value.value().is_some_and(|value| takes_precedence(value, known.as_ref()))
            && let Some(value) = Output::from_evaluated(value.clone())
        {
            let (before, size) = (known.size_of_result(), value.size_of_result());
            self.bytes = self.bytes.saturating_sub(before.bytes).saturating_add(size.bytes);
            self.memory = self.memory.saturating_sub(before.memory).saturating_add(size.memory);
            *known = value;
        }
        true
    }

    /// Forgets the last results beyond `most`, and those without which there are still `bytes`
    /// bytes.
    pub(super) fn shrink_to(&mut self, most: usize, bytes: usize) {
        while let Some(last) = self.results.last_entry() {
            let size = last.get().size_of_result();
            let without = self.bytes.saturating_sub(size.bytes);
            if self.results.len() <= most && without < bytes {
                break;
            }
            self.bytes = without;
            self.more = true;
            if let Some(((place, _), _)) = self.results.pop_last() {
                let held = size.memory + place.len() + ENTRY_BYTES;
                self.memory = self.memory.saturating_sub(held);
            }
        }
    }

    /// Notes that a result was left out that comes after these.
    pub(super) fn note_forgotten(&mut self) {
        self.more = true;
    }

    /// Takes the first result with its place and its ordinal.
    pub(super) fn pop_first(&mut self) -> Option<((Vec<u8>, u64), Output)> {
        let (at, value) = self.results.pop_first()?;
        let size = value.size_of_result();
        self.bytes = self.bytes.saturating_sub(size.bytes);
        self.memory = self.memory.saturating_sub(size.memory + at.0.len() + ENTRY_BYTES);
        Some((at, value))
    }

    /// How many results are here.
    pub(super) fn len(&self) -> usize {
        self.results.len()
    }

    /// Whether results were forgotten that come after these.
    pub(super) fn has_forgotten(&self) -> bool {
        self.more
    }
}
