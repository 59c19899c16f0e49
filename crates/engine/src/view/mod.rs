//! The only way to a row: a view of one collection at one instant, which cannot yield a dead row.
//!
//! Opened in this order: register the hold, take the instant, take the instant of the oldest commit
//! in flight, read the settings, take the snapshot; and again from the start if a change of settings
//! was under way or the snapshot holds something later than the instant.

mod holds;
mod row;
mod together;

use std::sync::Arc;

use clock::Instant;
use expiry::Header;
use store::{Direction, Limit, Range, Snapshot, Store};

pub(crate) use holds::{Hold, Holds};
pub(crate) use row::{Entry, Page, Row};
pub(crate) use together::{MAIN, Views, open_all, open_together};

use crate::{
    Collection, Error, Kind, State,
    catalog::IndexSpec,
    engine::Inner,
    error::{Halt, What},
    index::named,
};

/// A still view of a collection's live documents at one instant.
#[derive(Debug)]
pub struct LiveView<S: Store> {
    pub(crate) collection: Arc<Collection>,
    pub(crate) state: Arc<State>,
    /// Everything is judged at this instant.
    pub(crate) instant: Instant,
    /// Nothing that died by this instant can come back; later deaths wait for the flight.
    settled: Instant,
    /// The commits in flight when the view was opened.
    batch: Option<u64>,
    /// The commits it certainly sees.
    pub(crate) seq: u64,
    pub(crate) snapshot: S::Snapshot,
    last_moments: bool,
    _hold: Hold,
}

/// Opens a view.
pub(crate) async fn open<S: Store>(
    inner: &Inner<S>,
    collection: &Arc<Collection>,
) -> Result<LiveView<S>, Error> {
    loop {
        let hold = inner.holds.register(collection.id);
        if inner.rules.fence {
            collection.opened().await;
        }
        let fence = collection.fence();
        let instant = inner.clock.now().await;
        let oldest = inner.store.flight().oldest();
        let state = collection.state();
        let seq = inner.store.published();
        let snapshot = inner.store.snapshot();
        let changed = inner.rules.fence && (fence.is_none() || collection.fence() != fence);
        if changed || instant.ms < inner.store.flight().newest_ms() {
            continue;
        }
        if collection.is_dropped() {
            return Err(dropped(&state));
        }
        return Ok(Moment { instant, oldest, seq }.view(inner, collection, state, snapshot, hold));
    }
}

/// When a view was opened.
#[derive(Clone, Copy)]
struct Moment {
    instant: Instant,
    /// The oldest commit in flight, and the batch to wait for.
    oldest: Option<(i64, u64)>,
    seq: u64,
}

impl Moment {
    /// A view of this moment; the hold is moved to what it needs.
    fn view<S: Store>(
        self,
        inner: &Inner<S>,
        collection: &Arc<Collection>,
        state: Arc<State>,
        snapshot: S::Snapshot,
        mut hold: Hold,
    ) -> LiveView<S> {
        let Self { instant, oldest, seq } = self;
        let settled = oldest.map_or(instant, |(since_ms, _)| Instant::from_ms(since_ms));
        if inner.rules.holds {
            hold.hold_at(instant.min(settled), seq, &state);
        } else {
            hold.let_go();
        }
        LiveView {
            collection: Arc::clone(collection),
            state,
            instant,
            settled,
            batch: oldest.map(|(_, batch)| batch),
            seq,
            snapshot,
            last_moments: inner.rules.last_moments,
            _hold: hold,
        }
    }
}

fn dropped(state: &State) -> Error {
    let message = format!("collection {} was dropped", state.record.namespace);
    Error::new(Kind::NotFound(What::Collection), message)
}

impl<S: Store> LiveView<S> {
    /// Waits until a new view can tell what died in this one's last moments.
    pub(crate) async fn land(&self, inner: &Inner<S>) {
        if let Some(batch) = self.batch {
            inner.store.flight().landed(batch).await;
        }
    }

    /// Nothing that died by this instant can come back.
    pub(crate) fn settled(&self) -> Instant {
        if self.last_moments { self.settled } else { self.instant }
    }

    /// The instant of death of a live row; `None` when it is dead.
    fn judge(&self, header: &Header<'_>) -> Result<Option<Instant>, Halt> {
        let death = self.state.record.settings.death(header);
        if self.instant < death {
            Ok(Some(death))
        } else if self.last_moments && self.settled < death {
            Err(Halt::Again)
        } else {
            Ok(None)
        }
    }

    fn row(&self, key: bytes::Bytes, value: bytes::Bytes) -> Result<Option<Row>, Halt> {
        let (header, body) = Header::split_row(&value)?;
        let Some(death) = self.judge(&header)? else { return Ok(None) };
        let Header { stamp, birth, ts, .. } = header;
        let start = value.len() - body.len();
        Ok(Some(Row { key, stamp, birth, ts, death, start, value }))
    }

    /// The live row with this key.
    pub(crate) async fn get(&self, key: &[u8]) -> Result<Option<Row>, Halt> {
        match self.snapshot.get(self.collection.rows(), key).await? {
            Some(value) => self.row(bytes::Bytes::copy_from_slice(key), value),
            None => Ok(None),
        }
    }

    /// A page of live rows, and the range behind it.
    pub(crate) async fn rows(
        &self,
        range: &Range,
        direction: Direction,
        limit: Limit,
    ) -> Result<Page<Row>, Halt> {
        let page = self.snapshot.scan(self.collection.rows(), range, direction, limit).await?;
        let rest = rest(&page, range, direction);
        let examined = page.rows.len();
        let mut items = Vec::with_capacity(examined);
        for (key, value) in page.rows {
            items.extend(self.row(key, value)?);
        }
        Ok(Page { items, rest, examined })
    }

    fn entry(
        &self,
        index: &IndexSpec,
        key: bytes::Bytes,
        value: &bytes::Bytes,
    ) -> Result<Option<Entry>, Halt> {
        let (header, body) = Header::split_row(value)?;
        let Some(_) = self.judge(&header)? else { return Ok(None) };
        let row_key =
            if index.unique { value.slice(value.len() - body.len()..) } else { named(&key, body)? };
        Ok(Some(Entry { stamp: header.stamp, key, row_key }))
    }

    /// A page of live entries of an index, and the range behind it.
    pub(crate) async fn entries(
        &self,
        index: &IndexSpec,
        range: &Range,
        direction: Direction,
        limit: Limit,
    ) -> Result<Page<Entry>, Halt> {
        let page = self.snapshot.scan(self.collection.entries(), range, direction, limit).await?;
        let rest = rest(&page, range, direction);
        let examined = page.rows.len();
        let mut items = Vec::with_capacity(examined);
        for (key, value) in page.rows {
            items.extend(self.entry(index, key, &value)?);
        }
        Ok(Page { items, rest, examined })
    }

    /// The live entry of a unique index with this key.
    pub(crate) async fn unique(
        &self,
        index: &IndexSpec,
        key: &[u8],
    ) -> Result<Option<Entry>, Halt> {
        match self.snapshot.get(self.collection.entries(), key).await? {
            Some(value) => self.entry(index, bytes::Bytes::copy_from_slice(key), &value),
            None => Ok(None),
        }
    }

    /// The row of a live entry. There always is one, since views hold the reaper.
    pub(crate) async fn row_of(&self, entry: &Entry) -> Result<Row, Halt> {
        let row = self.get(&entry.row_key).await?;
        row.filter(|row| row.stamp == entry.stamp)
            .ok_or_else(|| Error::corrupt("an index entry has no row").into())
    }
}

fn rest(page: &store::Page, range: &Range, direction: Direction) -> Option<Range> {
    let (last, _) = page.rows.last()?;
    page.more.then(|| range.after(last, direction))
}
