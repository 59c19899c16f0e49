//! Snapshots of the store. A snapshot belongs to one opening: when this opening is about to be
//! closed, reads of the snapshot fail with [`Kind::Reopened`] and callers retry with a new one. A
//! snapshot taken during a reopening waits for the next opening.

use std::sync::{Arc, atomic::Ordering};

use bytes::Bytes;
use store::{Direction, Error, KeyRange, Kind, Limit, Page, Read, Snapshot, Space};
use tokio::sync::OnceCell;
use tree::Caching;

use crate::{
    inner::OpenStore,
    published::{View, read_error},
    shared::StoreShared,
};

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

    /// Fails if the store is about to be closed.
    fn check_open(&self) -> Result<(), Error> {
        // Checked for every read, so that long scans end and the store can be closed.
        if self.inner.closing.load(Ordering::Relaxed) { Err(reopened_error()) } else { Ok(()) }
    }

    /// Converts an error of a read. The next opening may have removed a file that this one lists.
    fn failed(&self, context: &str, error: &tree::Error) -> Error {
        if self.inner.is_retired() { reopened_error() } else { read_error(context, error) }
    }

    /// Reads the value of a key.
    fn read_key(&self, space: Space, key: &[u8]) -> Result<Option<Bytes>, Error> {
        self.check_open()?;
        let Some(number) = self.view.numbers.get(&space) else { return Ok(None) };
        let found = self.view.snapshot.get(*number, key);
        found.map_err(|error| self.failed("read a key", &error))
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
        let Some(number) = self.view.numbers.get(&space) else { return Ok(Page::default()) };
        let failed = |error: tree::Error| self.failed("read a range", &error);
        let direction = match direction {
            Direction::Forward => tree::Direction::Forward,
            Direction::Backward => tree::Direction::Backward,
        };
        let (start, end) = (&range.start, range.end.as_deref());
        let found = self.view.snapshot.scan(*number, start, end, direction, Caching::Fill);
        Page::within(found.map_err(failed)?, limit, |row| row.map_err(failed))
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

/// Returns the error of reads of an opening that was closed.
fn reopened_error() -> Error {
    Error::new(Kind::Reopened, "the store was reopened during the read: try again")
}
