//! A memory store whose reads can be stopped half-way, so that the world moves while a view is
//! open.

use std::{
    future::poll_fn,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    task::Poll,
};

use bytes::Bytes;
use store::{
    Capabilities, Direction, DropPredicate, Error, Flight, Gate, Health, Limit, MemoryStore,
    Outcome, Page, Range, Snapshot, Space, Store, Timepiece, Unit,
};

/// Stops one read. Whoever is stopped has to be polled again after [`open`](Self::open).
#[derive(Debug, Default)]
pub struct Turnstile {
    /// Reads until one is stopped, counting that one; 0 stops none.
    left: AtomicU64,
    shut: AtomicBool,
    /// Reads of rows, to be told from those of entries and counts.
    rows: AtomicU64,
}

impl Turnstile {
    /// Stops the `nth` read from now on.
    pub fn stop(&self, nth: u64) {
        self.shut.store(true, Ordering::SeqCst);
        self.left.store(nth, Ordering::SeqCst);
    }

    /// Stops nobody any more; a read that was stopped already stays so.
    pub fn disarm(&self) {
        self.left.store(0, Ordering::SeqCst);
    }

    /// Lets the read that was stopped go on.
    pub fn open(&self) {
        self.disarm();
        self.shut.store(false, Ordering::SeqCst);
    }

    /// Reads of rows so far.
    pub fn row_reads(&self) -> u64 {
        self.rows.load(Ordering::SeqCst)
    }

    async fn pass(&self, space: Space) {
        self.rows.fetch_add(u64::from(matches!(space, Space::Rows(_))), Ordering::SeqCst);
        let before = self
            .left
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1))
            .unwrap_or(0);
        if before == 1 {
            poll_fn(|_| match self.shut.load(Ordering::SeqCst) {
                true => Poll::Pending,
                false => Poll::Ready(()),
            })
            .await;
        }
    }
}

/// A memory store with a turnstile for reads and a gate for commits.
#[derive(Clone, Debug)]
pub struct PausingStore {
    inner: MemoryStore,
    turnstile: Arc<Turnstile>,
    behind: Arc<AtomicU64>,
    anew: Arc<AtomicBool>,
}

impl PausingStore {
    /// An empty store whose commits are stamped by this clock.
    pub fn new(time: Arc<dyn Timepiece>) -> Self {
        Self::over(MemoryStore::new(time))
    }

    fn over(inner: MemoryStore) -> Self {
        let (turnstile, behind, anew) = (Arc::default(), Arc::default(), Arc::default());
        Self { inner, turnstile, behind, anew }
    }

    /// From now on snapshots hold so many commits more than are said to be published, as for a
    /// moment whenever a store publishes.
    pub fn fall_behind(&self, commits: u64) {
        self.behind.store(commits, Ordering::SeqCst);
    }

    /// It says that it was opened again.
    pub fn open_anew(&self) {
        self.anew.store(true, Ordering::SeqCst);
    }

    /// What a restart would find.
    pub fn reopen(&self, time: Arc<dyn Timepiece>) -> Self {
        Self::over(self.inner.reopen(time))
    }

    /// Between stamp and publication.
    pub fn gate(&self) -> Arc<Gate> {
        self.inner.gate()
    }

    /// In front of every read.
    pub fn turnstile(&self) -> &Turnstile {
        &self.turnstile
    }
}

/// A snapshot whose reads can be stopped.
#[derive(Clone, Debug)]
pub struct PausingSnapshot {
    inner: <MemoryStore as Store>::Snapshot,
    turnstile: Arc<Turnstile>,
}

impl Snapshot for PausingSnapshot {
    async fn get(&self, space: Space, key: &[u8]) -> Result<Option<Bytes>, Error> {
        self.turnstile.pass(space).await;
        self.inner.get(space, key).await
    }

    async fn scan(
        &self,
        space: Space,
        range: &Range,
        direction: Direction,
        limit: Limit,
    ) -> Result<Page, Error> {
        self.turnstile.pass(space).await;
        self.inner.scan(space, range, direction, limit).await
    }
}

impl Store for PausingStore {
    type Snapshot = PausingSnapshot;

    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    fn snapshot(&self) -> PausingSnapshot {
        let turnstile = Arc::clone(&self.turnstile);
        PausingSnapshot { inner: self.inner.snapshot(), turnstile }
    }

    fn published(&self) -> u64 {
        self.inner.published().saturating_sub(self.behind.load(Ordering::SeqCst))
    }

    fn flight(&self) -> &Flight {
        self.inner.flight()
    }

    async fn commit(&self, units: Vec<Unit>) -> Result<Vec<Outcome>, Error> {
        self.inner.commit(units).await
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
        if self.anew.load(Ordering::SeqCst) { Health::Anew } else { Health::Good }
    }

    fn resume(&self) {
        self.anew.store(false, Ordering::SeqCst);
    }

    async fn close(&self) -> Result<(), Error> {
        self.inner.close().await
    }
}
