//! Which spaces are being written. A space at rest is flushed and compacted further than one in a
//! burst of writes, with which the work would compete.

use std::collections::HashMap;

use parking_lot::Mutex;
use tree::SpaceMemory;

/// The last write of a space.
#[derive(Clone, Copy, Debug)]
struct LastWrite {
    /// Number of the last batch in the tree.
    batch: u64,
    /// Tick at which the batch was first observed.
    tick: u64,
}

/// Observes the memtables of all spaces, by the number of the space.
#[derive(Debug, Default)]
pub(crate) struct Rest(Mutex<HashMap<u64, LastWrite>>);

/// Number of ticks for which a space with empty memtables is remembered.
const REMEMBERED_TICKS: u64 = 50;

impl Rest {
    /// Records the contents of the memtables at a tick.
    pub(crate) fn observe(&self, memory: &[SpaceMemory], tick: u64) {
        let mut all = self.0.lock();
        for of in memory {
            let last = all.entry(of.space).or_insert(LastWrite { batch: of.last, tick });
            if last.batch != of.last {
                *last = LastWrite { batch: of.last, tick };
            }
        }
        all.retain(|space, last| {
            tick < last.tick + REMEMBERED_TICKS || memory.iter().any(|of| of.space == *space)
        });
    }

    /// Returns whether a space has not been written for this many ticks.
    pub(crate) fn is_at_rest(&self, space: u64, tick: u64, ticks: u64) -> bool {
        self.0.lock().get(&space).is_none_or(|last| last.tick + ticks <= tick)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_space_rests_once_its_last_batch_is_old() {
        let rest = Rest::default();
        let memory = |last| SpaceMemory { space: 1, bytes: 9, entries: 1, first: 1, last };
        assert!(rest.is_at_rest(1, 0, 5));
        rest.observe(&[memory(7)], 10);
        assert!(!rest.is_at_rest(1, 14, 5));
        assert!(rest.is_at_rest(1, 15, 5));
        rest.observe(&[memory(8)], 16);
        assert!(!rest.is_at_rest(1, 20, 5));
        // A flush does not end a burst of writes.
        rest.observe(&[], 17);
        assert!(!rest.is_at_rest(1, 20, 5));
        rest.observe(&[], 80);
        assert!(rest.is_at_rest(1, 80, 5));
    }
}
