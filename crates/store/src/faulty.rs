//! A memory store that injects failures, for tests.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use bytes::Bytes;

use crate::{
    commit::{Commit, Outcome},
    contract::{
        BoxFuture, Capabilities, Direction, DropPredicate, Health, KeyRange, Limit, Page, Read,
        Snapshot, Store,
    },
    error::{Error, Kind},
    in_flight::InFlight,
    memory::MemoryStore,
    space::Space,
};

/// The kind of failure to inject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A commit fails before it writes anything.
    CommitLost,
    /// A commit succeeds, although the caller receives an error with unknown outcome.
    AnswerLost,
    /// A read of a snapshot fails.
    Read,
}

/// Countdowns to the injected failures.
#[derive(Debug, Default)]
struct FaultPlan {
    /// Number of commits until one fails before writing, including that commit; 0 means never.
    commit_lost: AtomicU64,
    answer_lost: AtomicU64,
    read: AtomicU64,
}

impl FaultPlan {
    fn counter_of(&self, fault: Fault) -> &AtomicU64 {
        match fault {
            Fault::CommitLost => &self.commit_lost,
            Fault::AnswerLost => &self.answer_lost,
            Fault::Read => &self.read,
        }
    }

    /// Counts down the calls that this kind of failure affects; fails if this is the call to fail.
    fn check_fault(&self, fault: Fault) -> Result<(), Error> {
        let counter = self.counter_of(fault);
        let before = counter
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1))
            .unwrap_or(0);
        if before == 1 {
            return Err(Error::new(Kind::Unavailable, format!("fault on purpose: {fault:?}")));
        }
        Ok(())
    }
}

/// A memory store that injects failures.
#[derive(Clone, Debug)]
pub struct FaultyStore {
    inner: MemoryStore,
    plan: Arc<FaultPlan>,
}

impl FaultyStore {
    /// Wraps a store, initially without failures.
    pub fn new(inner: MemoryStore) -> Self {
        Self { inner, plan: Arc::default() }
    }

    /// Makes the `nth` call of this kind from now on fail, once.
    pub fn fail_nth(&self, fault: Fault, nth: u64) {
        self.plan.counter_of(fault).store(nth, Ordering::SeqCst);
    }

    /// Returns the store that this one wraps.
    pub fn inner_store(&self) -> &MemoryStore {
        &self.inner
    }
}

/// A snapshot whose reads can be made to fail.
#[derive(Debug)]
struct FaultySnapshot {
    inner: Arc<dyn Snapshot>,
    plan: Arc<FaultPlan>,
}

impl Snapshot for FaultySnapshot {
    fn get<'a>(&'a self, space: Space, key: &'a [u8]) -> Read<'a, Option<Bytes>> {
        match self.plan.check_fault(Fault::Read) {
            Ok(()) => self.inner.get(space, key),
            Err(fault) => Read::ready(Err(fault)),
        }
    }

    fn scan<'a>(
        &'a self,
        space: Space,
        range: &'a KeyRange,
        direction: Direction,
        limit: Limit,
    ) -> Read<'a, Page> {
        match self.plan.check_fault(Fault::Read) {
            Ok(()) => self.inner.scan(space, range, direction, limit),
            Err(fault) => Read::ready(Err(fault)),
        }
    }
}

impl Store for FaultyStore {
    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    fn snapshot(&self) -> Arc<dyn Snapshot> {
        Arc::new(FaultySnapshot { inner: self.inner.snapshot(), plan: Arc::clone(&self.plan) })
    }

    fn published(&self) -> u64 {
        self.inner.published()
    }

    fn in_flight(&self) -> &InFlight {
        self.inner.in_flight()
    }

    fn commit(&self, commits: Vec<Commit>) -> BoxFuture<'_, Result<Vec<Outcome>, Error>> {
        Box::pin(async move {
            self.plan.check_fault(Fault::CommitLost)?;
            let outcomes = self.inner.commit(commits).await?;
            self.plan.check_fault(Fault::AnswerLost)?;
            Ok(outcomes)
        })
    }

    fn create_space(&self, space: Space) -> Result<(), Error> {
        self.inner.create_space(space)
    }

    fn drop_space(&self, space: Space) -> Result<(), Error> {
        self.inner.drop_space(space)
    }

    fn all_spaces(&self) -> Vec<Space> {
        self.inner.all_spaces()
    }

    fn set_drop_predicate(&self, predicate: Arc<dyn DropPredicate>) {
        self.inner.set_drop_predicate(predicate);
    }

    fn reap_space(&self, space: Space) -> BoxFuture<'_, Result<(), Error>> {
        self.inner.reap_space(space)
    }

    fn filtered_through(&self, space: Space) -> u64 {
        self.inner.filtered_through(space)
    }

    fn space_bytes(&self, space: Space) -> u64 {
        self.inner.space_bytes(space)
    }

    fn disk_bytes(&self) -> u64 {
        self.inner.disk_bytes()
    }

    fn tick(&self) -> Result<(), Error> {
        self.inner.tick()
    }

    fn health(&self) -> Health {
        self.inner.health()
    }

    fn resume_commits(&self) {
        self.inner.resume_commits();
    }

    fn close(&self) -> BoxFuture<'_, Result<(), Error>> {
        self.inner.close()
    }
}
