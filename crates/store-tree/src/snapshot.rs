//! Snapshots of the store. A snapshot belongs to one opening: when this opening is about to be
//! closed, reads of the snapshot fail with [`Kind::Reopened`] and callers retry with a new one. A
//! snapshot taken during a reopening waits for the next opening.

use std::{
    ops::Bound,
    sync::{Arc, atomic::Ordering},
};

use bytes::Bytes;
use lsm_tree::AbstractTree as _;
use store::{Direction, Error, KeyRange, Kind, Limit, Page, Read, Snapshot, Space};
use tokio::sync::OnceCell;

use crate::{errors::from_tree, inner::OpenStore, published::View, shared::StoreShared};

/// A snapshot of an open store.
struct OpenSnapshot {
    /// Keeps the opening of the store alive while the snapshot exists.
    inner: Arc<OpenStore>,
    view: Arc<View>,
}

/// A snapshot taken while the store was being reopened. All its reads see the data as of the first
/// read after the reopening.
struct WaitingSnapshot {
    shared: Arc<StoreShared>,
    still: OnceCell<OpenSnapshot>,
}

/// Takes a snapshot of all durable commits.
pub(crate) fn take_snapshot(shared: &Arc<StoreShared>) -> Arc<dyn Snapshot> {
    // Takes no lock, because every view takes a snapshot.
    let live = shared.generation.load();
    match live.as_ref() {
        Some(live) => Arc::new(OpenSnapshot::current_of(&live.inner)),
        None => Arc::new(WaitingSnapshot { shared: Arc::clone(shared), still: OnceCell::new() }),
    }
}

impl WaitingSnapshot {
    /// Returns the snapshot, after waiting until the store is open.
    async fn when_open(&self) -> Result<&OpenSnapshot, Error> {
        self.still.get_or_try_init(|| self.wait_until_open()).await
    }

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

    /// Reads the value of a key.
    fn read_key(&self, space: Space, key: &[u8]) -> Result<Option<Bytes>, Error> {
        self.check_open()?;
        let Some(space_tree) = self.view.space_trees.get(&space) else { return Ok(None) };
        let found = space_tree.tree.get(key, self.view.number);
        let found = found.map_err(|error| from_tree("read a key", &error))?;
        self.view.check_kept().map(|()| found.map(Bytes::from))
    }

    /// Reads the first page of a range.
    fn read_page(
        &self,
        space: Space,
        range: &KeyRange,
        direction: Direction,
        limit: Limit,
    ) -> Result<Page, Error> {
        self.check_open()?;
        let Some(space_tree) = self.view.space_trees.get(&space) else {
            return Ok(Page::default());
        };
        if range.is_empty() {
            return Ok(Page::default());
        }
        let start = Bound::Included(&range.start[..]);
        let end = range.end.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
        let found = space_tree.tree.range::<&[u8], _>((start, end), self.view.number, None);
        let page = match direction {
            Direction::Forward => Page::within(found, limit, read_row),
            Direction::Backward => Page::within(found.rev(), limit, read_row),
        }?;
        self.view.check_kept().map(|()| page)
    }
}

impl std::fmt::Debug for OpenSnapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenSnapshot").finish_non_exhaustive()
    }
}

impl std::fmt::Debug for WaitingSnapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WaitingSnapshot").finish_non_exhaustive()
    }
}

impl Snapshot for OpenSnapshot {
    fn get<'a>(&'a self, space: Space, key: &'a [u8]) -> Read<'a, Option<Bytes>> {
        Read::ready(self.read_key(space, key))
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

impl Snapshot for WaitingSnapshot {
    fn get<'a>(&'a self, space: Space, key: &'a [u8]) -> Read<'a, Option<Bytes>> {
        Read::waiting(async move { self.when_open().await?.read_key(space, key) })
    }

    fn scan<'a>(
        &'a self,
        space: Space,
        range: &'a KeyRange,
        direction: Direction,
        limit: Limit,
    ) -> Read<'a, Page> {
        Read::waiting(
            async move { self.when_open().await?.read_page(space, range, direction, limit) },
        )
    }
}

/// Reads a row of a scan.
fn read_row(row: impl lsm_tree::Guard) -> Result<(Bytes, Bytes), Error> {
    let (key, value) = row.into_inner().map_err(|error| from_tree("read a range", &error))?;
    Ok((Bytes::from(key), Bytes::from(value)))
}
