//! A store that fails on purpose, around any other.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use bytes::Bytes;

use crate::{
    contract::{Capabilities, Direction, DropPredicate, Limit, Page, Range, Snapshot, Store},
    error::{Error, Kind},
    flight::Flight,
    health::Health,
    space::Space,
    unit::{Outcome, Unit},
};

/// What fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A commit, before anything of it is written.
    CommitLost,
    /// A commit's answer: it took place, and its writer is told that this is not known.
    AnswerLost,
    /// A read.
    Read,
}

#[derive(Debug, Default)]
struct Plan {
    /// The n-th call from now fails; 0 is never.
    commit_lost: AtomicU64,
    answer_lost: AtomicU64,
    read: AtomicU64,
}

impl Plan {
    fn counter(&self, fault: Fault) -> &AtomicU64 {
        match fault {
            Fault::CommitLost => &self.commit_lost,
            Fault::AnswerLost => &self.answer_lost,
            Fault::Read => &self.read,
        }
    }

    fn check(&self, fault: Fault) -> Result<(), Error> {
        let counter = self.counter(fault);
        let before = counter
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1))
            .unwrap_or(0);
        if before == 1 {
            return Err(Error::new(Kind::Unavailable, format!("fault on purpose: {fault:?}")));
        }
        Ok(())
    }
}

/// A store with faults.
#[derive(Clone, Debug)]
pub struct FaultyStore<S> {
    inner: S,
    plan: Arc<Plan>,
}

impl<S: Store> FaultyStore<S> {
    /// A store that does not fail yet.
    pub fn new(inner: S) -> Self {
        Self { inner, plan: Arc::default() }
    }

    /// Makes the `nth` call of this kind from now on fail, once.
    pub fn fail(&self, fault: Fault, nth: u64) {
        self.plan.counter(fault).store(nth, Ordering::SeqCst);
    }

    /// The store inside.
    pub fn inner(&self) -> &S {
        &self.inner
    }
}

/// A snapshot whose reads fail when planned.
#[derive(Clone, Debug)]
pub struct FaultySnapshot<S> {
    inner: S,
    plan: Arc<Plan>,
}

impl<S: Snapshot> Snapshot for FaultySnapshot<S> {
    async fn get(&self, space: Space, key: &[u8]) -> Result<Option<Bytes>, Error> {
        self.plan.check(Fault::Read)?;
        self.inner.get(space, key).await
    }

    async fn scan(
        &self,
        space: Space,
        range: &Range,
        direction: Direction,
        limit: Limit,
    ) -> Result<Page, Error> {
        self.plan.check(Fault::Read)?;
        self.inner.scan(space, range, direction, limit).await
    }
}

impl<S: Store> Store for FaultyStore<S> {
    type Snapshot = FaultySnapshot<S::Snapshot>;

    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    fn snapshot(&self) -> Self::Snapshot {
        FaultySnapshot { inner: self.inner.snapshot(), plan: Arc::clone(&self.plan) }
    }

    fn published(&self) -> u64 {
        self.inner.published()
    }

    fn flight(&self) -> &Flight {
        self.inner.flight()
    }

    async fn commit(&self, units: Vec<Unit>) -> Result<Vec<Outcome>, Error> {
        self.plan.check(Fault::CommitLost)?;
        let outcomes = self.inner.commit(units).await?;
        self.plan.check(Fault::AnswerLost)?;
        Ok(outcomes)
    }

    fn create_space(&self, space: Space) -> Result<(), Error> {
        self.inner.create_space(space)
    }

    fn drop_space(&self, space: Space) -> Result<(), Error> {
        self.inner.drop_space(space)
    }

    fn spaces(&self) -> Vec<Space> {
        self.inner.spaces()
    }

    fn set_drop_predicate(&self, predicate: Arc<dyn DropPredicate>) {
        self.inner.set_drop_predicate(predicate);
    }

    async fn reap(&self, space: Space) -> Result<(), Error> {
        self.inner.reap(space).await
    }

    fn judged(&self, space: Space) -> u64 {
        self.inner.judged(space)
    }

    fn space_bytes(&self, space: Space) -> u64 {
        self.inner.space_bytes(space)
    }

    fn health(&self) -> Health {
        self.inner.health()
    }

    fn resume(&self) {
        self.inner.resume();
    }

    async fn close(&self) -> Result<(), Error> {
        self.inner.close().await
    }
}
