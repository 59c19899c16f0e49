//! Tracks up to which commit all data on disk has been filtered by compactions. A compaction
//! rewrites the tables of a space, but rows that it drops can reappear from the journal as long as
//! startup would replay the entries that contain them. Startup replays the journal from the tail.
//!
//! ```text
//!  entries:  40 41 42 43 44 ..           compaction through seq 900, started after entry 43
//!  tail = 41                             43 is replayed and may restore a dropped row: not counted
//!  tail = 44                             43 is no longer replayed: filtered through 900
//! ```

use std::collections::{HashMap, VecDeque};

use parking_lot::Mutex;
use store::Space;

/// Progress of the compactions that filter the tables of one space.
#[derive(Debug, Default)]
struct SpaceProgress {
    /// Number of the commit up to which all data of the space on disk was filtered.
    filtered: u64,
    /// Completed compactions: for each, the last commit that it covered, and the number of the last
    /// journal entry with such commits.
    waiting: VecDeque<(u64, u64)>,
}

/// Progress of filtering, for each space that was compacted since startup.
#[derive(Debug, Default)]
pub(crate) struct FilterProgress(Mutex<HashMap<Space, SpaceProgress>>);

impl FilterProgress {
    /// Records that every table with commits up to `seq` was rewritten. These commits are in
    /// journal entries up to `entry`.
    pub(crate) fn record_compacted(&self, space: Space, seq: u64, entry: u64) {
        let mut all = self.0.lock();
        let waiting = &mut all.entry(space).or_default().waiting;
        match waiting.back_mut() {
            // The earlier compaction became pending at the same entry and is covered by this one.
            Some(last) if last.1 == entry => last.0 = seq,
            _ => waiting.push_back((seq, entry)),
        }
    }

    /// Returns the sequence number up to which the drop predicate has been applied to all data of a
    /// space, if startup replays the journal from the entry `tail`.
    pub(crate) fn filtered_through(&self, space: Space, tail: u64) -> u64 {
        let mut all = self.0.lock();
        let Some(of) = all.get_mut(&space) else { return 0 };
        while let Some((seq, entry)) = of.waiting.front().copied()
            && entry < tail
        {
            of.filtered = seq;
            of.waiting.pop_front();
        }
        of.filtered
    }

    /// Removes the record of a dropped space.
    pub(crate) fn forget_space(&self, space: Space) {
        self.0.lock().remove(&space);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compaction_counts_once_its_entries_are_not_applied_again() {
        let (progress, space) = (FilterProgress::default(), Space::Rows(1));
        assert_eq!(progress.filtered_through(space, 9), 0);
        progress.record_compacted(space, 10, 3);
        progress.record_compacted(space, 20, 3);
        progress.record_compacted(space, 30, 4);
        assert_eq!(progress.filtered_through(space, 3), 0);
        assert_eq!(progress.filtered_through(space, 4), 20);
        assert_eq!(progress.filtered_through(space, 4), 20);
        assert_eq!(progress.filtered_through(Space::Rows(2), 9), 0);
        assert_eq!(progress.filtered_through(space, 5), 30);
        progress.forget_space(space);
        assert_eq!(progress.filtered_through(space, 5), 0);
    }
}
