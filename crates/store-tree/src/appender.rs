//! The thread that makes batches durable: all waiting batches form one group of the journal, with
//! one write and one sync. The group is then applied to the trees, on this thread if nothing else
//! waits, otherwise by the applier while this thread syncs the next group.
//!
//! ```text
//!  committer   [order 1]  [order 2]   [order 3]  [order 4]
//!  appender         [sync 1]      [sync 2 and 3]       [sync 4, apply 4]
//!  applier                   [apply 1]          [apply 2, 3]
//! ```

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
    mpsc,
};

use journal::{AppendFailure, EncodedEntry};
use store::{CommitClock, Error, Kind};

use crate::{
    applier::apply_group,
    inner::OpenStore,
    messages::{Batch, CommitterMessage},
};

/// Size at which a group accepts no more batches, so that the group is applied to its trees while
/// the next one is synced.
const GROUP_BYTES: usize = 4 * 1024 * 1024;

/// Size up to which a group is applied on this thread, which is faster than waking the applier.
const QUICK_BYTES: usize = 32 * 1024;

/// State of the thread that appends to the journal.
pub(crate) struct Appender {
    inner: Arc<OpenStore>,
    time: Arc<dyn CommitClock>,
    /// Receives durable groups of entries, in order.
    applier: mpsc::Sender<Vec<Batch>>,
    /// Number of groups that the applier has not finished.
    applying: Arc<AtomicUsize>,
    committer: mpsc::Sender<CommitterMessage>,
    /// The committer's last epoch (a sequence of entries that depend on one another) in which the
    /// journal refused an entry, and the reason.
    refused: Option<(u64, Error)>,
    /// A batch taken from the queue that did not fit into the last group.
    left_over: Option<Batch>,
}

impl Appender {
    /// Creates the appender of an open store.
    pub(crate) fn new(
        inner: Arc<OpenStore>,
        time: Arc<dyn CommitClock>,
        applier: mpsc::Sender<Vec<Batch>>,
        applying: Arc<AtomicUsize>,
        committer: mpsc::Sender<CommitterMessage>,
    ) -> Self {
        Self { inner, time, applier, applying, committer, refused: None, left_over: None }
    }

    /// Makes batches durable until the committer stops.
    pub(crate) fn run(mut self, batches: &mpsc::Receiver<Batch>) {
        while let Some(first) = self.left_over.take().or_else(|| batches.recv().ok()) {
            let mut bytes = first.bytes();
            let mut group = vec![first];
            while let Ok(batch) = batches.try_recv() {
                let others = batch.followed != group[0].followed;
                if others || GROUP_BYTES < bytes + batch.bytes() {
                    self.left_over = Some(batch);
                    break;
                }
                bytes += batch.bytes();
                group.push(batch);
            }
            self.append(&mut group);
            self.hand_over(group, batches);
        }
    }

    /// Appends the batches that have entries; batches that fail are marked with the reason.
    fn append(&mut self, group: &mut [Batch]) {
        for batch in group.iter_mut() {
            let refused = self.refused.as_ref().filter(|refused| batch.epoch <= refused.0);
            if let (Some((_, why)), Some(_), None) = (refused, &batch.entry, &batch.failed) {
                batch.failed = Some(why.clone());
            }
        }
        let waits = |batch: &&mut Batch| batch.failed.is_none() && batch.entry.is_some();
        let mut waiting: Vec<_> = group.iter_mut().filter(waits).collect();
        let entry = |batch: &&mut Batch| batch.entry.as_ref().map(|entry| entry.encoded.clone());
        let entries: Vec<EncodedEntry> = waiting.iter().filter_map(entry).collect();
        let Some(epoch) = waiting.last().map(|batch| batch.epoch) else { return };
        let followed = waiting.iter().any(|batch| batch.followed);
        let began = self.time.monotonic_ns();
        let appended = match self.inner.stop_reason() {
            Some(why) => Err(AppendFailure::Refused(why)),
            None => match self.inner.journal() {
                Ok(journal) if followed => journal.follow(&entries),
                Ok(journal) => journal.append(&entries),
                Err(gone) => Err(AppendFailure::Refused(gone)),
            },
        };
        match appended {
            Ok(_) => {
                let took = self.time.monotonic_ns().saturating_sub(began);
                self.inner.metrics.fsync_ns.observe(took);
                let committed: u64 = waiting.iter().map(|batch| batch.committed).sum();
                if 0 < committed {
                    self.inner.metrics.group_size.observe(committed);
                }
            }
            Err(failure) => {
                let error = self.record_failure(epoch, failure);
                waiting.iter_mut().for_each(|batch| batch.failed = Some(error.clone()));
            }
        }
    }

    /// Records that a group was not appended; returns the error for its writers.
    fn record_failure(&mut self, epoch: u64, failure: AppendFailure) -> Error {
        match failure {
            AppendFailure::Refused(error) => {
                // Later entries of the epoch were built on the number and the sums of this entry,
                // so they are refused too.
                self.refused = Some((epoch, error.clone()));
                self.inner.refused_epoch.store(epoch, Ordering::SeqCst);
                if error.kind == Kind::Unavailable {
                    self.inner.stop_commits(&error);
                }
                error
            }
            AppendFailure::Unknown(error) => {
                let text = format!(
                    "sync the journal; it is unknown whether the write is durable: {error}"
                );
                let error = Error::new(Kind::Unavailable, text);
                self.inner.stop_commits(&error);
                self.refused = Some((u64::MAX, error.clone()));
                error
            }
        }
    }

    /// Passes a durable group on to the applier.
    fn hand_over(&mut self, group: Vec<Batch>, batches: &mpsc::Receiver<Batch>) {
        if self.left_over.is_none() {
            self.left_over = batches.try_recv().ok();
        }
        let bytes: usize = group.iter().map(Batch::bytes).sum();
        let behind_others = 0 < self.applying.load(Ordering::SeqCst);
        if self.left_over.is_some() || behind_others || QUICK_BYTES < bytes {
            self.applying.fetch_add(1, Ordering::SeqCst);
            // Cannot fail, since the applier stops after this thread.
            let _ = self.applier.send(group);
        } else {
            apply_group(&self.inner, group);
        }
        // Sent after the replies, so that writers that commit again at once share a sync.
        if self.left_over.is_none() {
            let _ = self.committer.send(CommitterMessage::Idle);
        }
    }
}
