//! The one thread that orders commits: it takes what is waiting, stamps it, checks conditions,
//! writes one batch and hands it to the syncer, which makes it durable and visible while the next
//! batch is ordered. Nobody waits for a writer of another document longer than that.
//!
//! ```text
//!  time ──▶
//!  committer   [order, write 1]  [order, write 2]   [order, write 3]
//!  syncer                       [sync 1, publish]  [sync 2, publish] …
//! ```
//!
//! The longer a sync takes, the more commits wait for the next batch: throughput grows with the
//! load, and a single writer waits for one sync. A batch that holds little waits for more while a
//! sync is under way ([`commits_worth_a_batch`]), since each batch costs a sync of its own.
//!
//! A commit with a fence (a change of settings) ends its batch: nothing is ordered before the fence
//! is lowered.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, atomic::Ordering, mpsc},
};

use bytes::Bytes;
use fjall::{OwnedWriteBatch, PersistMode};
use store::{
    Commit, Error, FoldedSums, Kind, Mutation, OrderedBatch, Outcome, Sequencer, Space, Timepiece,
    decode_count, encode_count,
};

use crate::{
    errors::from_fjall,
    inner::OpenTree,
    messages::{CommitAnswer, CommitRequest, CommitterMessage, WrittenBatch},
    meta::{self, Position, WrittenAfter},
    spaces::SpacePlace,
};

/// Commits of one batch at most; what waits beyond comes with the next.
const BATCH_COMMITS: usize = 4_096;
/// Puts and deletes that are worth a batch of their own while another is synced; fewer wait for
/// more. A commit that indexes an item has thirty times those of one that stores a document.
const WORTH_MUTATIONS: usize = 64;
/// Sums kept in memory before they are forgotten and read again.
const CACHED_SUMS: usize = 100_000;

/// A pair of sums under its key.
type StoredSum = ((Space, Bytes), [i64; 2]);

/// The committer's own state.
pub(crate) struct Committer {
    /// The open tree.
    inner: Arc<OpenTree>,
    /// Database time, for stamps.
    time: Arc<dyn Timepiece>,
    /// Takes written batches, in their order.
    syncer: mpsc::Sender<WrittenBatch>,
    /// Gives stamps and checks conditions.
    sequencer: Sequencer,
    /// Number of the last batch that was written.
    batch: u64,
    /// Pairs of sums as they are in the tree, those used lately.
    sums: FoldedSums,
    /// Whether the syncer has something to do.
    syncing: bool,
    /// Puts and deletes of a commit of the last batch, on average.
    commit_mutations: usize,
    /// Requests that came since the last batch.
    waiting: Vec<CommitRequest>,
}

impl Committer {
    /// A committer that goes on after this position.
    pub(crate) fn new(
        inner: Arc<OpenTree>,
        time: Arc<dyn Timepiece>,
        position: Position,
        syncer: mpsc::Sender<WrittenBatch>,
    ) -> Self {
        Self {
            inner,
            time,
            syncer,
            sequencer: Sequencer::starting_after(position.stamp),
            batch: position.batch,
            sums: FoldedSums::default(),
            syncing: false,
            commit_mutations: 1,
            waiting: Vec::new(),
        }
    }

    /// Serves messages until it is told to stop.
    pub(crate) fn run(mut self, messages: &mpsc::Receiver<CommitterMessage>) {
        while let Ok(first) = messages.recv() {
            let mut next = Some(first);
            // All that is in the mailbox by now goes into one batch.
            while let Some(message) = next {
                match message {
                    CommitterMessage::Commit(request) => self.waiting.push(request),
                    CommitterMessage::Refresh(done) => {
                        self.enqueue_for_sync(self.refresh_batch(done))
                    }
                    CommitterMessage::Idle => self.syncing = false,
                    CommitterMessage::Close => return,
                }
                let full = BATCH_COMMITS <= self.waiting_commits();
                next = if full { None } else { messages.try_recv().ok() };
            }
            // `Idle` wakes this thread when the sync ends, so what waits does not wait for long.
            let worth = if self.syncing { commits_worth_a_batch(self.commit_mutations) } else { 1 };
            if worth <= self.waiting_commits()
                || self.waiting.iter().any(|request| request.commits.is_empty())
            {
                self.serve_waiting();
            }
        }
    }

    /// Commits of all requests that wait.
    fn waiting_commits(&self) -> usize {
        self.waiting.iter().map(|request| request.commits.len()).sum()
    }

    /// Hands a batch to the syncer.
    fn enqueue_for_sync(&mut self, written: WrittenBatch) {
        self.syncing = true;
        // The syncer ends after the committer.
        let _ = self.syncer.send(written);
    }

    /// A batch of nothing: it publishes a snapshot that is newer than those before it.
    fn refresh_batch(&self, done: mpsc::Sender<()>) -> WrittenBatch {
        let open = Some(self.inner.open_view());
        WrittenBatch { open, done: Some(done), ..WrittenBatch::default() }
    }

    /// Takes all requests that wait, and deals the outcomes out to them.
    fn serve_waiting(&mut self) {
        let mut commits = Vec::new();
        let mut askers = Vec::with_capacity(self.waiting.len());
        for request in std::mem::take(&mut self.waiting) {
            askers.push((request.commits.len(), request.answer));
            commits.extend(request.commits);
        }
        // The closures of commits run here. One that panics may have left a batch half-ordered: the
        // store is stopped, and opened again from what is durable.
        let commit = catch_unwind(AssertUnwindSafe(|| self.order_and_write(commits)));
        let mut last = commit.unwrap_or_else(|_| {
            let error = Error::new(Kind::Unavailable, "a commit failed in an unforeseen way");
            self.inner.stop_commits(&error);
            WrittenBatch { failed: Some(error), in_flight: true, ..WrittenBatch::default() }
        });
        let mut outcomes = std::mem::take(&mut last.outcomes).into_iter();
        last.answers = askers
            .into_iter()
            .map(|(count, asker)| CommitAnswer {
                asker,
                outcomes: outcomes.by_ref().take(count).collect(),
            })
            .collect();
        self.enqueue_for_sync(last);
    }

    /// Orders and writes; what is left for the syncer at the end carries all outcomes.
    fn order_and_write(&mut self, commits: Vec<Commit>) -> WrittenBatch {
        let mut commits = commits;
        let mut outcomes = Vec::with_capacity(commits.len());
        loop {
            // Nothing was entered in the in-flight table yet, so there is nothing to finish.
            if let Some(error) = self.inner.stop_reason() {
                return WrittenBatch { failed: Some(error), ..WrittenBatch::default() };
            }
            self.inner
                .in_flight
                .enter_batch(self.time.now_ms().max(self.sequencer.last_stamp().at_ms));
            let mut ordered =
                self.sequencer.order_commits(commits, &*self.time, &self.inner.in_flight);
            commits = std::mem::take(&mut ordered.rest);
            let committed = |outcome: &&Outcome| matches!(outcome, Outcome::Committed(_));
            let committed = ordered.outcomes.iter().filter(committed).count() as u64;
            outcomes.append(&mut ordered.outcomes);
            let fence = ordered.fence.take();
            let mut written = self.write_batch(ordered, committed).unwrap_or_else(|error| {
                self.inner.stop_commits(&error);
                WrittenBatch { failed: Some(error), ..WrittenBatch::default() }
            });
            written.in_flight = true;
            if fence.is_some() {
                // Nothing is ordered before the fence is lowered.
                // The syncer lowers it, after the batch is visible or has failed.
                let (done, lowered) = mpsc::channel();
                let failed = written.failed.clone();
                self.enqueue_for_sync(WrittenBatch { fence, done: Some(done), ..written });
                let _ = lowered.recv();
                written = WrittenBatch { failed, ..WrittenBatch::default() };
            }
            if commits.is_empty() || written.failed.is_some() {
                return WrittenBatch { outcomes, ..written };
            }
            if written.in_flight {
                self.enqueue_for_sync(written);
            }
        }
    }

    /// Writes a batch of this many commits; the syncer makes it durable, and only then it is
    /// visible.
    fn write_batch(
        &mut self,
        mut ordered: OrderedBatch,
        committed: u64,
    ) -> Result<WrittenBatch, Error> {
        // All of them were refused.
        let Some(last) = ordered.last else { return Ok(WrittenBatch::default()) };
        self.commit_mutations =
            ordered.mutations.len() / usize::try_from(committed).unwrap_or(1).max(1);
        let inner = Arc::clone(&self.inner);
        let capacity = ordered.mutations.len() + ordered.sums.len() + 2;
        let mut batch = OwnedWriteBatch::with_capacity(inner.database.clone(), capacity)
            .durability(Some(PersistMode::Buffer));
        let (mut written, mut bytes) = (Vec::new(), 0);
        let mut last_place: Option<(Space, Option<SpacePlace>)> = None;
        // Neighbours are put into the memory of the tree by the same way. A later one of a key
        // wins.
        ordered.mutations.sort_by(|a, b| a.space_and_key().cmp(&b.space_and_key()));
        for mutation in ordered.mutations {
            let (space, key, value) = match mutation {
                Mutation::Put { space, key, value } => (space, key, Some(value)),
                Mutation::Delete { space, key } => (space, key, None),
                Mutation::Add { .. } => continue,
            };
            bytes += key.len() + value.as_ref().map_or(0, Bytes::len);
            let place = match last_place.take() {
                Some((of, place)) if of == space => place,
                _ => {
                    note_space(&mut written, space);
                    inner.spaces.place_of(space)
                }
            };
            match (&place, value) {
                (Some(place), Some(value)) => {
                    batch.insert(&place.keyspace, place.tree_key(&key), value)
                }
                (Some(place), None) => batch.remove(&place.keyspace, place.tree_key(&key)),
                (None, _) => {}
            }
            last_place = Some((space, place));
        }
        // Sums go into the same batch as what they count, so that they agree after any crash.
        let added = self.add_sums(&inner, ordered.sums, &mut batch, &mut written)?;
        let position = Position { batch: self.batch + 1, stamp: last };
        // Notes in the batch itself; a start compares them with what it finds in the journal.
        let around = WrittenAfter {
            durable: inner.durable_batch.load(Ordering::SeqCst),
            sequence: inner.database.visible_seqno(),
        };
        meta::note_batch(&mut batch, &inner.meta, position, around);
        batch.commit().map_err(|error| from_fjall("write a commit", &error))?;
        written.iter().for_each(|space| {
            inner.spaces.with_place(*space, |place| {
                inner.writeback.note_written(&place.keyspace);
                inner.reclaimer.note_written(&place.keyspace);
            });
        });
        // After the batch is in the tree: whoever is told looks at the tree.
        inner.compactor.note_written(written);
        inner.room.note_written(bytes as u64);
        self.batch = position.batch;
        inner.written_batch.store(position.batch, Ordering::SeqCst);
        self.remember_sums(added);
        let open = Some(inner.open_view());
        Ok(WrittenBatch { open, position: Some(position), committed, ..WrittenBatch::default() })
    }

    /// Adds to sums: reads what is there, once, and puts the result. A pair of zeros is removed.
    fn add_sums(
        &mut self,
        inner: &OpenTree,
        sums: FoldedSums,
        batch: &mut OwnedWriteBatch,
        written: &mut Vec<Space>,
    ) -> Result<Vec<StoredSum>, Error> {
        let mut added = Vec::with_capacity(sums.len());
        for ((space, key), by) in sums {
            let Some(place) = inner.spaces.place_of(space) else { continue };
            let (keyspace, stored) = (&place.keyspace, place.tree_key(&key));
            note_space(written, space);
            let held = match self.sums.get(&(space, key.clone())) {
                Some(held) => *held,
                // Not in memory: this thread is the only writer of sums, so the tree's value is the
                // latest.
                None => keyspace
                    .get(&stored)
                    .map_err(|error| from_fjall("read a sum", &error))?
                    .map_or([0; 2], |value| decode_count(&value)),
            };
            let sum = [held[0].saturating_add(by[0]), held[1].saturating_add(by[1])];
            if sum == [0; 2] {
                batch.remove(keyspace, stored);
            } else {
                batch.insert(keyspace, stored, encode_count(sum));
            }
            added.push(((space, key), sum));
        }
        Ok(added)
    }

    /// Keeps sums for the next batch. Called when the batch is in the tree, and not before: a batch
    /// that failed must leave no trace here.
    fn remember_sums(&mut self, added: Vec<StoredSum>) {
        if CACHED_SUMS < self.sums.len() {
            self.sums.clear();
        }
        self.sums.extend(added);
    }
}

/// Commits of this many puts and deletes each that are worth a batch while another is synced; never
/// none, or there would be no end of empty batches.
fn commits_worth_a_batch(commit_mutations: usize) -> usize {
    (WORTH_MUTATIONS / commit_mutations.max(1)).max(1)
}

/// Notes a space once; a batch touches few.
fn note_space(written: &mut Vec<Space>, space: Space) {
    if !written.contains(&space) {
        written.push(space);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_large_commits_are_worth_a_batch_and_nothing_never_is() {
        let commits = [0, 1, 2, 30, 64, 65, usize::MAX].map(commits_worth_a_batch);
        assert_eq!(commits, [64, 64, 32, 2, 1, 1, 1]);
    }
}
