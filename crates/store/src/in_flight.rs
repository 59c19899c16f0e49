//! The in-flight table: commits that are ordered, or about to be, but not yet visible.
//!
//! A committer enters a batch into the table before it stamps any commit of the batch. A reader
//! that takes its instant first and then finds the table empty therefore knows that no commit which
//! it does not see has an earlier instant. Below, `[7: at 1000]` is batch 7, entered at instant
//! 1000, and *finished* is the number of the last batch up to which all are visible.
//!
//! ```text
//!  batches:   [7: at 1000] [8: at 1004]          finished: 6
//!  oldest:     1000, wait for batch 8            a view at 1010: expirations up to 1000 are final
//!  finish:                 [8: at 1004]          finished: 7
//! ```
//!
//! A view waits for all batches that the table contained when the view read the table, not only for
//! the oldest: any of them may extend a document's lifetime.

use std::{
    collections::VecDeque,
    sync::atomic::{AtomicI64, AtomicU64, Ordering},
};

use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::{cluster_time::ClusterTime, commit::Stamp};

/// Value of `since_ms` while the table is empty.
const NONE: i64 = i64::MAX;

/// The batches of commits that are stamped, or about to be, and not visible yet.
#[derive(Debug)]
pub struct InFlight {
    /// Instants of the batches in flight, oldest first. Locked only briefly, by the threads that
    /// order and publish commits.
    under_way: Mutex<VecDeque<i64>>,
    /// Instant of the oldest batch, so that readers need no lock.
    since_ms: AtomicI64,
    /// Number of batches entered so far; batch numbers start at 1.
    batch: AtomicU64,
    /// Number of batches that are visible or refused; batches finish in order.
    finished: AtomicU64,
    /// Instant of the latest stamp. A view that may include the commit with this stamp must not
    /// have an earlier instant.
    newest_ms: AtomicI64,
    /// Cluster time of the newest visible commit, as a timestamp.
    published_time: AtomicU64,
    /// Notified each time a batch finishes.
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
            published_time: AtomicU64::new(0),
            progress: Notify::new(),
        }
    }
}

impl InFlight {
    /// Enters a batch that is about to be stamped at this instant or later.
    pub fn enter_batch(&self, at_ms: i64) {
        let mut under_way = self.under_way.lock();
        under_way.push_back(at_ms);
        self.batch.fetch_add(1, Ordering::SeqCst);
        // Stored after the batch number, because readers load `since_ms` first.
        if under_way.len() == 1 {
            self.since_ms.store(at_ms, Ordering::SeqCst);
        }
    }

    /// Records the instant of a commit that was stamped and is not visible yet.
    pub fn record_stamp(&self, at_ms: i64) {
        self.newest_ms.fetch_max(at_ms, Ordering::SeqCst);
    }

    /// Records that all commits up to this stamp are visible, or were found at startup.
    pub fn record_published(&self, stamp: Stamp) {
        if stamp.seq != 0 {
            let time = ClusterTime::of_commit(stamp).timestamp();
            self.published_time.fetch_max(time, Ordering::SeqCst);
        }
    }

    /// Returns the cluster time of the newest visible commit; [`ClusterTime::MIN`] if there was no
    /// commit ever.
    pub fn published_time(&self) -> ClusterTime {
        ClusterTime::from_timestamp(self.published_time.load(Ordering::SeqCst))
    }

    /// Removes the oldest batch, whose commits are now visible or have failed.
    pub fn finish_oldest(&self) {
        let mut under_way = self.under_way.lock();
        if under_way.pop_front().is_some() {
            let next = under_way.front().copied().unwrap_or(NONE);
            self.since_ms.store(next, Ordering::SeqCst);
            self.finished.fetch_add(1, Ordering::SeqCst);
        }
        drop(under_way);
        self.progress.notify_waiters();
    }

    /// Returns the instant of the oldest commit in flight and the newest batch number, for
    /// [`wait_until_finished`](Self::wait_until_finished); `None` if the table is empty.
    pub fn oldest_commit(&self) -> Option<(i64, u64)> {
        let since = self.since_ms.load(Ordering::SeqCst);
        (since != NONE).then(|| (since, self.batch.load(Ordering::SeqCst)))
    }

    /// Returns the latest instant of any stamped commit; no visible commit is later.
    pub fn newest_ms(&self) -> i64 {
        self.newest_ms.load(Ordering::SeqCst)
    }

    /// Waits until this batch and all earlier ones are visible or refused.
    pub async fn wait_until_finished(&self, batch: u64) {
        loop {
            // Registered before the check, so that a batch that finishes in between is not missed.
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
