//! How far back everything that is on disk has been filtered: a compaction rewrites the tables of a
//! space, but what its filter dropped can come back from a journal until that is gone too.
//!
//! ```text
//!  journals:     5      6      7 (newest)            compaction through seq 900, while 7 was the newest
//!  later:                      7      8      9       7 may still bring a dropped row back: not counted
//!  later:                             8      9       filtered through 900
//! ```

use std::{
    collections::{HashMap, VecDeque},
    path::Path,
};

use parking_lot::Mutex;
use store::Space;

/// What is known of one space.
#[derive(Debug, Default)]
struct SpaceProgress {
    /// The last commit up to which all on disk was filtered.
    filtered: u64,
    /// Finished compactions: the last commit each covered, and the newest journal at that time.
    waiting: VecDeque<(u64, u64)>,
}

/// All spaces that were compacted since the start.
#[derive(Debug, Default)]
pub(crate) struct FilterProgress(Mutex<HashMap<Space, SpaceProgress>>);

impl FilterProgress {
    /// Every table that held commits up to `seq` was rewritten; they lie in journals up to this
    /// one.
    pub(crate) fn note_compacted(&self, space: Space, seq: u64, journal: u64) {
        let mut all = self.0.lock();
        let waiting = &mut all.entry(space).or_default().waiting;
        match waiting.back_mut() {
            // Waits for the same journal, and covers more.
            Some(last) if last.1 == journal => last.0 = seq,
            _ => waiting.push_back((seq, journal)),
        }
    }

    /// The answer, when this is the oldest journal that is left.
    pub(crate) fn filtered_through(&self, space: Space, oldest: u64) -> u64 {
        let mut all = self.0.lock();
        let Some(of) = all.get_mut(&space) else { return 0 };
        while let Some((seq, journal)) = of.waiting.front().copied()
            && journal < oldest
        {
            of.filtered = seq;
            of.waiting.pop_front();
        }
        of.filtered
    }

    /// A space was dropped.
    pub(crate) fn forget_space(&self, space: Space) {
        self.0.lock().remove(&space);
    }
}

/// Numbers of the oldest and the newest journal in the tree's directory.
pub(crate) fn journal_numbers(tree: &Path) -> Option<(u64, u64)> {
    let mut found: Option<(u64, u64)> = None;
    for entry in std::fs::read_dir(tree).ok()? {
        let path = entry.ok()?.path();
        if path.extension().is_none_or(|extension| extension != "jnl") {
            continue;
        }
        let number: u64 = path.file_stem()?.to_str()?.parse().ok()?;
        // A file that is not named by a number makes the whole answer unknown: nothing is counted
        // then.
        let (oldest, newest) = found.unwrap_or((number, number));
        found = Some((oldest.min(number), newest.max(number)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compaction_counts_once_its_journals_are_gone() {
        let (progress, space) = (FilterProgress::default(), Space::Rows(1));
        assert_eq!(progress.filtered_through(space, 9), 0);
        progress.note_compacted(space, 10, 3);
        progress.note_compacted(space, 20, 3);
        progress.note_compacted(space, 30, 4);
        assert_eq!(progress.filtered_through(space, 3), 0);
        assert_eq!(progress.filtered_through(space, 4), 20);
        assert_eq!(progress.filtered_through(space, 4), 20);
        assert_eq!(progress.filtered_through(Space::Rows(2), 9), 0);
        assert_eq!(progress.filtered_through(space, 5), 30);
        progress.forget_space(space);
        assert_eq!(progress.filtered_through(space, 5), 0);
    }

    #[test]
    fn journals_are_told_by_their_numbers() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(journal_numbers(directory.path()), None);
        for name in ["7.jnl", "10.jnl", "9.jnl", "version"] {
            std::fs::write(directory.path().join(name), "").unwrap();
        }
        assert_eq!(journal_numbers(directory.path()), Some((7, 10)));
        std::fs::write(directory.path().join("odd.jnl"), "").unwrap();
        assert_eq!(journal_numbers(directory.path()), None);
    }
}
