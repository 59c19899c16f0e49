//! A store in memory without durability: versions of keys in an ordered map (`data.rs`). As in the
//! embedded store, the drop predicate is applied without regard to open snapshots, so that tests
//! find the same errors. Commits are visible at once unless a test holds them between stamp and
//! publication with the [`Gate`].

mod data;

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use bytes::Bytes;
use data::{MemoryData, Versions, visible_version};
use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::{
    commit::{Commit, Mutation, Outcome, Stamp},
    contract::{
        BoxFuture, Capabilities, CommitClock, Direction, DropPredicate, Health, KeyRange, Limit,
        Page, Read, Snapshot, Store,
    },
    error::{Error, Kind},
    in_flight::InFlight,
    sequencer::{OrderedBatch, Sequencer, decode_count, encode_count},
    space::Space,
};

/// Maximum key size, the same as in the embedded store.
const MAX_KEY_BYTES: usize = 65_535;

/// Holds commits between their stamp and their publication, for tests.
#[derive(Debug, Default)]
pub struct Gate {
    shut: AtomicBool,
    opened: Notify,
}

impl Gate {
    /// Keeps commits that are stamped from now on invisible until [`open`](Self::open).
    pub fn shut(&self) {
        self.shut.store(true, Ordering::SeqCst);
    }

    /// Lets the held commits be published.
    pub fn open(&self) {
        self.shut.store(false, Ordering::SeqCst);
        self.opened.notify_waiters();
    }

    async fn pass_through(&self) {
        loop {
            let opened = self.opened.notified();
            if !self.shut.load(Ordering::SeqCst) {
                return;
            }
            opened.await;
        }
    }
}

/// State shared by all clones and snapshots.
struct MemoryShared {
    data: Mutex<MemoryData>,
    sequencer: tokio::sync::Mutex<Sequencer>,
    time: Arc<dyn CommitClock>,
    flight: InFlight,
    published: AtomicU64,
    predicate: Mutex<Option<Arc<dyn DropPredicate>>>,
    gate: Arc<Gate>,
    /// Size in bytes beyond which only commits that free memory are accepted.
    limit: usize,
}

/// A store in memory. Clones share their data, so a clone survives a simulated restart of its user.
#[derive(Clone)]
pub struct MemoryStore {
    shared: Arc<MemoryShared>,
}

impl std::fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MemoryStore").finish_non_exhaustive()
    }
}

impl MemoryStore {
    /// Creates an empty store whose commits are stamped by `time`.
    pub fn new(time: Arc<dyn CommitClock>) -> Self {
        Self::bounded(usize::MAX, time)
    }

    /// Creates an empty store that, once it holds `limit` bytes, refuses commits that need more
    /// space.
    pub fn bounded(limit: usize, time: Arc<dyn CommitClock>) -> Self {
        Self::with_data(MemoryData::default(), Stamp { seq: 0, at_ms: i64::MIN }, limit, time)
    }

    fn with_data(data: MemoryData, last: Stamp, limit: usize, time: Arc<dyn CommitClock>) -> Self {
        let flight = InFlight::default();
        flight.record_stamp(last.at_ms);
        flight.record_published(last);
        let shared = MemoryShared {
            data: Mutex::new(data),
            sequencer: tokio::sync::Mutex::new(Sequencer::starting_after(last)),
            time,
            flight,
            published: AtomicU64::new(last.seq),
            predicate: Mutex::new(None),
            gate: Arc::new(Gate::default()),
            limit,
        };
        Self { shared: Arc::new(shared) }
    }

    /// Returns a new store with the data that a restart would find: all published commits and
    /// nothing else.
    pub fn reopen(&self, time: Arc<dyn CommitClock>) -> Self {
        let seq = self.published();
        let data = self.shared.data.lock();
        let mut copy = MemoryData::default();
        for (space, keys) in &data.spaces {
            copy.spaces.entry(*space).or_default();
            for (key, versions) in keys {
                if let Some(value) = visible_version(versions, seq) {
                    copy.put_version(*space, key.clone(), Some(value), seq);
                }
            }
        }
        drop(data);
        let last = Stamp { seq, at_ms: self.shared.flight.newest_ms() };
        Self::with_data(copy, last, self.shared.limit, time)
    }

    /// Returns the gate that can hold commits before their publication.
    pub fn gate(&self) -> Arc<Gate> {
        Arc::clone(&self.shared.gate)
    }

    /// Fails if the store exceeds its limit. Commits that pass the check concurrently may exceed
    /// the limit by at most the memory that operations may hold.
    fn check_limit(&self, frees: bool) -> Result<(), Error> {
        let mut data = self.shared.data.lock();
        if self.shared.limit <= data.bytes {
            data.forget_unseen();
        }
        if frees || data.bytes < self.shared.limit {
            return Ok(());
        }
        let text = "the memory for data is full: raise --memory, or use a --data-dir";
        Err(Error::new(Kind::Full, text))
    }

    /// Executes commits, one call after another; see [`Store::commit`].
    async fn commit_in_order(&self, commits: Vec<Commit>) -> Result<Vec<Outcome>, Error> {
        self.check_limit(commits.iter().all(|commit| commit.frees))?;
        let mut outcomes = Vec::with_capacity(commits.len());
        let mut commits = commits;
        // Held until the last batch is visible, so that calls are executed one after another.
        let mut sequencer = self.shared.sequencer.lock().await;
        while !commits.is_empty() {
            self.shared
                .flight
                .enter_batch(self.shared.time.now_ms().max(sequencer.last_stamp().at_ms));
            let mut ordered =
                sequencer.order_commits(commits, &*self.shared.time, &self.shared.flight);
            commits = std::mem::take(&mut ordered.rest);
            outcomes.append(&mut ordered.outcomes);
            let fence = ordered.fence.take();
            // Here commits are stamped but not visible; tests hold them at this point.
            self.shared.gate.pass_through().await;
            self.publish_ordered(ordered);
            if let Some((fence, outcome)) = fence {
                fence.lower(match outcome {
                    Outcome::Committed(stamp) => Some(stamp),
                    Outcome::Refused(_) => None,
                });
            }
            self.shared.flight.finish_oldest();
        }
        Ok(outcomes)
    }

    /// Removes the rows of a space that the drop predicate selects.
    fn drop_filtered(&self, space: Space) -> Result<(), Error> {
        let predicate = self.shared.predicate.lock().clone();
        let Some(predicate) = predicate else {
            return Err(Error::new(Kind::Invalid, "no drop predicate is set"));
        };
        let seq = self.published();
        let drops = predicate.filter_for(space);
        let mut data = self.shared.data.lock();
        data.filtered.insert(space, seq);
        data.drop_filtered(space, &drops);
        Ok(())
    }

    fn publish_ordered(&self, ordered: OrderedBatch) {
        let mut data = self.shared.data.lock();
        let Some(last) = ordered.last else { return };
        data.forget_unseen();
        for ((space, key), by) in ordered.sums {
            let held =
                data.visible_at(space, &key, u64::MAX).map_or([0; 2], |value| decode_count(&value));
            // The contract requires that a pair of zeros is removed.
            let sum = [held[0].saturating_add(by[0]), held[1].saturating_add(by[1])];
            data.put_version(space, key, (sum != [0; 2]).then(|| encode_count(sum)), last.seq);
        }
        for mutation in ordered.mutations {
            match mutation {
                Mutation::Put { space, key, value } => {
                    data.put_version(space, key, Some(value), last.seq)
                }
                Mutation::Delete { space, key } => data.put_version(space, key, None, last.seq),
                Mutation::Add { .. } => {}
            }
        }
        self.shared.published.store(last.seq, Ordering::SeqCst);
        self.shared.flight.record_published(last);
    }
}

/// A snapshot of a memory store.
struct MemorySnapshot {
    shared: Arc<MemoryShared>,
    seq: u64,
}

impl std::fmt::Debug for MemorySnapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MemorySnapshot").field("seq", &self.seq).finish_non_exhaustive()
    }
}

impl Drop for MemorySnapshot {
    fn drop(&mut self) {
        let mut data = self.shared.data.lock();
        if let Some(count) = data.open.get_mut(&self.seq) {
            *count -= 1;
            if *count == 0 {
                data.open.remove(&self.seq);
            }
        }
    }
}

impl MemorySnapshot {
    /// Reads the first page of a range.
    fn read_page(
        &self,
        space: Space,
        range: &KeyRange,
        direction: Direction,
        limit: Limit,
    ) -> Result<Page, Error> {
        let data = self.shared.data.lock();
        let Some(keys) = data.spaces.get(&space) else { return Ok(Page::default()) };
        if range.is_empty() {
            return Ok(Page::default());
        }
        let start = Bytes::copy_from_slice(&range.start);
        let found = match &range.end {
            Some(end) => keys.range(start..Bytes::copy_from_slice(end)),
            None => keys.range(start..),
        };
        let live = |(key, versions): (&Bytes, &Versions)| {
            Some((key.clone(), visible_version(versions, self.seq)?))
        };
        match direction {
            Direction::Forward => Page::within(found.filter_map(live), limit, Ok),
            Direction::Backward => Page::within(found.rev().filter_map(live), limit, Ok),
        }
    }
}

impl Snapshot for MemorySnapshot {
    fn get<'a>(&'a self, space: Space, key: &'a [u8]) -> Read<'a, Option<Bytes>> {
        Read::ready(Ok(self.shared.data.lock().visible_at(space, key, self.seq)))
    }

    fn scan<'a>(
        &'a self,
        space: Space,
        range: &'a KeyRange,
        direction: Direction,
        limit: Limit,
    ) -> Read<'a, Page> {
        Read::ready(self.read_page(space, range, direction, limit))
    }
}

impl Store for MemoryStore {
    fn capabilities(&self) -> Capabilities {
        Capabilities { max_key_bytes: MAX_KEY_BYTES, drops: true, copies: false }
    }

    fn snapshot(&self) -> Arc<dyn Snapshot> {
        let mut data = self.shared.data.lock();
        // The `seq` is read under the data lock, so that the versions it sees are not removed
        // before the snapshot is registered.
        let seq = self.published();
        *data.open.entry(seq).or_default() += 1;
        Arc::new(MemorySnapshot { shared: Arc::clone(&self.shared), seq })
    }

    fn published(&self) -> u64 {
        self.shared.published.load(Ordering::SeqCst)
    }

    fn in_flight(&self) -> &InFlight {
        &self.shared.flight
    }

    fn commit(&self, commits: Vec<Commit>) -> BoxFuture<'_, Result<Vec<Outcome>, Error>> {
        Box::pin(self.commit_in_order(commits))
    }

    fn create_space(&self, space: Space) -> Result<(), Error> {
        self.shared.data.lock().spaces.entry(space).or_default();
        Ok(())
    }

    fn drop_space(&self, space: Space) -> Result<(), Error> {
        self.shared.data.lock().drop_space(space);
        Ok(())
    }

    fn all_spaces(&self) -> Vec<Space> {
        self.shared.data.lock().spaces.keys().copied().collect()
    }

    fn set_drop_predicate(&self, predicate: Arc<dyn DropPredicate>) {
        *self.shared.predicate.lock() = Some(predicate);
    }

    fn reap_space(&self, space: Space) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(async move { self.drop_filtered(space) })
    }

    fn filtered_through(&self, space: Space) -> u64 {
        self.shared.data.lock().filtered.get(&space).copied().unwrap_or(0)
    }

    fn space_bytes(&self, space: Space) -> u64 {
        self.shared.data.lock().newest_bytes(space)
    }

    fn disk_bytes(&self) -> u64 {
        self.shared.data.lock().bytes as u64
    }

    fn tick(&self) -> Result<(), Error> {
        // No data outlives the process, so nothing has to be recorded.
        Ok(())
    }

    fn resume_commits(&self) {
        // This store never reports `Reopened`, so nothing has to be resumed.
    }

    fn health(&self) -> Health {
        self.check_limit(false).map_or_else(Health::Refusing, |()| Health::Good)
    }

    fn close(&self) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(async { Ok(()) })
    }
}
