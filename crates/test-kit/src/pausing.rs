//! A memory store whose reads can be stopped half-way, so that the world moves while a view is
//! open.
//!
//! ```text
//!  commit ──▶ stamped ──[gate]──▶ visible          shut: the commit is in flight
//!  read ────[turnstile]────▶ rows                  stopped: the view stays open in the middle
//!                                                  ended: the store was opened again meanwhile
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
    Direction, Error, Fault, FaultyStore, Gate, Health, KeyRange, Kind, Limit, MemoryStore, Page,
    Snapshot, Space, Store, Timepiece,
};

/// Stops one read, until [`open`](Self::open) wakes it.
#[derive(Debug, Default)]
pub struct Turnstile {
    /// Reads until one is stopped, counting that one; 0 stops none.
    left: AtomicU64,
    /// A read that was stopped waits for this to end.
    shut: AtomicBool,
    /// Wakes it.
    stopped: Mutex<Option<Waker>>,
    /// Reads of rows, to be told from those of entries and counts.
    rows: AtomicU64,
    /// Reads until the snapshots that there are end, counting the first that fails; 0 ends none.
    until_end: AtomicU64,
    /// How often that happened. A snapshot of an earlier number has ended.
    ended: AtomicU64,
}

/// Counts down to zero; returns whether this was the step from one.
fn count_down(left: &AtomicU64) -> bool {
    left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)) == Ok(1)
}

impl Turnstile {
    /// Stops the `nth` read from now on.
    pub fn stop_nth(&self, nth: u64) {
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
        let stopped = self.stopped.lock().unwrap_or_else(PoisonError::into_inner).take();
        stopped.iter().for_each(Waker::wake_by_ref);
    }

    /// Ends all snapshots at the `nth` read from now on, as a store does that is opened again.
    pub fn end_snapshots_at(&self, nth: u64) {
        self.until_end.store(nth, Ordering::SeqCst);
    }

    /// Ends no snapshots any more; returns whether they have been ended since it was told to.
    pub fn keep_snapshots(&self) -> bool {
        self.until_end.swap(0, Ordering::SeqCst) == 0
    }

    /// Reads of rows so far.
    pub fn row_reads(&self) -> u64 {
        self.rows.load(Ordering::SeqCst)
    }

    /// Counts a read of a snapshot, and holds it where it is the one to be stopped. Fails where the
    /// snapshot has ended.
    async fn pass_through(&self, taken: u64, space: Space) -> Result<(), Error> {
        self.rows.fetch_add(u64::from(matches!(space, Space::Rows(_))), Ordering::SeqCst);
        if count_down(&self.until_end) {
            self.ended.fetch_add(1, Ordering::SeqCst);
        }
        if count_down(&self.left) {
            poll_fn(|poll| {
                // Before the look: whoever opens after it wakes this one.
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
            return Err(Error::new(Kind::Reopened, "the store was opened again during the read"));
        }
        Ok(())
    }
}

/// A memory store with a turnstile for reads and a gate for commits.
#[derive(Clone, Debug)]
pub struct PausingStore {
    inner: FaultyStore<MemoryStore>,
    /// Shared with all snapshots.
    turnstile: Arc<Turnstile>,
    /// Commits that snapshots show before they are said to be published.
    behind: Arc<AtomicU64>,
    /// What [`Store::health`] says.
    anew: Arc<AtomicBool>,
}

impl PausingStore {
    /// An empty store whose commits are stamped by this clock.
    pub fn new(time: Arc<dyn Timepiece>) -> Self {
        Self::over(MemoryStore::new(time))
    }

    /// Around a store, with nothing stopped or held.
    fn over(inner: MemoryStore) -> Self {
        let (turnstile, behind, anew) = (Arc::default(), Arc::default(), Arc::default());
        let inner = FaultyStore::new(inner);
        Self { inner, turnstile, behind, anew }
    }

    /// From now on snapshots hold this many commits more than are said to be published, as for a
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
        Self::over(self.inner.inner_store().reopen(time))
    }

    /// Between stamp and publication.
    pub fn gate(&self) -> Arc<Gate> {
        self.inner.inner_store().gate()
    }

    /// Makes the `nth` commit from now on fail, before anything of it is written.
    pub fn lose_nth_commit(&self, nth: u64) {
        self.inner.fail_nth(Fault::CommitLost, nth);
    }

    /// Makes the answer of the `nth` commit from now on fail: it takes place, and its writer is told
    /// that this is not known.
    pub fn lose_nth_answer(&self, nth: u64) {
        self.inner.fail_nth(Fault::AnswerLost, nth);
    }

    /// In front of every read.
    pub fn turnstile(&self) -> &Turnstile {
        &self.turnstile
    }
}

/// A snapshot whose reads can be stopped.
#[derive(Clone, Debug)]
pub struct PausingSnapshot {
    inner: <FaultyStore<MemoryStore> as Store>::Snapshot,
    turnstile: Arc<Turnstile>,
    /// The number of ends of snapshots before it was taken.
    taken: u64,
}

impl Snapshot for PausingSnapshot {
    async fn get(&self, space: Space, key: &[u8]) -> Result<Option<Bytes>, Error> {
        self.turnstile.pass_through(self.taken, space).await?;
        self.inner.get(space, key).await
    }

    async fn scan(
        &self,
        space: Space,
        range: &KeyRange,
        direction: Direction,
        limit: Limit,
    ) -> Result<Page, Error> {
        self.turnstile.pass_through(self.taken, space).await?;
        self.inner.scan(space, range, direction, limit).await
    }
}

/// Calls the store inside.
macro_rules! inner {
    ($wrapper:expr, $store:ident => $call:expr) => {{
        let $store = &$wrapper.inner;
        $call
    }};
}

impl Store for PausingStore {
    type Snapshot = PausingSnapshot;

    fn snapshot(&self) -> PausingSnapshot {
        let turnstile = Arc::clone(&self.turnstile);
        let taken = turnstile.ended.load(Ordering::SeqCst);
        PausingSnapshot { inner: self.inner.snapshot(), turnstile, taken }
    }

    fn published(&self) -> u64 {
        self.inner.published().saturating_sub(self.behind.load(Ordering::SeqCst))
    }

    fn health(&self) -> Health {
        if self.anew.load(Ordering::SeqCst) { Health::Anew } else { Health::Good }
    }

    fn resume_commits(&self) {
        self.anew.store(false, Ordering::SeqCst);
    }

    store::delegate_store! { self via inner:
        capabilities, in_flight, commit, create_space, drop_space, all_spaces, set_drop_predicate, reap_space,
        filtered_through, space_bytes, disk_bytes, tick, close
    }
}
