//! A memory store whose reads can be paused, so that other operations run while a view is open.
//!
//! ```text
//! commit ──▶ stamped ──[gate]──▶ visible          closed: the commit is in flight
//! read ────[turnstile]────▶ rows                  stopped: the view stays open
//!                                                 ended: the store was reopened since
//! ```

use std::{
    future::poll_fn,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    task::{Poll, Waker},
};

use bytes::Bytes;
use store::{
    BoxFuture, Capabilities, Commit, CommitClock, Direction, DropPredicate, Error, Fault,
    FaultyStore, Gate, Health, InFlight, KeyRange, Kind, Limit, MemoryStore, Outcome, Page, Read,
    Snapshot, Space, Store,
};

/// Pauses one read until [`open`](Self::open) resumes it.
#[derive(Debug, Default)]
pub struct Turnstile {
    /// Number of reads until the read that is paused, including that read; 0 pauses none.
    left: AtomicU64,
    /// Whether a paused read still has to wait.
    shut: AtomicBool,
    /// Waker of the paused read.
    stopped: Mutex<Option<Waker>>,
    /// Number of reads of rows, as opposed to entries and counts.
    rows: AtomicU64,
    /// Number of reads until all existing snapshots end; the last of these reads is the first to
    /// fail. 0 ends no snapshot.
    until_end: AtomicU64,
    /// Number of times that snapshots were ended. A snapshot has ended if the number was lower when
    /// it was taken.
    ended: AtomicU64,
    /// Whether snapshots end as if they retained too much disk space, not as if the store was
    /// reopened.
    for_space: AtomicBool,
}

/// Counts down to zero; returns whether this call reached zero.
fn count_down(left: &AtomicU64) -> bool {
    left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)) == Ok(1)
}

impl Turnstile {
    /// Pauses the `nth` read from now on.
    pub fn stop_nth(&self, nth: u64) {
        self.shut.store(true, Ordering::SeqCst);
        self.left.store(nth, Ordering::SeqCst);
    }

    /// Returns whether the read to pause was reached, unless none has to pause.
    pub fn has_paused(&self) -> bool {
        self.left.load(Ordering::SeqCst) == 0
    }

    /// Makes no further read pause. A read that is already paused remains paused.
    pub fn disarm(&self) {
        self.left.store(0, Ordering::SeqCst);
    }

    /// Lets the paused read continue.
    pub fn open(&self) {
        self.disarm();
        self.shut.store(false, Ordering::SeqCst);
        let stopped = self.stopped.lock().unwrap_or_else(PoisonError::into_inner).take();
        stopped.iter().for_each(Waker::wake_by_ref);
    }

    /// Ends all snapshots at the `nth` read from now on, as a reopened store does or, with
    /// `for_space`, a store whose old versions use too much disk space.
    pub fn end_snapshots_at(&self, nth: u64, for_space: bool) {
        self.for_space.store(for_space, Ordering::SeqCst);
        self.until_end.store(nth, Ordering::SeqCst);
    }

    /// Cancels `end_snapshots_at`; returns whether snapshots were ended since it was called.
    pub fn keep_snapshots(&self) -> bool {
        self.until_end.swap(0, Ordering::SeqCst) == 0
    }

    /// Returns the number of reads of rows so far.
    pub fn row_reads(&self) -> u64 {
        self.rows.load(Ordering::SeqCst)
    }

    /// Counts a read of a snapshot, and pauses it if requested. Fails if the snapshot has ended.
    async fn pass_through(&self, taken: u64, space: Space) -> Result<(), Error> {
        self.rows.fetch_add(u64::from(matches!(space, Space::Rows(_))), Ordering::SeqCst);
        if count_down(&self.until_end) {
            self.ended.fetch_add(1, Ordering::SeqCst);
        }
        if count_down(&self.left) {
            poll_fn(|poll| {
                // Register before checking, so that a later `open` wakes this read.
                *self.stopped.lock().unwrap_or_else(PoisonError::into_inner) =
                    Some(poll.waker().clone());
                match self.shut.load(Ordering::SeqCst) {
                    true => Poll::Pending,
                    false => Poll::Ready(()),
                }
            })
            .await;
        }
        if taken < self.ended.load(Ordering::SeqCst) {
            if self.for_space.load(Ordering::SeqCst) {
                return Err(Error::new(Kind::ViewEnded, "old versions use too much disk space"));
            }
            return Err(Error::new(Kind::Reopened, "the store was reopened during the read"));
        }
        Ok(())
    }
}

/// A memory store whose reads can be paused and whose commits can be held.
#[derive(Clone, Debug)]
pub struct PausingStore {
    inner: FaultyStore,
    /// Pauses reads of this store and of its snapshots.
    turnstile: Arc<Turnstile>,
    /// Number of commits that snapshots include and `published` does not report yet.
    behind: Arc<AtomicU64>,
    /// Whether [`Store::health`] reports a reopened store.
    anew: Arc<AtomicBool>,
}

impl PausingStore {
    /// Creates an empty store whose commits are stamped by this clock, and which refuses commits
    /// that need space once it has `limit` bytes.
    pub fn bounded(limit: usize, time: Arc<dyn CommitClock>) -> Self {
        Self::over(MemoryStore::bounded(limit, time))
    }

    /// Wraps a store, with nothing paused or held.
    fn over(inner: MemoryStore) -> Self {
        let (turnstile, behind, anew) = (Arc::default(), Arc::default(), Arc::default());
        let inner = FaultyStore::new(inner);
        Self { inner, turnstile, behind, anew }
    }

    /// Makes snapshots include this many commits more than `published` reports. A real store is in
    /// this state briefly whenever it publishes.
    pub fn fall_behind(&self, commits: u64) {
        self.behind.store(commits, Ordering::SeqCst);
    }

    /// Makes the store report that it was reopened.
    pub fn open_anew(&self) {
        self.anew.store(true, Ordering::SeqCst);
    }

    /// Returns the store in the state in which a restart finds it.
    pub fn reopen(&self, time: Arc<dyn CommitClock>) -> Self {
        Self::over(self.inner.inner_store().reopen(time))
    }

    /// Returns the gate that can hold commits before their publication.
    pub fn gate(&self) -> Arc<Gate> {
        self.inner.inner_store().gate()
    }

    /// Makes the `nth` commit from now on fail before anything of it is written.
    pub fn lose_nth_commit(&self, nth: u64) {
        self.inner.fail_nth(Fault::CommitLost, nth);
    }

    /// Makes the `nth` commit from now on take effect but be reported as of unknown outcome.
    pub fn lose_nth_answer(&self, nth: u64) {
        self.inner.fail_nth(Fault::AnswerLost, nth);
    }

    /// Returns the turnstile in front of every read.
    pub fn turnstile(&self) -> &Turnstile {
        &self.turnstile
    }
}

/// A snapshot whose reads can be paused.
#[derive(Debug)]
struct PausingSnapshot {
    inner: Arc<dyn Snapshot>,
    turnstile: Arc<Turnstile>,
    /// Value of `ended` when the snapshot was taken.
    taken: u64,
}

impl Snapshot for PausingSnapshot {
    fn get<'a>(&'a self, space: Space, key: &'a [u8]) -> Read<'a, Option<Bytes>> {
        Read::waiting(async move {
            self.turnstile.pass_through(self.taken, space).await?;
            self.inner.get(space, key).await
        })
    }

    fn scan<'a>(
        &'a self,
        space: Space,
        range: &'a KeyRange,
        direction: Direction,
        limit: Limit,
    ) -> Read<'a, Page> {
        Read::waiting(async move {
            self.turnstile.pass_through(self.taken, space).await?;
            self.inner.scan(space, range, direction, limit).await
        })
    }
}

impl Store for PausingStore {
    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    fn snapshot(&self) -> Arc<dyn Snapshot> {
        let turnstile = Arc::clone(&self.turnstile);
        let taken = turnstile.ended.load(Ordering::SeqCst);
        Arc::new(PausingSnapshot { inner: self.inner.snapshot(), turnstile, taken })
    }

    fn published(&self) -> u64 {
        self.inner.published().saturating_sub(self.behind.load(Ordering::SeqCst))
    }

    fn health(&self) -> Health {
        if self.anew.load(Ordering::SeqCst) { Health::Reopened } else { Health::Good }
    }

    fn resume_commits(&self) {
        self.anew.store(false, Ordering::SeqCst);
    }

    fn in_flight(&self) -> &InFlight {
        self.inner.in_flight()
    }

    fn commit(&self, commits: Vec<Commit>) -> BoxFuture<'_, Result<Vec<Outcome>, Error>> {
        self.inner.commit(commits)
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

    fn close(&self) -> BoxFuture<'_, Result<(), Error>> {
        self.inner.close()
    }
}
