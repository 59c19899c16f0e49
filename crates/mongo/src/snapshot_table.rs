//! The snapshots of reads with read concern `snapshot` outside of transactions, by cluster time. A
//! later read names the time that an earlier one has returned, and sees the same documents.
//!
//! ```text
//!  no atClusterTime ──▶ opened ──▶ kept ──▶ read again by its time
//!                                   ├─────▶ too old, or the oldest of too many: closed
//! ```
//!
//! A snapshot delays the reaping of documents that have expired since, so it is kept for no longer
//! than a transaction may be open.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use engine::{ClusterTime, Engine, Transaction};
use parking_lot::Mutex;

use crate::limits::MAX_SNAPSHOTS;

/// A snapshot that reads can name by its time.
#[derive(Debug)]
pub(crate) struct KeptSnapshot {
    pub(crate) time: ClusterTime,
    snapshot: Arc<Transaction>,
    /// The engine's handle for reads at the snapshot.
    pub(crate) engine: Engine,
    /// Time of the opening, on the machine's monotonic clock.
    opened: Duration,
}

impl KeptSnapshot {
    /// Creates the entry of a snapshot that was opened at this time of the machine's monotonic clock.
    pub(crate) fn new(engine: &Engine, snapshot: Arc<Transaction>, opened: Duration) -> Self {
        let time = snapshot.read_time().unwrap_or_default();
        let engine = engine.in_transaction(&snapshot);
        Self { time, snapshot, engine, opened }
    }

    /// Ends the snapshot: later reads fail with 239.
    pub(crate) fn close(&self) {
        self.snapshot.abort();
    }
}

/// The snapshots kept for later reads, by cluster time.
#[derive(Debug, Default)]
pub(crate) struct SnapshotTable(Mutex<BTreeMap<ClusterTime, Arc<KeptSnapshot>>>);

/// The result of adding a snapshot to the table.
pub(crate) enum Keeping {
    /// The snapshot to read, and the removed snapshot, which the caller closes.
    Kept(Arc<KeptSnapshot>, Option<Arc<KeptSnapshot>>),
    /// Another snapshot has the same time and fewer commits; a newer one has to be opened.
    Taken,
}

impl SnapshotTable {
    /// Returns the snapshot of a time.
    pub(crate) fn find(&self, time: ClusterTime) -> Option<Arc<KeptSnapshot>> {
        self.0.lock().get(&time).cloned()
    }

    /// Adds a snapshot. An equal one that is kept already is used instead.
    pub(crate) fn keep(&self, new: KeptSnapshot) -> Keeping {
        let mut kept = self.0.lock();
        if let Some(held) = kept.get(&new.time) {
            return match held.snapshot.is_same_snapshot(&new.snapshot) {
                true => Keeping::Kept(Arc::clone(held), None),
                false => Keeping::Taken,
            };
        }
        let is_full = MAX_SNAPSHOTS <= kept.len();
        let removed = if is_full { kept.pop_first().map(|(_, removed)| removed) } else { None };
        let new = Arc::new(new);
        kept.insert(new.time, Arc::clone(&new));
        Keeping::Kept(new, removed)
    }

    /// Removes and returns the snapshots that were opened before the limit of their lifetime. `now`
    /// is the machine's monotonic clock.
    pub(crate) fn take_overdue(&self, now: Duration, limit: Duration) -> Vec<Arc<KeptSnapshot>> {
        let is_overdue =
            |_: &_, held: &mut Arc<KeptSnapshot>| limit <= now.saturating_sub(held.opened);
        self.0.lock().extract_if(.., is_overdue).map(|(_, held)| held).collect()
    }
}
