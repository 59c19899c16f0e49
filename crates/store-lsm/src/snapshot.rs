//! Still views of the tree. A snapshot belongs to one opening of the tree and ends with it: reads
//! of a snapshot whose tree is about to be closed fail with [`Kind::Reopened`], and their users look
//! again in a new one. One that is taken while there is no tree waits for the next.

use std::{
    ops::Bound,
    sync::{Arc, atomic::Ordering},
};

use bytes::Bytes;
use fjall::Readable;
use store::{Direction, Error, KeyRange, Kind, Limit, Page, Snapshot, Space};
use tokio::sync::OnceCell;

use crate::{
    errors::from_fjall, inner::OpenTree, open_view::OpenView, placeholder::PLACEHOLDER_KEY,
    shared::StoreShared, spaces::SpacePlace,
};

/// A still view.
#[derive(Clone)]
pub struct LsmSnapshot(SnapshotState);

/// Of which opening it is.
#[derive(Clone)]
enum SnapshotState {
    Open(OpenSnapshot),
    /// The tree is being opened again: the view is of the first moment after that.
    Waiting(Arc<WaitingSnapshot>),
}

/// A view of an open tree.
#[derive(Clone)]
struct OpenSnapshot {
    /// Keeps the tree open as long as somebody reads it.
    inner: Arc<OpenTree>,
    /// What is read.
    open: Arc<OpenView>,
}

/// A snapshot that was taken while there was no tree. Its clones become the same one.
struct WaitingSnapshot {
    shared: Arc<StoreShared>,
    still: OnceCell<OpenSnapshot>,
}

impl LsmSnapshot {
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

    /// The snapshot of an open tree; waits for one.
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
    /// Waits for the tree, or for the reason why it could not be opened.
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
    fn current_of(inner: &Arc<OpenTree>) -> Self {
        Self { inner: Arc::clone(inner), open: inner.current.load_full() }
    }

    /// A tree that is about to be closed is read no further.
    fn check_open(&self) -> Result<(), Error> {
        // Asked for every read, so that long scans end and the tree can be closed.
        if self.inner.closing.load(Ordering::Relaxed) {
            let text = "the store was opened again during the read: try again";
            return Err(Error::new(Kind::Reopened, text));
        }
        Ok(())
    }
}

impl std::fmt::Debug for LsmSnapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LsmSnapshot").finish_non_exhaustive()
    }
}

impl Snapshot for LsmSnapshot {
    async fn get(&self, space: Space, key: &[u8]) -> Result<Option<Bytes>, Error> {
        let still = self.when_open().await?;
        still.check_open()?;
        let snapshot = &still.open.snapshot;
        let found = still
            .inner
            .spaces
            .with_place(space, |place| snapshot.get(&place.keyspace, place.tree_key(key)));
        match found {
            None => Ok(None),
            Some(found) => found
                .map(|value| value.map(Bytes::from))
                .map_err(|error| from_fjall("read a key", &error)),
        }
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
        let Some(place) = still.inner.spaces.place_of(space) else { return Ok(Page::default()) };
        if range.is_empty() {
            return Ok(Page::default());
        }
        let start = Bound::Included(place.tree_key(&range.start));
        // A slot holds one space at a time, but keys of later uses may come after this one's.
        let end = match &range.end {
            Some(end) => Some(place.tree_key(end)),
            None => place.tree_end(),
        };
        let end = end.map_or(Bound::Unbounded, Bound::Excluded);
        let found = still.open.snapshot.range::<Vec<u8>, _>(&place.keyspace, (start, end));
        match direction {
            Direction::Forward => page_within(&place, found, limit),
            Direction::Backward => page_within(&place, found.rev(), limit),
        }
    }
}

/// The first rows, within the limit: at least one where there is one.
fn page_within(
    place: &SpacePlace,
    rows: impl Iterator<Item = fjall::Guard>,
    limit: Limit,
) -> Result<Page, Error> {
    let mut page = Page::default();
    let mut bytes = 0;
    for row in rows {
        // One row is always given, whatever its size.
        if !page.rows.is_empty() && (limit.rows <= page.rows.len() || limit.bytes <= bytes) {
            page.more = true;
            break;
        }
        let (key, value) = row.into_inner().map_err(|error| from_fjall("read a range", &error))?;
        // In slots no range of a space reaches it.
        if *key == PLACEHOLDER_KEY {
            continue;
        }
        bytes += key.len() + value.len();
        page.rows.push((place.space_key(Bytes::from(key)), Bytes::from(value)));
    }
    Ok(page)
}
