//! Still views of the store. A snapshot belongs to one opening and ends with it: reads
//! of a snapshot whose opening is about to be closed fail with [`Kind::Reopened`], and their users look
//! again in a new one. One that is taken while there is none waits for the next.

use std::{
    ops::Bound,
    sync::{Arc, atomic::Ordering},
};

use bytes::Bytes;
use lsm_tree::AbstractTree as _;
use store::{Direction, Error, KeyRange, Kind, Limit, Page, Snapshot, Space};
use tokio::sync::OnceCell;

use crate::{errors::from_tree, inner::OpenStore, published::View, shared::StoreShared};

/// A still view.
#[derive(Clone)]
pub struct TreeSnapshot(SnapshotState);

/// Of which opening it is.
#[derive(Clone)]
enum SnapshotState {
    Open(OpenSnapshot),
    /// The store is being opened again: the view is of the first moment after that.
    Waiting(Arc<WaitingSnapshot>),
}

/// A view of an open store.
#[derive(Clone)]
struct OpenSnapshot {
    /// Keeps the store open as long as somebody reads it.
    inner: Arc<OpenStore>,
    /// What is read.
    view: Arc<View>,
}

/// A snapshot that was taken while there was none. Its clones become the same one.
struct WaitingSnapshot {
    shared: Arc<StoreShared>,
    still: OnceCell<OpenSnapshot>,
}

impl TreeSnapshot {
    /// A view of what is durable now.
    pub(crate) fn new(shared: &Arc<StoreShared>) -> Self {
        // Without a lock: every view takes a snapshot.
        let live = shared.generation.load();
        Self(match live.as_ref() {
            Some(live) => SnapshotState::Open(OpenSnapshot::current_of(&live.inner)),
            None => {
                let shared = Arc::clone(shared);
                SnapshotState::Waiting(Arc::new(WaitingSnapshot { shared, still: OnceCell::new() }))
            }
        })
    }

    /// The snapshot of an open store; waits for one.
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
    /// Waits for the store, or for the reason why it could not be opened.
    async fn wait_until_open(&self) -> Result<OpenSnapshot, Error> {
        loop {
            // Before the look: what is told in between must not be missed.
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
    /// What is durable now.
    fn current_of(inner: &Arc<OpenStore>) -> Self {
        Self { inner: Arc::clone(inner), view: inner.published.view_to_keep() }
    }

    /// A store that is about to be closed is read no further, and neither is a view that was ended.
    fn check_open(&self) -> Result<(), Error> {
        // Asked for every read, so that long scans end and it can be closed.
        if self.inner.closing.load(Ordering::Relaxed) {
            let text = "the store was opened again during the read: try again";
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
        let Some(place) = still.view.places.get(&space) else { return Ok(None) };
        let found = place.tree.get(key, still.view.number);
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
        let Some(place) = still.view.places.get(&space) else { return Ok(Page::default()) };
        if range.is_empty() {
            return Ok(Page::default());
        }
        let start = Bound::Included(&range.start[..]);
        let end = range.end.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
        let found = place.tree.range::<&[u8], _>((start, end), still.view.number, None);
        let page = match direction {
            Direction::Forward => Page::within(found, limit, read_row),
            Direction::Backward => Page::within(found.rev(), limit, read_row),
        }?;
        still.view.check_kept().map(|()| page)
    }
}

/// Reads a row that a walk has come to.
fn read_row(row: impl lsm_tree::Guard) -> Result<(Bytes, Bytes), Error> {
    let (key, value) = row.into_inner().map_err(|error| from_tree("read a range", &error))?;
    Ok((Bytes::from(key), Bytes::from(value)))
}
