//! Snapshots of the store. A snapshot belongs to one opening: when that is about to be closed, its
//! reads fail with [`Kind::Reopened`] and callers retry with a new one. A snapshot taken during a
//! reopening waits for the next opening.

use std::{
    ops::Bound,
    sync::{Arc, atomic::Ordering},
};

use bytes::Bytes;
use lsm_tree::AbstractTree as _;
use store::{Direction, Error, KeyRange, Kind, Limit, Page, Snapshot, Space};
use tokio::sync::OnceCell;

use crate::{errors::from_tree, inner::OpenStore, published::View, shared::StoreShared};

/// A snapshot of the store.
#[derive(Clone)]
pub struct TreeSnapshot(SnapshotState);

/// The store from which a snapshot reads, which may still have to be reopened.
#[derive(Clone)]
enum SnapshotState {
    Open(OpenSnapshot),
    /// The store is being reopened; the snapshot is of the first moment after that.
    Waiting(Arc<WaitingSnapshot>),
}

/// A snapshot of an open store.
#[derive(Clone)]
struct OpenSnapshot {
    /// Keeps the opening of the store alive while it is read.
    inner: Arc<OpenStore>,
    view: Arc<View>,
}

/// A snapshot taken while the store was being reopened. Its clones resolve to the same snapshot.
struct WaitingSnapshot {
    shared: Arc<StoreShared>,
    still: OnceCell<OpenSnapshot>,
}

impl TreeSnapshot {
    /// Takes a snapshot of all durable commits.
    pub(crate) fn new(shared: &Arc<StoreShared>) -> Self {
        // Without a lock, because every view takes a snapshot.
        let live = shared.generation.load();
        Self(match live.as_ref() {
            Some(live) => SnapshotState::Open(OpenSnapshot::current_of(&live.inner)),
            None => {
                let shared = Arc::clone(shared);
                SnapshotState::Waiting(Arc::new(WaitingSnapshot { shared, still: OnceCell::new() }))
            }
        })
    }

    /// Returns the snapshot, after waiting until the store is open.
    async fn when_open(&self) -> Result<&OpenSnapshot, Error> {
        match &self.0 {
            SnapshotState::Open(still) => Ok(still),
            SnapshotState::Waiting(waiting) => {
                waiting.still.get_or_try_init(|| waiting.wait_until_open()).await
            }
        }
    }
}

impl WaitingSnapshot {
    /// Waits until the store is open or could not be opened.
    async fn wait_until_open(&self) -> Result<OpenSnapshot, Error> {
        loop {
            // Registered before the check, so that no notification is missed.
            let told = self.shared.opened.notified();
            if let Some(live) = self.shared.generation.load().as_ref() {
                return Ok(OpenSnapshot::current_of(&live.inner));
            }
            if let Some(failure) = self.shared.last_failure() {
                return Err(failure);
            }
            told.await;
        }
    }
}

impl OpenSnapshot {
    /// Takes a snapshot of all durable commits.
    fn current_of(inner: &Arc<OpenStore>) -> Self {
        Self { inner: Arc::clone(inner), view: inner.published.view_to_keep() }
    }

    /// Fails if the store is about to be closed or the view was ended.
    fn check_open(&self) -> Result<(), Error> {
        // Checked for every read, so that long scans end and the store can be closed.
        if self.inner.closing.load(Ordering::Relaxed) {
            let text = "the store was reopened during the read: try again";
            return Err(Error::new(Kind::Reopened, text));
        }
        self.view.check_kept()
    }
}

impl std::fmt::Debug for TreeSnapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TreeSnapshot").finish_non_exhaustive()
    }
}

impl Snapshot for TreeSnapshot {
    async fn get(&self, space: Space, key: &[u8]) -> Result<Option<Bytes>, Error> {
        let still = self.when_open().await?;
        still.check_open()?;
        let Some(space_tree) = still.view.space_trees.get(&space) else { return Ok(None) };
        let found = space_tree.tree.get(key, still.view.number);
        let found = found.map_err(|error| from_tree("read a key", &error))?;
        still.view.check_kept().map(|()| found.map(Bytes::from))
    }

    async fn scan(
        &self,
        space: Space,
        range: &KeyRange,
        direction: Direction,
        limit: Limit,
    ) -> Result<Page, Error> {
        let still = self.when_open().await?;
        still.check_open()?;
        let Some(space_tree) = still.view.space_trees.get(&space) else {
            return Ok(Page::default());
        };
        if range.is_empty() {
            return Ok(Page::default());
        }
        let start = Bound::Included(&range.start[..]);
        let end = range.end.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
        let found = space_tree.tree.range::<&[u8], _>((start, end), still.view.number, None);
        let page = match direction {
            Direction::Forward => Page::within(found, limit, read_row),
            Direction::Backward => Page::within(found.rev(), limit, read_row),
        }?;
        still.view.check_kept().map(|()| page)
    }
}

/// Reads a row of a scan.
fn read_row(row: impl lsm_tree::Guard) -> Result<(Bytes, Bytes), Error> {
    let (key, value) = row.into_inner().map_err(|error| from_tree("read a range", &error))?;
    Ok((Bytes::from(key), Bytes::from(value)))
}
