//! The written parts of entries whose append is incomplete. An append is repeated until all parts
//! are written; without this state, a large one would restart from its first part and succeed only
//! when all parts are acknowledged within the timeout of one request.

use std::collections::{BTreeMap, BTreeSet};

use cluster::EntryPart;
use parking_lot::Mutex;

use crate::records::number;

/// A segment of a shard's journal, stored as one partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Segment {
    pub(crate) shard: i32,
    pub(crate) epoch: i64,
    pub(crate) segment: i64,
}

impl Segment {
    pub(crate) fn new(shard: u32, epoch: u64, segment: u64) -> Self {
        Self { shard: shard.cast_signed(), epoch: number(epoch), segment: number(segment) }
    }
}

/// Number of an entry, and number of its part.
type PartId = (u64, u32);

/// The parts that a quorum has, by segment.
#[derive(Debug, Default)]
pub(crate) struct WrittenParts {
    parts: Mutex<BTreeMap<Segment, BTreeSet<PartId>>>,
}

impl WrittenParts {
    /// Returns the parts that still have to be written. State of earlier epochs of the shard is
    /// dropped: another node has owned the shard since, so nothing more is appended in them.
    pub(crate) fn missing(&self, at: Segment, parts: &[EntryPart]) -> BTreeSet<PartId> {
        let mut all = self.parts.lock();
        all.retain(|other, _| other.shard != at.shard || at.epoch <= other.epoch);
        let written = all.get(&at);
        let ids = parts.iter().map(|part| (part.n, part.part));
        ids.filter(|id| written.is_none_or(|written| !written.contains(id))).collect()
    }

    /// Records that a quorum has a part.
    pub(crate) fn record(&self, at: Segment, n: u64, part: u32) {
        self.parts.lock().entry(at).or_default().insert((n, part));
    }

    /// Forgets parts after their append has completed.
    pub(crate) fn forget(&self, at: Segment, parts: &[EntryPart]) {
        let mut all = self.parts.lock();
        if let Some(written) = all.get_mut(&at) {
            for part in parts {
                written.remove(&(part.n, part.part));
            }
            if written.is_empty() {
                all.remove(&at);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn parts(n: u64, count: u32) -> Vec<EntryPart> {
        (0..count).map(|part| EntryPart { n, part, body: Bytes::new() }).collect()
    }

    #[test]
    fn only_what_is_missing_is_written_again() {
        let (all, at) = (WrittenParts::default(), Segment::new(1, 5, 0));
        let entry = parts(7, 3);
        assert_eq!(all.missing(at, &entry).len(), 3);
        all.record(at, 7, 0);
        all.record(at, 7, 2);
        assert_eq!(all.missing(at, &entry), BTreeSet::from([(7, 1)]));
        // The same numbers in another segment or entry are different parts.
        assert_eq!(all.missing(Segment::new(2, 5, 0), &entry).len(), 3);
        assert_eq!(all.missing(at, &parts(8, 3)).len(), 3);
        all.forget(at, &entry);
        assert_eq!(all.missing(at, &entry).len(), 3);
        assert!(all.parts.lock().is_empty());
    }

    #[test]
    fn what_an_ended_term_wrote_is_not_kept() {
        let all = WrittenParts::default();
        all.record(Segment::new(1, 5, 0), 7, 0);
        all.record(Segment::new(2, 5, 0), 7, 0);
        all.missing(Segment::new(1, 6, 0), &parts(7, 1));
        assert_eq!(all.parts.lock().keys().copied().collect::<Vec<_>>(), [Segment::new(2, 5, 0)]);
    }
}
