//! Still views of the tree.

use std::{ops::Bound, sync::Arc};

use bytes::Bytes;
use fjall::{Database, Readable};
use store::{Direction, Error, Limit, Page, Range, Snapshot, Space};

use crate::{
    errors::from_fjall,
    open::Inner,
    pins::{Pin, Pins},
    spaces::Place,
};

/// A still view.
#[derive(Clone)]
pub struct LsmSnapshot {
    pub(crate) inner: Arc<Inner>,
    pub(crate) open: Arc<Open>,
}

/// An open snapshot, and what keeps compaction off it.
pub(crate) struct Open {
    snapshot: fjall::Snapshot,
    _pin: Pin,
}

impl Open {
    /// A snapshot of all that the tree has: for the committer, since it may not be durable yet.
    pub(crate) fn new(database: &Database, pins: &Arc<Pins>) -> Arc<Self> {
        let pin = pins.pin(database);
        Arc::new(Self { snapshot: database.snapshot(), _pin: pin })
    }
}

impl std::fmt::Debug for LsmSnapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LsmSnapshot").finish_non_exhaustive()
    }
}

impl Snapshot for LsmSnapshot {
    async fn get(&self, space: Space, key: &[u8]) -> Result<Option<Bytes>, Error> {
        let snapshot = &self.open.snapshot;
        let found =
            self.inner.spaces.with(space, |place| snapshot.get(&place.keyspace, place.key(key)));
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
        let Some(place) = self.inner.spaces.get(space) else { return Ok(Page::default()) };
        if range.is_empty() {
            return Ok(Page::default());
        }
        let start = Bound::Included(place.key(&range.start));
        let end = match &range.end {
            Some(end) => Some(place.key(end)),
            None => place.end(),
        };
        let end = end.map_or(Bound::Unbounded, Bound::Excluded);
        let found = self.open.snapshot.range::<Vec<u8>, _>(&place.keyspace, (start, end));
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
