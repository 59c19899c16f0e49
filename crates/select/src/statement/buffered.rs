//! Results of rows that arrive in any order, kept in the order of results and limited to the number
//! that the page needs.

use std::collections::BTreeMap;

use evaluation::Evaluated;

use super::Output;
use crate::form::takes_precedence;

/// Memory charged for a result in addition to its value and its sort position.
const ENTRY_BYTES: usize = 128;

/// Results by sort position (their position in the order of results, as bytes) and by ordinal (the
/// index among the rows that a JOIN makes of one document). Only as many are kept as the page
/// needs: a query that sorts a million rows for a page of a hundred holds about a hundred.
#[derive(Debug, Default)]
pub(super) struct BufferedResults {
    results: BTreeMap<(Vec<u8>, u64), Output>,
    /// Total size of the kept results as values, in bytes.
    bytes: usize,
    /// Memory of values, sort positions and map entries, in bytes.
    memory: usize,
    /// Whether results that come after the kept ones were dropped, so that there is a next page.
    more: bool,
}

impl BufferedResults {
    /// Returns whether there are at least `most` results and the sort position comes after all of
    /// them.
    pub(super) fn is_behind(&self, sort_position: &[u8], most: usize) -> bool {
        most <= self.results.len()
            && self
                .results
                .last_key_value()
                .is_some_and(|((last, _), _)| last.as_slice() < sort_position)
    }

    /// Returns the approximate memory held, in bytes.
    pub(super) fn memory_bytes(&self) -> usize {
        self.memory
    }

    /// Adds a result at a new sort position and returns its size in bytes.
    pub(super) fn add_result(
        &mut self,
        sort_position: Vec<u8>,
        ordinal: u64,
        value: Output,
    ) -> usize {
        let size = value.size_of_result();
        self.bytes = self.bytes.saturating_add(size.bytes);
        self.memory = self.memory.saturating_add(size.memory + sort_position.len() + ENTRY_BYTES);
        self.results.insert((sort_position, ordinal), value);
        size.bytes
    }

    /// Returns whether a result has this sort position. The result is replaced by `value` if that
    /// representation takes precedence, so that the result does not depend on the order of rows.
    pub(super) fn keep_preferred_form(
        &mut self,
        sort_position: &[u8],
        value: &Evaluated<'_>,
    ) -> bool {
        let Some(known) = self.results.get_mut(&(sort_position.to_vec(), 0)) else { return false };
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

    /// Drops the last results: the results beyond `most`, and the results after the first `bytes`
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
            if let Some(((sort_position, _), _)) = self.results.pop_last() {
                let held = size.memory + sort_position.len() + ENTRY_BYTES;
                self.memory = self.memory.saturating_sub(held);
            }
        }
    }

    /// Records that a result which follows the kept ones was dropped.
    pub(super) fn record_dropped(&mut self) {
        self.more = true;
    }

    /// Removes and returns the first result with its sort position and ordinal.
    pub(super) fn pop_first(&mut self) -> Option<((Vec<u8>, u64), Output)> {
        let (at, value) = self.results.pop_first()?;
        let size = value.size_of_result();
        self.bytes = self.bytes.saturating_sub(size.bytes);
        self.memory = self.memory.saturating_sub(size.memory + at.0.len() + ENTRY_BYTES);
        Some((at, value))
    }

    /// Returns the number of results.
    pub(super) fn len(&self) -> usize {
        self.results.len()
    }

    /// Returns whether results that follow the kept ones were dropped.
    pub(super) fn has_dropped(&self) -> bool {
        self.more
    }
}
