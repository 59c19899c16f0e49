//! Key prefixes that conditions on the leading fields of an index allow.

use store::KeyRange;

use super::bounds::{Span, prefix_successor};
use crate::keys;

/// Maximum number of key ranges into which the conditions on the fields of an index are combined.
pub(super) const MAX_RANGES: usize = 4_000;

/// The prefixes of the entries that a filter allows, and the score of its conditions on their
/// fields.
#[derive(Clone)]
pub(super) struct Prefixes {
    pub(super) keys: Vec<Vec<u8>>,
    pub(super) score: usize,
}

impl Prefixes {
    /// Creates the prefix of all entries of an index.
    pub(super) fn of_index(index: u32) -> Self {
        Self { keys: vec![keys::index_prefix(index)], score: 0 }
    }

    /// Returns whether there may be this number of ranges for each prefix.
    pub(super) fn has_room_for(&self, ranges: usize) -> bool {
        self.keys.len().saturating_mul(ranges) <= MAX_RANGES
    }

    /// Appends each of these values of the next field to each prefix, in key order, and adds the
    /// score of the condition. Changes nothing and returns false if there would be too many.
    pub(super) fn extend(&mut self, components: &[Vec<u8>], score: usize) -> bool {
        if !self.has_room_for(components.len()) {
            return false;
        }
        let extended = |prefix: &Vec<u8>| {
            let prefix = prefix.clone();
            components.iter().map(move |component| [prefix.as_slice(), component].concat())
        };
        self.keys = self.keys.iter().flat_map(extended).collect();
        self.score += score;
        true
    }

    /// Returns the ranges of the entries with these prefixes, limited by spans of the next field.
    pub(super) fn ranges(&self, spans: Option<&[Span]>) -> Vec<KeyRange> {
        let mut out = Vec::new();
        for prefix in &self.keys {
            match spans {
                None => out
                    .push(KeyRange { start: prefix.clone(), end: Some(prefix_successor(prefix)) }),
                Some(spans) => out.extend(spans.iter().map(|span| KeyRange {
                    start: [prefix.as_slice(), &span.start].concat(),
                    end: Some([prefix.as_slice(), &span.end].concat()),
                })),
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_extended_up_to_the_limit() {
        let components = |len: usize| (0..len).map(|at| vec![at as u8]).collect::<Vec<_>>();
        let mut prefixes = Prefixes::of_index(7);
        assert!(prefixes.extend(&components(63), 2));
        assert!(prefixes.has_room_for(63) && !prefixes.has_room_for(64));
        assert!(!prefixes.extend(&components(64), 1));
        assert_eq!((prefixes.keys.len(), prefixes.score), (63, 2));
        assert!(prefixes.extend(&components(2), 1));
        assert_eq!((prefixes.keys.len(), prefixes.score), (126, 3));
        assert!(prefixes.keys.is_sorted());
        assert_eq!(prefixes.keys[1], [0, 0, 0, 7, 0, 1]);
        let spans = [Span { start: vec![3], end: vec![5] }];
        let ranges = prefixes.ranges(Some(&spans));
        assert_eq!((ranges.len(), &*ranges[0].start), (126, &[0, 0, 0, 7, 0, 0, 3][..]));
        assert_eq!(prefixes.ranges(None)[125].end.as_deref(), Some(&[0, 0, 0, 7, 62, 2][..]));
    }
}
