//! The one thread that orders commits: it takes what is waiting, stamps it, checks conditions,
//! writes one batch and hands it to the syncer, which makes it durable and visible while the next
//! batch is ordered. Nobody waits for a writer of another document longer than that.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, atomic::Ordering, mpsc},
};

use bytes::Bytes;
use fjall::{OwnedWriteBatch, PersistMode};
use store::{
    Error, Kind, Mutation, Ordered, Outcome, Sequencer, Space, Sums, Timepiece, Unit, decode_count,
    encode_count,
};

use crate::{
    errors::from_fjall,
    inner::Inner,
    messages::{Answer, Message, Request, Written},
    meta::{self, Around, Position},
    spaces::Place,
};

/// Units of one batch at most; what waits beyond comes with the next.
const BATCH_UNITS: usize = 4_096;
/// Puts and deletes that are worth a batch of their own while another is synced; fewer wait for
/// more. A unit that indexes an item has thirty times those of one that stores a document.
const WORTH_MUTATIONS: usize = 64;
/// Sums kept in memory before they are forgotten and read again.
const CACHED_SUMS: usize = 100_000;

/// A pair of sums under its key.
type Sum = ((Space, Bytes), [i64; 2]);

/// The committer's own state.
pub(crate) struct Committer {
    inner: Arc<Inner>,
    time: Arc<dyn Timepiece>,
    syncer: mpsc::Sender<Written>,
    sequencer: Sequencer,
    batch: u64,
    sums: Sums,
    /// Whether the syncer has something to do.
    syncing: bool,
    /// Puts and deletes of a unit of the last batch, on average.
    unit_mutations: usize,
    waiting: Vec<Request>,
}

impl Committer {
    pub(crate) fn new(
        inner: Arc<Inner>,
        time: Arc<dyn Timepiece>,
        position: Position,
        syncer: mpsc::Sender<Written>,
    ) -> Self {
        Self {
            inner,
            time,
            syncer,
            sequencer: Sequencer::starting_after(position.stamp),
            batch: position.batch,
            sums: Sums::default(),
            syncing: false,
            unit_mutations: 1,
            waiting: Vec::new(),
        }
    }

    /// Serves messages until it is told to stop.
    pub(crate) fn run(mut self, messages: &mpsc::Receiver<Message>) {
        while let Ok(first) = messages.recv() {
            let mut next = Some(first);
            while let Some(message) = next {
                match message {
                    Message::Commit(request) => self.waiting.push(request),
                    Message::Refresh(done) => self.hand(self.refreshed(done)),
                    Message::Idle => self.syncing = false,
                    Message::Close => return,
                }
                let full = BATCH_UNITS <= self.units();
                next = if full { None } else { messages.try_recv().ok() };
            }
            let worth = if self.syncing { worth(self.unit_mutations) } else { 1 };
            if worth <= self.units() || self.waiting.iter().any(|request| request.units.is_empty())
            {
                self.serve();
            }
        }
    }

    fn units(&self) -> usize {
        self.waiting.iter().map(|request| request.units.len()).sum()
    }

    /// Hands a batch to the syncer.
    fn hand(&mut self, written: Written) {
        self.syncing = true;
        // The syncer ends after the committer.
        let _ = self.syncer.send(written);
    }

    fn refreshed(&self, done: mpsc::Sender<()>) -> Written {
        let open = Some(self.inner.open());
        Written { open, done: Some(done), ..Written::default() }
    }

    fn serve(&mut self) {
        let mut units = Vec::new();
        let mut askers = Vec::with_capacity(self.waiting.len());
        for request in std::mem::take(&mut self.waiting) {
            askers.push((request.units.len(), request.answer));
            units.extend(request.units);
        }
        let commit = catch_unwind(AssertUnwindSafe(|| self.commit(units)));
        let mut last = commit.unwrap_or_else(|_| {
            let error = Error::new(Kind::Unavailable, "a commit failed in an unforeseen way");
            self.inner.stop(&error);
            Written { failed: Some(error), in_flight: true, ..Written::default() }
        });
        let mut outcomes = std::mem::take(&mut last.outcomes).into_iter();
        last.answers = askers
            .into_iter()
            .map(|(count, asker)| Answer {
                asker,
                outcomes: outcomes.by_ref().take(count).collect(),
            })
            .collect();
        self.hand(last);
    }

    /// Orders and writes; what is left for the syncer at the end carries all outcomes.
    fn commit(&mut self, units: Vec<Unit>) -> Written {
        let mut units = units;
        let mut outcomes = Vec::with_capacity(units.len());
        loop {
            if let Some(error) = self.inner.stopped() {
                return Written { failed: Some(error), ..Written::default() };
            }
            self.inner.flight.enter(self.time.now_ms().max(self.sequencer.last().at_ms));
            let mut ordered = self.sequencer.order(units, &*self.time, &self.inner.flight);
            units = std::mem::take(&mut ordered.rest);
            let committed = |outcome: &&Outcome| matches!(outcome, Outcome::Committed(_));
            let commits = ordered.outcomes.iter().filter(committed).count() as u64;
            outcomes.append(&mut ordered.outcomes);
            let fence = ordered.fence.take();
            let mut written = self.write(ordered, commits).unwrap_or_else(|error| {
                self.inner.stop(&error);
                Written { failed: Some(error), ..Written::default() }
            });
            written.in_flight = true;
            if fence.is_some() {
                // Nothing is ordered before the fence is lowered.
                let (done, lowered) = mpsc::channel();
                let failed = written.failed.clone();
                self.hand(Written { fence, done: Some(done), ..written });
                let _ = lowered.recv();
                written = Written { failed, ..Written::default() };
            }
            if units.is_empty() || written.failed.is_some() {
                return Written { outcomes, ..written };
            }
            if written.in_flight {
                self.hand(written);
            }
        }
    }

    /// Writes a batch of so many commits; the syncer makes it durable, and only then it is visible.
    fn write(&mut self, mut ordered: Ordered, commits: u64) -> Result<Written, Error> {
        let Some(last) = ordered.last else { return Ok(Written::default()) };
        self.unit_mutations =
            ordered.mutations.len() / usize::try_from(commits).unwrap_or(1).max(1);
        let inner = Arc::clone(&self.inner);
        let capacity = ordered.mutations.len() + ordered.sums.len() + 2;
        let mut batch = OwnedWriteBatch::with_capacity(inner.database.clone(), capacity)
            .durability(Some(PersistMode::Buffer));
        let (mut written, mut bytes) = (Vec::new(), 0);
        let mut last_place: Option<(Space, Option<Place>)> = None;
        // Neighbours are put into the memory of the tree by the same way. A later one of a key wins.
        ordered.mutations.sort_by(|a, b| a.place().cmp(&b.place()));
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
                    note(&mut written, space);
                    inner.spaces.get(space)
                }
            };
            match (&place, value) {
                (Some(place), Some(value)) => batch.insert(&place.keyspace, place.key(&key), value),
                (Some(place), None) => batch.remove(&place.keyspace, place.key(&key)),
                (None, _) => {}
            }
            last_place = Some((space, place));
        }
        let added = self.add(&inner, ordered.sums, &mut batch, &mut written)?;
        let position = Position { batch: self.batch + 1, stamp: last };
        let around = Around {
            durable: inner.batch.load(Ordering::SeqCst),
            sequence: inner.database.visible_seqno(),
        };
        meta::note(&mut batch, &inner.meta, position, around);
        batch.commit().map_err(|error| from_fjall("write a commit", &error))?;
        written.iter().for_each(|space| {
            inner.spaces.with(*space, |place| {
                inner.writeback.written(&place.keyspace);
                inner.memory.written(&place.keyspace);
            });
        });
        inner.compactor.written(written);
        inner.room.written(bytes as u64);
        self.batch = position.batch;
        inner.written.store(position.batch, Ordering::SeqCst);
        self.remember(added);
        let open = Some(inner.open());
        Ok(Written { open, position: Some(position), commits, ..Written::default() })
    }

    fn add(
        &mut self,
        inner: &Inner,
        sums: Sums,
        batch: &mut OwnedWriteBatch,
        written: &mut Vec<Space>,
    ) -> Result<Vec<Sum>, Error> {
        let mut added = Vec::with_capacity(sums.len());
        for ((space, key), by) in sums {
            let Some(place) = inner.spaces.get(space) else { continue };
            let (keyspace, stored) = (&place.keyspace, place.key(&key));
            note(written, space);
            let held = match self.sums.get(&(space, key.clone())) {
                Some(held) => *held,
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

    fn remember(&mut self, added: Vec<Sum>) {
        if CACHED_SUMS < self.sums.len() {
            self.sums.clear();
        }
        self.sums.extend(added);
    }
}

/// Units of so many puts and deletes each that are worth a batch while another is synced; never
/// none, or there would be no end of empty batches.
fn worth(unit_mutations: usize) -> usize {
    (WORTH_MUTATIONS / unit_mutations.max(1)).max(1)
}

/// Notes a space once; a batch touches few.
fn note(written: &mut Vec<Space>, space: Space) {
    if !written.contains(&space) {
        written.push(space);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_large_commits_are_worth_a_batch_and_nothing_never_is() {
        let units = [0, 1, 2, 30, 64, 65, usize::MAX].map(worth);
        assert_eq!(units, [64, 64, 32, 2, 1, 1, 1]);
    }
}
