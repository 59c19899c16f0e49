//! A view of one collection at one instant. Every row and index entry that it yields was checked
//! against the collection's settings: an expired one is left out.
//!
//! ```text
//!                stable                instant
//!  ────────────────┼──────────────────────┼──────────────▶ time
//!  expired: final  │ expired, unless a    │ live
//!                  │ commit in flight has │
//!                  │ extended it          │
//! ```
//!
//! Between the two, whoever meets an expired row stops with [`Halt::LookAgain`], waits for those
//! commits and looks again in a new view. That is rare: it takes a document that expires while its
//! own renewal is being written.
//!
//! The check needs the header alone, of a row as of an index entry: the entry carries its row's
//! header, so that a walk over an index leaves expired entries out without reading their rows.

use std::sync::Arc;

use bytes::Bytes;
use clock::Instant;
use expiry::{Damaged, Header};
use store::{Snapshot, Space, Store};

use super::{
    active::ReadGuard, expired::IncludingExpired, factory::ViewFactory, pages::Pages,
    row_cache::Reader, storage::Counters,
};
use crate::{
    catalog::{Collection, CollectionState, IndexSpec},
    entry::named_row_key,
    error::{Error, Halt},
    row::{CountedPage, Entry, Page, Row},
    rules::Rules,
};

/// Splits a stored row into its header and its document.
type SplitRow = fn(&[u8]) -> Result<(Header<'_>, &[u8]), Damaged>;

/// A still view of a collection's live documents at one instant.
#[derive(Debug)]
pub struct LiveView<S: Store> {
    /// The collection; it may have been dropped since.
    pub(crate) collection: Arc<Collection>,
    /// Its settings and indexes, as they were at the instant.
    pub(crate) state: Arc<CollectionState>,
    /// The number of the collection's fence at that time: another one after each change of settings
    /// or indexes.
    pub(super) fence: Option<u64>,
    /// Visibility is checked at this instant.
    pub(crate) instant: Instant,
    /// The commits it certainly sees: all up to this `seq`.
    pub(crate) seq: u64,
    /// Before the oldest commit in flight was stamped; see
    /// [`stable_instant`](Self::stable_instant).
    pub(super) stable: Instant,
    /// The newest of the commits that were in flight when the view was opened.
    pub(super) in_flight: Option<u64>,
    /// Private to this folder: it shows expired documents too.
    pub(super) snapshot: S::Snapshot,
    pub(super) rules: Rules,
    /// Keeps the reaper from what the view may still read, until the view is dropped.
    pub(super) guard: ReadGuard,
}

impl<S: Store> LiveView<S> {
    /// Waits for the commits that were in flight, so that a new view can tell what this one could
    /// not.
    pub(crate) async fn wait_for_in_flight(&self, factory: &ViewFactory<S>) {
        if let Some(batch) = self.in_flight {
            factory.store.in_flight().wait_until_finished(batch).await;
        }
    }

    /// Expirations up to here are final. A commit still in flight may extend documents that expire
    /// later.
    pub(crate) fn stable_instant(&self) -> Instant {
        if self.rules.last_moments() { self.stable } else { self.instant }
    }

    /// The rules that it was opened under.
    pub(crate) fn rules(&self) -> Rules {
        self.rules
    }

    /// What is counted of the view's collection, and of all others.
    pub(crate) fn counters(&self) -> Counters<'_, S::Snapshot> {
        Counters::of(&self.snapshot)
    }

    /// Rows and entries as they are stored: for publishing expirations, for the check of a
    /// collection and for counters that are being built, and for nothing that is returned to a
    /// client as a document.
    pub(crate) fn including_expired(&self) -> IncludingExpired<'_, S::Snapshot> {
        IncludingExpired::of(&self.snapshot, &self.collection)
    }

    /// The live row with this key.
    pub(crate) async fn get_row(&self, key: &[u8]) -> Result<Option<Row>, Halt> {
        // The key is copied: a row outlives what was asked with.
        self.row_under(key, || Bytes::copy_from_slice(key)).await
    }

    /// The live row under a key, which comes with the key that is made for it.
    async fn row_under(
        &self,
        key: &[u8],
        own_key: impl FnOnce() -> Bytes,
    ) -> Result<Option<Row>, Halt> {
        let rows = self.guard.rows();
        let reader = Reader { collection: self.collection.id, settings: self.fence, seq: self.seq };
        let vacancy = match rows.find(reader, key, self.rules) {
            // Its body was compared with its checksum before it was kept.
            Ok(value) => return self.visible_row_by(|row| Header::split(row), own_key(), value),
            Err(vacancy) => vacancy,
        };
        let Some(value) = self.snapshot.get(self.collection.rows_space(), key).await? else {
            return Ok(None);
        };
        let row = self.visible_row_by(|row| Header::split_row(row), own_key(), value)?;
        // What has expired is not asked for again.
        if let (Some(row), Some(vacancy)) = (&row, vacancy) {
            rows.keep(vacancy, reader, key, &row.value);
        }
        Ok(row)
    }

    /// The next page of live rows of a walk; `None` at the end. A page may be empty where all of it
    /// had expired. Only the checksums of headers are compared here: the store compares those of the
    /// blocks of its tables when it reads them, and those of its journal at a start. Comparing each
    /// body once more took 6 % of a walk.
    pub(crate) async fn next_rows(&self, pages: &mut Pages) -> Result<Option<Page<Row>>, Halt> {
        let space = self.collection.rows_space();
        let Some(page) = pages.next_page(&self.snapshot, space).await? else { return Ok(None) };
        // Expired rows are work too: the caller counts them.
        let examined = page.rows.len();
        let mut items = Vec::with_capacity(examined);
        for (key, value) in page.rows {
            items.extend(self.visible_row_by(|row| Header::split(row), key, value)?);
        }
        Ok(Some(Page { items, examined }))
    }

    /// The same for entries of an index.
    pub(crate) async fn next_entries(
        &self,
        index: &IndexSpec,
        pages: &mut Pages,
    ) -> Result<Option<Page<Entry>>, Halt> {
        let space = self.collection.entries_space();
        let Some(page) = pages.next_page(&self.snapshot, space).await? else { return Ok(None) };
        let examined = page.rows.len();
        let mut items = Vec::with_capacity(examined);
        for (key, value) in page.rows {
            items.extend(self.visible_entry(index, key, &value)?);
        }
        Ok(Some(Page { items, examined }))
    }

    /// How many rows of the next page of a walk are live; `None` at the end. Only headers are looked
    /// at.
    pub(crate) async fn count_rows(&self, pages: &mut Pages) -> Result<Option<CountedPage>, Halt> {
        self.count_page(self.collection.rows_space(), pages).await
    }

    /// The same for entries of an index.
    pub(crate) async fn count_entries(
        &self,
        pages: &mut Pages,
    ) -> Result<Option<CountedPage>, Halt> {
        self.count_page(self.collection.entries_space(), pages).await
    }

    async fn count_page(
        &self,
        space: Space,
        pages: &mut Pages,
    ) -> Result<Option<CountedPage>, Halt> {
        let Some(mut page) = pages.next_page(&self.snapshot, space).await? else {
            return Ok(None);
        };
        let mut live = 0;
        for (_, value) in &page.rows {
            let (header, _) = Header::split(value)?;
            live += u64::from(self.check_visibility(&header)?.is_some());
        }
        let examined = page.rows.len();
        Ok(Some(CountedPage { live, examined, last: page.rows.pop().map(|(key, _)| key) }))
    }

    /// The live entry of a unique index with this key.
    pub(crate) async fn unique_entry(
        &self,
        index: &IndexSpec,
        key: &[u8],
    ) -> Result<Option<Entry>, Halt> {
        match self.snapshot.get(self.collection.entries_space(), key).await? {
            Some(value) => self.visible_entry(index, Bytes::copy_from_slice(key), &value),
            None => Ok(None),
        }
    }

    /// The row of a live entry. There always is one, since views keep the reaper away.
    pub(crate) async fn row_of(&self, entry: &Entry) -> Result<Row, Halt> {
        // The key is copied: a row that stays shall not keep the block that the entry came in.
        let row = self.passing_row_of(entry).await?;
        Ok(Row { key: Bytes::copy_from_slice(&row.key), ..row })
    }

    /// The same for a row that does not stay: its key is the entry's.
    pub(crate) async fn passing_row_of(&self, entry: &Entry) -> Result<Row, Halt> {
        let row = self.row_under(&entry.row_key, || entry.row_key.clone()).await?;
        // An entry of an older write of the row would be damage: every write puts all entries
        // again.
        row.filter(|row| row.stamp == entry.stamp)
            .ok_or_else(|| Error::corrupt("an index entry has no row").into())
    }

    /// When a live row expires; `None` when it has expired.
    ///
    /// # Errors
    ///
    /// [`Halt::LookAgain`] where a commit in flight may still have extended its life.
    fn check_visibility(&self, header: &Header<'_>) -> Result<Option<Instant>, Halt> {
        let expires_at = self.state.record.settings.expires_at(header);
        // The order of the two comparisons is the law: live up to, and not at, the deadline.
        if self.instant < expires_at {
            Ok(Some(expires_at))
        } else if self.stable_instant() < expires_at {
            Err(Halt::LookAgain)
        } else {
            Ok(None)
        }
    }

    /// A stored row, if it is live. `split` says which of its checksums are compared: that of the
    /// header always.
    fn visible_row_by(
        &self,
        split: SplitRow,
        key: Bytes,
        value: Bytes,
    ) -> Result<Option<Row>, Halt> {
        let (header, body) = split(&value)?;
        let Some(expires_at) = self.check_visibility(&header)? else { return Ok(None) };
        let Header { stamp, birth, ts, .. } = header;
        let start = value.len() - body.len();
        Ok(Some(Row { key, stamp, birth, ts, expires_at, start, value }))
    }

    /// A stored index entry, if its row is live. The entry of a unique index has its row's key for
    /// a body; those of other indexes end with it.
    fn visible_entry(
        &self,
        index: &IndexSpec,
        key: Bytes,
        value: &Bytes,
    ) -> Result<Option<Entry>, Halt> {
        let (header, body) = Header::split_row(value)?;
        let Some(_) = self.check_visibility(&header)? else { return Ok(None) };
        let row_key = if index.unique {
            value.slice(value.len() - body.len()..)
        } else {
            named_row_key(&key, body)?
        };
        Ok(Some(Entry { stamp: header.stamp, key, row_key }))
    }
}
