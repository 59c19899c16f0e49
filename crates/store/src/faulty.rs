//! A wrapper that injects failures into any store, for tests.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use bytes::Bytes;

use crate::{
    commit::{Commit, Outcome},
    contract::{Direction, KeyRange, Limit, Page, Snapshot, Store},
    error::{Error, Kind},
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
    /// Number of the call, counted from now, that fails; 0 means none.
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

    /// Counts a call of this kind, which fails if its countdown has ended.
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

/// A store that injects failures.
#[derive(Clone, Debug)]
pub struct FaultyStore<S> {
    inner: S,
    plan: Arc<FaultPlan>,
}

impl<S: Store> FaultyStore<S> {
    /// Wraps a store, initially without failures.
    pub fn new(inner: S) -> Self {
        Self { inner, plan: Arc::default() }
    }

    /// Makes the `nth` call of this kind from now on fail, once.
    pub fn fail_nth(&self, fault: Fault, nth: u64) {
        self.plan.counter_of(fault).store(nth, Ordering::SeqCst);
    }

    /// Returns the store that this one wraps.
    pub fn inner_store(&self) -> &S {
        &self.inner
    }
}

/// A snapshot whose reads fail as planned.
#[derive(Clone, Debug)]
pub struct FaultySnapshot<S> {
    inner: S,
    plan: Arc<FaultPlan>,
}

impl<S: Snapshot> Snapshot for FaultySnapshot<S> {
    async fn get(&self, space: Space, key: &[u8]) -> Result<Option<Bytes>, Error> {
        self.plan.check_fault(Fault::Read)?;
        self.inner.get(space, key).await
    }

    async fn scan(
        &self,
        space: Space,
        range: &KeyRange,
        direction: Direction,
        limit: Limit,
    ) -> Result<Page, Error> {
        self.plan.check_fault(Fault::Read)?;
        self.inner.scan(space, range, direction, limit).await
    }
}

macro_rules! inner {
    ($wrapper:expr, $store:ident => $call:expr) => {{
        let $store = &$wrapper.inner;
        $call
    }};
}

impl<S: Store> Store for FaultyStore<S> {
    type Snapshot = FaultySnapshot<S::Snapshot>;

    fn snapshot(&self) -> Self::Snapshot {
        FaultySnapshot { inner: self.inner.snapshot(), plan: Arc::clone(&self.plan) }
    }

    async fn commit(&self, commits: Vec<Commit>) -> Result<Vec<Outcome>, Error> {
        self.plan.check_fault(Fault::CommitLost)?;
        let outcomes = self.inner.commit(commits).await?;
        self.plan.check_fault(Fault::AnswerLost)?;
        Ok(outcomes)
    }

    crate::delegate_store! { self via inner:
        capabilities, published, in_flight, create_space, drop_space, all_spaces, set_drop_predicate,
        reap_space, filtered_through, space_bytes, disk_bytes, tick, health, resume_commits, close
    }
}
