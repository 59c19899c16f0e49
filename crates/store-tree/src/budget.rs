//! Bounds the data that is only in memtables: its size, and the time that startup needs to replay
//! it.
//!
//! ```text
//!  weight of the entries that startup would replay: bytes + 500 per mutation
//!     beyond its budget: flush the oldest memory     beyond twice that: commits wait
//!  bytes in memory
//!     beyond their budget: flush the largest memory  beyond twice that: commits wait
//! ```

use std::{
    collections::VecDeque,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::Duration,
};

use parking_lot::{Condvar, Mutex};
use store::Error;

/// Weight of a mutation besides its bytes: startup replays each in about 2 us.
const MUTATION_WEIGHT: u64 = 500;
/// Poll interval of threads that wait for memory to be flushed.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// Compares the size of memtables, and the weight of entries to be replayed, with their budgets.
pub(crate) struct Budget {
    journal_bytes: u64,
    buffer_bytes: u64,
    groups: Mutex<Groups>,
    /// Bytes in memtables, as the trees count them.
    memory: AtomicU64,
    /// Notified when `memory` or the weight of `groups` decreases.
    less: Condvar,
    /// The error of the last flush, if it failed.
    failure: Mutex<Option<Error>>,
    failing: AtomicBool,
}

/// Groups with entries that startup would have to replay.
#[derive(Default)]
struct Groups {
    /// Last entry and weight of each group.
    held: VecDeque<(u64, u64)>,
    weight: u64,
}

/// The exceeded budget, which decides which tree is flushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExceededBudget {
    /// The journal exceeds its budget, so the memtable with the oldest entry is flushed.
    Journal,
    /// The memtables exceed their budget: flush the largest.
    Memory,
}

impl Budget {
    /// Creates a budget with nothing in memory.
    pub(crate) fn new(journal_bytes: u64, buffer_bytes: u64) -> Self {
        Self {
            journal_bytes,
            buffer_bytes,
            groups: Mutex::default(),
            memory: AtomicU64::new(0),
            less: Condvar::new(),
            failure: Mutex::default(),
            failing: AtomicBool::new(false),
        }
    }

    /// Records a group that ends with this entry.
    pub(crate) fn record_group(&self, last: u64, bytes: u64, mutations: u64) {
        let weight = bytes + MUTATION_WEIGHT * mutations;
        let mut groups = self.groups.lock();
        groups.held.push_back((last, weight));
        groups.weight += weight;
    }

    pub(crate) fn record_memory(&self, bytes: u64) {
        self.memory.fetch_add(bytes, Ordering::SeqCst);
    }

    /// Records that memtables were flushed or dropped.
    pub(crate) fn record_freed(&self, bytes: u64) {
        let less = |memory: u64| Some(memory.saturating_sub(bytes));
        let _ = self.memory.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less);
        self.less.notify_all();
    }

    /// Returns the bytes in memtables.
    pub(crate) fn in_memory(&self) -> u64 {
        self.memory.load(Ordering::SeqCst)
    }

    /// Forgets the groups whose entries are all before `tail`, the first entry that startup
    /// replays.
    pub(crate) fn cut(&self, tail: u64) {
        let mut groups = self.groups.lock();
        while let Some((last, weight)) = groups.held.front().copied()
            && last < tail
        {
            groups.held.pop_front();
            groups.weight -= weight;
        }
        drop(groups);
        self.less.notify_all();
    }

    /// Returns which budget is exceeded by a factor of `times`; `None` if neither is.
    fn excess_of(&self, times: u64) -> Option<ExceededBudget> {
        if self.journal_bytes.saturating_mul(times) < self.groups.lock().weight {
            return Some(ExceededBudget::Journal);
        }
        (self.buffer_bytes.saturating_mul(times) < self.in_memory())
            .then_some(ExceededBudget::Memory)
    }

    /// Returns which budget is exceeded.
    pub(crate) fn excess(&self) -> Option<ExceededBudget> {
        self.excess_of(1)
    }

    pub(crate) fn record_flush(&self, failure: Option<Error>) {
        self.failing.store(failure.is_some(), Ordering::SeqCst);
        *self.failure.lock() = failure;
        self.less.notify_all();
    }

    /// Returns the error of the last flush, if it failed.
    pub(crate) fn flush_failure(&self) -> Option<Error> {
        if !self.failing.load(Ordering::SeqCst) {
            return None;
        }
        self.failure.lock().clone()
    }

    /// Waits while a budget is exceeded by a factor of two; fails if the last flush failed. `ended`
    /// is polled and stops the wait.
    pub(crate) fn wait_for_room(&self, ended: impl Fn() -> bool) -> Result<(), Error> {
        while self.excess_of(2).is_some() && !ended() {
            if let Some(failure) = self.flush_failure() {
                return Err(failure);
            }
            let mut groups = self.groups.lock();
            self.less.wait_for(&mut groups, CHECK_INTERVAL);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use store::Kind;

    use super::*;

    #[test]
    fn small_mutations_weigh_more_than_their_bytes() {
        let budget = Budget::new(10_000, 1_000);
        budget.record_group(1, 100, 19);
        assert_eq!(budget.excess(), None);
        budget.record_group(3, 100, 1);
        assert_eq!(budget.excess(), Some(ExceededBudget::Journal));
        budget.cut(1);
        assert_eq!(budget.excess(), Some(ExceededBudget::Journal), "entry 1 is needed");
        budget.cut(2);
        assert_eq!(budget.excess(), None);
        budget.record_memory(1_001);
        assert_eq!(budget.excess(), Some(ExceededBudget::Memory));
        budget.record_freed(1);
        assert_eq!(budget.excess(), None);
    }

    #[test]
    fn whoever_needs_room_waits_or_hears_why() {
        let budget = Budget::new(100, 100);
        budget.record_memory(200);
        budget.wait_for_room(|| false).unwrap();
        budget.record_memory(1);
        budget.wait_for_room(|| true).unwrap();
        budget.record_flush(Some(Error::new(Kind::Full, "full")));
        assert_eq!(budget.wait_for_room(|| false).unwrap_err().kind, Kind::Full);
        std::thread::scope(|scope| {
            budget.record_flush(None);
            scope.spawn(|| budget.wait_for_room(|| false).unwrap());
            budget.record_freed(50);
        });
    }
}
