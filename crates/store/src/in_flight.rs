//! The in-flight table: which commits are ordered or about to be, and not yet visible.
//!
//! A committer enters a batch before it stamps anything in it, so a reader that took its instant
//! first and then finds the table empty knows: whatever is stamped from now on is stamped later.
//!
//! ```text
//!  batches:   [7: at 1000] [8: at 1004]          finished: 6
//!  oldest:     1000, wait for batch 8            a view at 1010: expirations up to 1000 are final
//!  finish:                 [8: at 1004]          finished: 7
//! ```
//!
//! A view waits for all batches that were entered when it looked, and not for the oldest alone: any
//! of them may extend a document.

use std::{
    collections::VecDeque,
    sync::atomic::{AtomicI64, AtomicU64, Ordering},
};

use parking_lot::Mutex;
use tokio::sync::Notify;

/// In place of an instant while the table is empty.
const NONE: i64 = i64::MAX;

/// The commits under way.
#[derive(Debug)]
pub struct InFlight {
    /// Instants of the batches under way, oldest first.
    /// Held for a moment only, by the threads that order and publish.
    under_way: Mutex<VecDeque<i64>>,
    /// Instant of the oldest, for readers, who take no lock.
    since_ms: AtomicI64,
    /// How many batches were ever entered; their numbers begin with 1.
    batch: AtomicU64,
    /// How many of them are visible or were refused; they finish in order.
    finished: AtomicU64,
    /// The latest stamp, so that no view opens before the instant of what it sees.
    newest_ms: AtomicI64,
    /// Told each time a batch finishes.
    progress: Notify,
}

impl Default for InFlight {
    fn default() -> Self {
        Self {
            under_way: Mutex::default(),
            since_ms: AtomicI64::new(NONE),
            batch: AtomicU64::new(0),
            finished: AtomicU64::new(0),
            newest_ms: AtomicI64::new(i64::MIN),
            progress: Notify::new(),
        }
    }
}

impl InFlight {
    /// A batch is about to be stamped, at this instant or later.
    pub fn enter_batch(&self, at_ms: i64) {
        let mut under_way = self.under_way.lock();
        under_way.push_back(at_ms);
        self.batch.fetch_add(1, Ordering::SeqCst);
        // It is the oldest. Written after the number, which a reader reads after this.
        if under_way.len() == 1 {
            self.since_ms.store(at_ms, Ordering::SeqCst);
        }
    }

    /// A commit got this instant; it is not visible yet.
    pub fn note_stamp(&self, at_ms: i64) {
        self.newest_ms.fetch_max(at_ms, Ordering::SeqCst);
    }

    /// The oldest batch is visible or was refused.
    pub fn finish_oldest(&self) {
        let mut under_way = self.under_way.lock();
        if under_way.pop_front().is_some() {
            // The next one becomes the oldest, or the table is empty.
            let next = under_way.front().copied().unwrap_or(NONE);
            self.since_ms.store(next, Ordering::SeqCst);
            self.finished.fetch_add(1, Ordering::SeqCst);
        }
        drop(under_way);
        self.progress.notify_waiters();
    }

    /// The instant of the oldest commit under way, and the batch to wait for; `None` when there
    /// is none.
    pub fn oldest_commit(&self) -> Option<(i64, u64)> {
        let since = self.since_ms.load(Ordering::SeqCst);
        (since != NONE).then(|| (since, self.batch.load(Ordering::SeqCst)))
    }

    /// No commit that is visible has a later instant.
    pub fn newest_ms(&self) -> i64 {
        self.newest_ms.load(Ordering::SeqCst)
    }

    /// Waits until the commits that were under way with this batch are visible or refused.
    pub async fn wait_until_finished(&self, batch: u64) {
        loop {
            // Before the look: a batch that finishes in between must not be missed.
            let news = self.progress.notified();
            if batch <= self.finished.load(Ordering::SeqCst) {
                return;
            }
            news.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_batch_under_way_counts_until_it_has_landed() {
        let table = InFlight::default();
        assert_eq!(table.oldest_commit(), None);
        table.enter_batch(10);
        table.enter_batch(20);
        assert_eq!(table.oldest_commit(), Some((10, 2)));
        table.finish_oldest();
        assert_eq!(table.oldest_commit(), Some((20, 2)));
        assert_eq!(table.finished.load(Ordering::SeqCst), 1);
        table.enter_batch(30);
        table.finish_oldest();
        assert_eq!(table.oldest_commit(), Some((30, 3)));
        table.finish_oldest();
        table.finish_oldest();
        assert_eq!((table.oldest_commit(), table.finished.load(Ordering::SeqCst)), (None, 3));
    }
}
