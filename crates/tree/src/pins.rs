//! The numbers that open snapshots read at. Flushes and compactions keep the versions that one of
//! these numbers, or a later one, sees.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use parking_lot::Mutex;

/// Counts the open snapshots by their number.
#[derive(Debug, Default)]
pub(crate) struct Pins {
    open: Mutex<BTreeMap<u64, usize>>,
    /// One more than the number up to which snapshots were ended. Changed only while `open` is
    /// locked.
    kept_from: AtomicU64,
}

impl Pins {
    /// Registers a snapshot with this number. Numbers never decrease, and the snapshot with the
    /// greatest number is registered until another one is.
    pub(crate) fn pin(self: &Arc<Self>, number: u64) -> Pin {
        *self.open.lock().entry(number).or_default() += 1;
        Pin { pins: Arc::clone(self), number }
    }

    /// Returns which versions have to be kept now.
    pub(crate) fn retention(&self) -> Retention {
        let open = self.open.lock();
        let kept_from = self.kept_from.load(Ordering::SeqCst);
        let mut numbers: Vec<u64> = open.range(kept_from..).map(|(number, _)| *number).collect();
        if numbers.is_empty() {
            // Only while nothing is published yet: everything is kept.
            numbers.push(0);
        }
        Retention { numbers }
    }

    /// Ends the snapshots up to this number, but never those with the greatest number.
    pub(crate) fn end(&self, number: u64) {
        let open = self.open.lock();
        let newest = open.last_key_value().map_or(0, |(newest, _)| *newest);
        self.kept_from.fetch_max(newest.min(number.saturating_add(1)), Ordering::SeqCst);
    }

    /// Returns the numbers of the snapshots that were not ended, in ascending order.
    pub(crate) fn numbers(&self) -> Vec<u64> {
        let open = self.open.lock();
        let kept_from = self.kept_from.load(Ordering::SeqCst);
        open.range(kept_from..).map(|(number, _)| *number).collect()
    }
}

/// Keeps a snapshot registered until it is dropped.
#[derive(Debug)]
pub(crate) struct Pin {
    pins: Arc<Pins>,
    pub(crate) number: u64,
}

impl Pin {
    /// Returns whether the snapshot was ended. Data read before a `false` is valid.
    pub(crate) fn is_ended(&self) -> bool {
        self.number < self.pins.kept_from.load(Ordering::SeqCst)
    }
}

impl Drop for Pin {
    fn drop(&mut self) {
        let mut open = self.pins.open.lock();
        if let Some(count) = open.get_mut(&self.number) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.number);
            }
        }
    }
}

/// The versions that a flush or compaction keeps: for each open number the version that it sees,
/// and everything above the greatest number, because snapshots taken later read there.
#[derive(Clone, Debug)]
pub(crate) struct Retention {
    /// In ascending order, at least one.
    numbers: Vec<u64>,
}

impl Retention {
    /// Returns whether a version is kept, given the number of the next newer version of the key.
    pub(crate) fn keeps(&self, number: u64, newer: Option<u64>) -> bool {
        let Some(newer) = newer else { return true };
        if newer == number {
            // The same version from two files, after a replay.
            return false;
        }
        let at = self.numbers.partition_point(|open| *open < number);
        self.numbers.get(at).is_none_or(|open| *open < newer)
    }

    /// Returns whether versions with numbers in this range may be kept although a newer version in
    /// the range exists: for an open snapshot, or because they are not published.
    pub(crate) fn may_keep_superseded(&self, (least, greatest): (u64, u64)) -> bool {
        let unpublished = self.numbers.last().is_none_or(|newest| *newest < greatest);
        unpublished || self.numbers.iter().any(|open| least <= *open && *open < greatest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_version_is_kept_for_each_open_number() {
        let pins = Arc::<Pins>::default();
        let (old, _newest) = (pins.pin(5), pins.pin(10));
        let kept = |retention: &Retention| {
            let versions = [12, 11, 9, 7, 5, 4, 1];
            let newer = |at: usize| at.checked_sub(1).map(|at| versions[at]);
            let keeps = |at: &usize| retention.keeps(versions[*at], newer(*at));
            (0..7).filter(keeps).map(|at| versions[at]).collect::<Vec<_>>()
        };
        assert_eq!(kept(&pins.retention()), [12, 11, 9, 5]);
        assert!(!pins.retention().keeps(9, Some(9)));
        assert!(pins.retention().may_keep_superseded((4, 9)));
        drop(old);
        assert_eq!(kept(&pins.retention()), [12, 11, 9]);
        assert!(!pins.retention().may_keep_superseded((4, 9)));
        assert!(pins.retention().may_keep_superseded((11, 12)));
    }

    #[test]
    fn an_ended_snapshot_keeps_nothing_and_the_newest_cannot_be_ended() {
        let pins = Arc::<Pins>::default();
        let (old, newest) = (pins.pin(5), pins.pin(10));
        assert_eq!(pins.numbers(), [5, 10]);
        pins.end(5);
        assert_eq!([&old, &newest].map(Pin::is_ended), [true, false]);
        assert_eq!(pins.numbers(), [10]);
        pins.end(u64::MAX);
        assert!(!newest.is_ended());
        assert!(pins.retention().keeps(9, Some(11)));
        assert!(!pins.retention().keeps(8, Some(9)));
    }
}
