//! Results that came in any order, kept in the canonical one: no more than a page needs.

use std::collections::BTreeMap;

use super::Output;
use crate::{
    Error, Kind,
    expr::Got,
    json::{form::precedes, limits::MAX_RUN_BYTES},
};

/// About what a result holds beside its value and its place.
const ENTRY_BYTES: usize = 128;

/// Results by place and ordinal.
#[derive(Debug, Default)]
pub(super) struct Kept {
    results: BTreeMap<(Vec<u8>, u64), Output>,
    /// Bytes of values.
    bytes: usize,
    /// Bytes of places and of what is around.
    around: usize,
    /// Whether results were forgotten that come behind these.
    more: bool,
}

impl Kept {
    /// Whether a place would be behind all of so many results.
    pub(super) fn is_behind(&self, place: &[u8], most: usize) -> bool {
        most <= self.results.len()
            && self.results.last_key_value().is_some_and(|((last, _), _)| last.as_slice() < place)
    }

    /// One more result, at a place of its own.
    pub(super) fn add(&mut self, place: Vec<u8>, ordinal: u64, value: Output) -> Result<(), Error> {
        self.bytes = self.bytes.saturating_add(value.bytes());
        self.around = self.around.saturating_add(place.len() + ENTRY_BYTES);
        self.results.insert((place, ordinal), value);
        check(self.bytes.saturating_add(self.around))
    }

    /// Whether there is a result at this place of values; this one may take over its form.
    pub(super) fn has(&mut self, place: &[u8], value: &Got<'_>) -> bool {
        let Some(known) = self.results.get_mut(&(place.to_vec(), 0)) else { return false };
        if value.value().is_some_and(|value| precedes(value, known.as_ref()))
            && let Some(value) = Output::new(value.clone())
        {
            self.bytes = self.bytes.saturating_sub(known.bytes()).saturating_add(value.bytes());
            *known = value;
        }
        true
    }

    /// Forgets the last results above this number, or without which there are still so many bytes.
    pub(super) fn shrink(&mut self, most: usize, bytes: usize) {
        while let Some(last) = self.results.last_entry() {
            let without = self.bytes.saturating_sub(last.get().bytes());
            if self.results.len() <= most && without < bytes {
                break;
            }
            self.bytes = without;
            self.more = true;
            if let Some(((place, _), _)) = self.results.pop_last() {
                self.around -= (place.len() + ENTRY_BYTES).min(self.around);
            }
        }
    }

    /// The results in order, and whether more come behind them.
    pub(super) fn into_results(self) -> (impl Iterator<Item = ((Vec<u8>, u64), Output)>, bool) {
        (self.results.into_iter(), self.more)
    }
}

/// Fails when a run would hold so much.
pub(super) fn check(bytes: usize) -> Result<(), Error> {
    if MAX_RUN_BYTES < bytes {
        let text =
            format!("the query holds more memory than allowed: more than {MAX_RUN_BYTES} bytes");
        return Err(Error::new(Kind::TooLarge, 146, text));
    }
    Ok(())
}
