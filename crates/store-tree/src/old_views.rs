//! The age of open views, and the disk space that is kept for them. The tree keeps one version of a
//! key for each open view; a view for which too much is kept is ended.

use std::{collections::BTreeMap, time::Duration};

use parking_lot::Mutex;

/// The oldest view that is not the newest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OldestView {
    /// Number of the view in the tree.
    pub(crate) number: u64,
    /// Time since a newer view was observed.
    pub(crate) age: Duration,
    /// Bytes of superseded versions in tables that were written since then.
    pub(crate) kept_bytes: u64,
}

/// A view that is not the newest.
#[derive(Clone, Copy, Debug)]
struct Superseded {
    /// Time of the first observation, in nanoseconds of the monotonic clock.
    at_ns: u64,
    /// The least number of bytes of superseded versions since then.
    least_bytes: u64,
}

/// Remembers since when views are not the newest, by their numbers.
#[derive(Debug, Default)]
pub(crate) struct OldViewTracker(Mutex<BTreeMap<u64, Superseded>>);

impl OldViewTracker {
    /// Records the open views, in ascending order, the last of which is the newest, and the bytes of
    /// superseded versions in tables. Returns the oldest view, if it is not the newest.
    pub(crate) fn observe(
        &self,
        open: &[u64],
        superseded_bytes: u64,
        now_ns: u64,
    ) -> Option<OldestView> {
        let mut all = self.0.lock();
        let (_, old) = open.split_last()?;
        all.retain(|number, _| old.binary_search(number).is_ok());
        for number in old {
            let new = Superseded { at_ns: now_ns, least_bytes: superseded_bytes };
            let of = all.entry(*number).or_insert(new);
            // What other views have kept before, and compactions have dropped, is not counted.
            of.least_bytes = of.least_bytes.min(superseded_bytes);
        }
        let (number, of) = all.first_key_value()?;
        Some(OldestView {
            number: *number,
            age: Duration::from_nanos(now_ns.saturating_sub(of.at_ns)),
            kept_bytes: superseded_bytes.saturating_sub(of.least_bytes),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_view_ages_and_counts_what_is_kept_since_it_is_old() {
        let views = OldViewTracker::default();
        let seen = |open: &[u64], bytes, now| {
            views.observe(open, bytes, now).map(|of| (of.number, of.age.as_nanos(), of.kept_bytes))
        };
        assert_eq!(seen(&[7], 100, 5), None);
        assert_eq!(seen(&[7, 9], 100, 10), Some((7, 0, 0)));
        assert_eq!(seen(&[7, 9, 12], 150, 20), Some((7, 10, 50)));
        assert_eq!(seen(&[7, 9, 15], 180, 25), Some((7, 15, 80)));
        // The next view is not charged for bytes that were kept before it was old.
        assert_eq!(seen(&[9, 15], 190, 40), Some((9, 20, 40)));
        // A compaction has dropped what only the first view saw.
        assert_eq!(seen(&[9, 15], 30, 50), Some((9, 30, 0)));
        assert_eq!(seen(&[9, 15], 35, 60), Some((9, 40, 5)));
        assert_eq!(seen(&[15], 35, 60), None);
    }
}
