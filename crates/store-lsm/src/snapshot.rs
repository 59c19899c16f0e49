//! Still views of the tree.

use std::{
    ops::Bound,
    sync::{Arc, atomic::Ordering},
};

use bytes::Bytes;
use fjall::Readable;
use store::{Direction, Error, Kind, Limit, Page, Range, Snapshot, Space};
use tokio::sync::OnceCell;

use crate::{errors::from_fjall, inner::Inner, open_view::OpenView, shared::Shared, spaces::Place};

/// A still view.
#[derive(Clone)]
pub struct LsmSnapshot(View);

#[derive(Clone)]
enum View {
    Open(Still),
    /// The tree is being opened again: the view is of the first moment behind that.
    Waiting(Arc<Waiting>),
}

/// A view of an open tree.
#[derive(Clone)]
struct Still {
    inner: Arc<Inner>,
    open: Arc<OpenView>,
}

struct Waiting {
    shared: Arc<Shared>,
    still: OnceCell<Still>,
}

impl LsmSnapshot {
    /// A view of what is durable now.
    pub(crate) fn new(shared: &Arc<Shared>) -> Self {
        let live = shared.generation.load();
        Self(match live.as_ref() {
            Some(live) => View::Open(Still::of(&live.inner)),
            None => {
                let shared = Arc::clone(shared);
                View::Waiting(Arc::new(Waiting { shared, still: OnceCell::new() }))
            }
        })
    }

    async fn still(&self) -> Result<&Still, Error> {
        match &self.0 {
            View::Open(still) => Ok(still),
            View::Waiting(waiting) => waiting.still.get_or_try_init(|| waiting.opened()).await,
        }
    }
}

impl Waiting {
    async fn opened(&self) -> Result<Still, Error> {
        loop {
            let told = self.shared.opened.notified();
            if let Some(live) = self.shared.generation.load().as_ref() {
                return Ok(Still::of(&live.inner));
            }
            if let Some(failure) = self.shared.failure() {
                return Err(failure);
            }
            told.await;
        }
    }
}

impl Still {
    fn of(inner: &Arc<Inner>) -> Self {
        Self { inner: Arc::clone(inner), open: inner.current.load_full() }
    }

    /// A tree that is about to be closed is read no further.
    fn check(&self) -> Result<(), Error> {
        if self.inner.closing.load(Ordering::Relaxed) {
            let text = "the store was opened again during the read: try again";
            return Err(Error::new(Kind::Unavailable, text));
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
        let still = self.still().await?;
        still.check()?;
        let snapshot = &still.open.snapshot;
        let found =
            still.inner.spaces.with(space, |place| snapshot.get(&place.keyspace, place.key(key)));
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
        range: &Range,
        direction: Direction,
        limit: Limit,
    ) -> Result<Page, Error> {
        let still = self.still().await?;
        still.check()?;
        let Some(place) = still.inner.spaces.get(space) else { return Ok(Page::default()) };
        if range.is_empty() {
            return Ok(Page::default());
        }
        let start = Bound::Included(place.key(&range.start));
        let end = match &range.end {
            Some(end) => Some(place.key(end)),
            None => place.end(),
        };
        let end = end.map_or(Bound::Unbounded, Bound::Excluded);
        let found = still.open.snapshot.range::<Vec<u8>, _>(&place.keyspace, (start, end));
        match direction {
            Direction::Forward => page(&place, found, limit),
            Direction::Backward => page(&place, found.rev(), limit),
        }
    }
}

fn page(
    place: &Place,
    rows: impl Iterator<Item = fjall::Guard>,
    limit: Limit,
) -> Result<Page, Error> {
    let mut page = Page::default();
    let mut bytes = 0;
    for row in rows {
        if !page.rows.is_empty() && (limit.rows <= page.rows.len() || limit.bytes <= bytes) {
            page.more = true;
            break;
        }
        let (key, value) = row.into_inner().map_err(|error| from_fjall("read a range", &error))?;
        bytes += key.len() + value.len();
        page.rows.push((place.bare(Bytes::from(key)), Bytes::from(value)));
    }
    Ok(page)
}
