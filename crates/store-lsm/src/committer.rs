//! The one thread that orders commits: it takes what is waiting, stamps it, checks conditions,
//! writes one batch, syncs once and answers all. Nobody waits for a writer of another document
//! longer than that.

use std::{
    collections::HashMap,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, atomic::Ordering, mpsc},
};

use bytes::Bytes;
use fjall::{OwnedWriteBatch, PersistMode};
use store::{
    Error, Flight, Kind, Mutation, Ordered, Outcome, Sequencer, Space, Timepiece, Unit,
    decode_count, encode_count,
};
use tokio::sync::oneshot;

use crate::{
    errors::from_fjall,
    meta::{self, Position},
    open::Inner,
};

/// Units of one batch at most; what waits beyond comes with the next.
const BATCH_UNITS: usize = 4_096;
/// Sums kept in memory before they are forgotten and read again.
const CACHED_SUMS: usize = 100_000;

/// A pair of sums under its key.
type Sum = ((Space, Bytes), [i64; 2]);

/// Units that wait, and who wants to know.
pub(crate) struct Request {
    pub(crate) units: Vec<Unit>,
    pub(crate) answer: oneshot::Sender<Result<Vec<Outcome>, Error>>,
}

/// The committer's own state.
pub(crate) struct Committer {
    inner: Arc<Inner>,
    time: Arc<dyn Timepiece>,
    sequencer: Sequencer,
    batch: u64,
    sums: HashMap<(Space, Bytes), [i64; 2]>,
    /// Why no commit is accepted any more.
    stopped: Option<Error>,
}

impl Committer {
    pub(crate) fn new(inner: Arc<Inner>, time: Arc<dyn Timepiece>, position: Position) -> Self {
        Self {
            inner,
            time,
            sequencer: Sequencer::starting_after(position.stamp),
            batch: position.batch,
            sums: HashMap::new(),
            stopped: None,
        }
    }

    /// Serves requests until everybody who could send one is gone.
    pub(crate) fn run(mut self, requests: &mpsc::Receiver<Request>) {
        while let Ok(first) = requests.recv() {
            let mut waiting = vec![first];
            let mut count = waiting.iter().map(|request| request.units.len()).sum::<usize>();
            while count < BATCH_UNITS
                && let Ok(next) = requests.try_recv()
            {
                count += next.units.len();
                waiting.push(next);
            }
            self.serve(waiting);
        }
    }

    fn serve(&mut self, waiting: Vec<Request>) {
        let mut units = Vec::new();
        let mut askers = Vec::with_capacity(waiting.len());
        for request in waiting {
            askers.push((request.units.len(), request.answer));
            units.extend(request.units);
        }
        let commit = catch_unwind(AssertUnwindSafe(|| self.commit(units)));
        let result = commit.unwrap_or_else(|_| {
            let error = Error::new(Kind::Unavailable, "a commit failed in an unforeseen way");
            self.stopped = Some(error.clone());
            self.inner.flight.land();
            Err(error)
        });
        match result {
            Ok(outcomes) => {
                let mut outcomes = outcomes.into_iter();
                for (count, answer) in askers {
                    // Nobody may be waiting any more.
                    let _ = answer.send(Ok(outcomes.by_ref().take(count).collect()));
                }
            }
            Err(error) => {
                for (_, answer) in askers {
                    let _ = answer.send(Err(error.clone()));
                }
            }
        }
    }

    fn commit(&mut self, units: Vec<Unit>) -> Result<Vec<Outcome>, Error> {
        let mut units = units;
        let mut outcomes = Vec::with_capacity(units.len());
        while !units.is_empty() {
            if let Some(error) = &self.stopped {
                return Err(error.clone());
            }
            let flight: &Flight = &self.inner.flight;
            flight.enter(self.time.now_ms().max(self.sequencer.last().at_ms));
            let mut ordered = self.sequencer.order(units, &*self.time, flight);
            units = std::mem::take(&mut ordered.rest);
            let committed = |outcome: &&Outcome| matches!(outcome, Outcome::Committed(_));
            let group = ordered.outcomes.iter().filter(committed).count() as u64;
            outcomes.append(&mut ordered.outcomes);
            let fence = ordered.fence.take();
            let written = self.write(ordered, group);
            if let Some((fence, outcome)) = fence {
                fence.lower(match outcome {
                    Outcome::Committed(stamp) if written.is_ok() => Some(stamp),
                    _ => None,
                });
            }
            self.inner.flight.land();
            if let Err(error) = written {
                self.stopped = Some(error.clone());
                return Err(error);
            }
        }
        Ok(outcomes)
    }

    /// Writes a batch; visible only once it is durable.
    fn write(&mut self, ordered: Ordered, group: u64) -> Result<(), Error> {
        let Some(last) = ordered.last else { return Ok(()) };
        let inner = Arc::clone(&self.inner);
        let capacity = ordered.mutations.len() + ordered.sums.len() + 2;
        let mut batch = OwnedWriteBatch::with_capacity(inner.database.clone(), capacity)
            .durability(Some(PersistMode::SyncAll));
        for mutation in ordered.mutations {
            match mutation {
                Mutation::Put { space, key, value } => {
                    if let Some(keyspace) = inner.spaces.get(space) {
                        batch.insert(&keyspace, key, value);
                    }
                }
                Mutation::Delete { space, key } => {
                    if let Some(keyspace) = inner.spaces.get(space) {
                        batch.remove(&keyspace, key);
                    }
                }
                Mutation::Add { .. } => {}
            }
        }
        let added = self.add(&inner, ordered.sums, &mut batch)?;
        let position = Position { batch: self.batch + 1, stamp: last };
        meta::note(&mut batch, &inner.meta, position);
        let began = self.time.monotonic_ns();
        batch.commit().map_err(|error| from_fjall("write a commit", &error))?;
        let took = self.time.monotonic_ns().saturating_sub(began);
        inner.measured.fsync_ns.observe(took);
        inner.measured.group_size.observe(group);
        self.batch = position.batch;
        self.remember(added);
        inner.batch.store(position.batch, Ordering::SeqCst);
        inner.published.store(last.seq, Ordering::SeqCst);
        Ok(())
    }

    fn add(
        &mut self,
        inner: &Inner,
        sums: HashMap<(Space, Bytes), [i64; 2]>,
        batch: &mut OwnedWriteBatch,
    ) -> Result<Vec<Sum>, Error> {
        let mut added = Vec::with_capacity(sums.len());
        for ((space, key), by) in sums {
            let Some(keyspace) = inner.spaces.get(space) else { continue };
            let held = match self.sums.get(&(space, key.clone())) {
                Some(held) => *held,
                None => keyspace
                    .get(&key)
                    .map_err(|error| from_fjall("read a sum", &error))?
                    .map_or([0; 2], |value| decode_count(&value)),
            };
            let sum = [held[0].saturating_add(by[0]), held[1].saturating_add(by[1])];
            if sum == [0; 2] {
                batch.remove(&keyspace, key.clone());
            } else {
                batch.insert(&keyspace, key.clone(), encode_count(sum));
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
