//! A view of one collection at one instant. Every row and index entry that it returns was checked
//! against the collection's settings; expired ones are left out.
//!
//! ```text
//!                stable                instant
//!  ────────────────┼──────────────────────┼──────────────▶ time
//!  expired: final  │ expired, unless a    │ live
//!                  │ commit in flight has │
//!                  │ extended it          │
//! ```
//!
//! A reader that meets a row expired between the two instants stops with [`Halt::LookAgain`], waits
//! for the commits in flight and retries in a new view. This is rare: a document must expire while
//! its own extension is being written.
//!
//! The check needs only a header. Index entries carry their row's header, so an index scan skips
//! expired entries without reading rows.

use std::sync::Arc;

use bytes::Bytes;
use clock::Instant;
use expiry::{Damaged, Header};
use store::{Snapshot, Space};

use super::{
    active::ReadGuard,
    expired::IncludingExpired,
    factory::ViewFactory,
    judged::{is_own_stamp, judge_own},
    pages::Pages,
    row_cache::Reader,
    storage::Counters,
    transaction::Transaction,
};
use crate::{
    catalog::{Collection, CollectionState, IndexSpec},
    change_log::KeptLog,
    entry::named_row_key,
    error::{Error, Halt},
    row::{CountedPage, Entry, Page, Row},
    rules::Rules,
};

/// Splits a stored row into its header and its document.
type SplitRow = fn(&[u8]) -> Result<(Header<'_>, &[u8]), Damaged>;

/// A consistent view of a collection's live documents at one instant.
#[derive(Debug)]
pub struct LiveView {
    /// The collection, which may have been dropped since.
    pub(crate) collection: Arc<Collection>,
    /// Settings and indexes of the collection at the view's instant.
    pub(crate) state: Arc<CollectionState>,
    /// The collection's fence number at the instant: a counter that changes with every change of
    /// settings or indexes.
    pub(super) fence: Option<u64>,
    /// The instant that decides which documents have expired.
    pub(crate) instant: Instant,
    /// The view sees the commit with this sequence number, all earlier ones, and possibly later
    /// ones.
    pub(crate) seq: u64,
    /// Instant up to which no commit can become visible later; see
    /// [`stable_instant`](Self::stable_instant).
    pub(super) stable: Instant,
    /// The newest batch of commits that was in flight when the view was opened.
    pub(super) in_flight: Option<u64>,
    /// Private to this module, because it contains expired documents, too.
    pub(super) snapshot: Arc<dyn Snapshot>,
    /// The change log, if changes of this collection are recorded.
    pub(super) log: Option<KeptLog>,
    pub(super) rules: Rules,
    /// The transaction whose snapshot and writes the view shows.
    pub(super) transaction: Option<Arc<Transaction>>,
    /// Protects what the view may read from the reaper until the view is dropped.
    pub(super) guard: ReadGuard,
}

impl LiveView {
    /// Waits for the commits that were in flight, so that a new view can decide which documents
    /// have expired.
    pub(crate) async fn wait_for_in_flight(&self, factory: &ViewFactory) {
        if let Some(batch) = self.in_flight {
            factory.store.in_flight().wait_until_finished(batch).await;
        }
    }

    /// Returns the instant up to which expirations are final. A commit in flight may extend
    /// documents that expire later.
    pub(crate) fn stable_instant(&self) -> Instant {
        if self.rules.last_moments() { self.stable } else { self.instant }
    }

    /// Returns the newest batch of commits that was in flight when the view was opened.
    pub(crate) fn in_flight_batch(&self) -> Option<u64> {
        self.in_flight
    }

    /// Returns the change log, if changes of this collection are recorded.
    pub(crate) fn log(&self) -> Option<&KeptLog> {
        self.log.as_ref()
    }

    /// Returns the rules of the view.
    pub(crate) fn rules(&self) -> Rules {
        self.rules
    }

    /// Returns the counters of all collections in the view's snapshot.
    pub(crate) fn counters(&self) -> Counters<'_> {
        Counters::of(&*self.snapshot)
    }

    /// Returns access to stored rows and entries including expired ones: for publishing
    /// expirations, checking a collection and building counters, never for results returned to
    /// clients.
    pub(crate) fn including_expired(&self) -> IncludingExpired<'_> {
        IncludingExpired::of(&*self.snapshot, &self.collection)
    }

    /// Returns the live row with this key.
    pub(crate) async fn get_row(&self, key: &[u8]) -> Result<Option<Row>, Halt> {
        // Copied, because a row outlives the caller's key.
        self.row_under(key, || Bytes::copy_from_slice(key)).await
    }

    /// Returns the live row with this key; `own_key` provides the key stored in the result.
    async fn row_under(
        &self,
        key: &[u8],
        own_key: impl FnOnce() -> Bytes,
    ) -> Result<Option<Row>, Halt> {
        // The cache has committed rows of the newest commits only.
        if self.transaction.is_some() {
            let space = self.collection.rows_space();
            let Some(value) = self.snapshot.get(space, key).await? else { return Ok(None) };
            return self.visible_row_by(|row| Header::split_row(row), own_key(), value);
        }
        let rows = self.guard.rows();
        let reader = Reader { collection: self.collection.id, settings: self.fence, seq: self.seq };
        let vacancy = match rows.find(reader, key, self.rules) {
            // The body was verified before it was cached.
            Ok(value) => return self.visible_row_by(|row| Header::split(row), own_key(), value),
            Err(vacancy) => vacancy,
        };
        let Some(value) = self.snapshot.get(self.collection.rows_space(), key).await? else {
            return Ok(None);
        };
        let row = self.visible_row_by(|row| Header::split_row(row), own_key(), value)?;
        // `row` is `None` for an expired row, which is not cached.
        if let (Some(row), Some(vacancy)) = (&row, vacancy) {
            rows.keep(vacancy, reader, key, &row.value);
        }
        Ok(row)
    }

    /// Returns the next page of live rows of a scan; `None` at the end. A page may be empty if all
    /// of it has expired. Only header checksums are verified: the store verifies the blocks of its
    /// tables on reading and its journal at startup. Verifying each body again cost 6 % of a scan.
    pub(crate) async fn next_rows(&self, pages: &mut Pages) -> Result<Option<Page<Row>>, Halt> {
        let space = self.collection.rows_space();
        let Some(page) = pages.next_page(&*self.snapshot, space).await? else { return Ok(None) };
        // Expired rows count as work.
        let examined = page.rows.len();
        let mut items = Vec::with_capacity(examined);
        for (key, value) in page.rows {
            items.extend(self.visible_row_by(|row| Header::split(row), key, value)?);
        }
        Ok(Some(Page { items, examined }))
    }

    /// Returns the next page of rows as stored, also expired ones; `None` at the end.
    pub(crate) async fn next_stored_rows(
        &self,
        pages: &mut Pages,
    ) -> Result<Option<store::Page>, Halt> {
        Ok(pages.next_page(&*self.snapshot, self.collection.rows_space()).await?)
    }

    /// Returns the next page of live index entries.
    pub(crate) async fn next_entries(
        &self,
        index: &IndexSpec,
        pages: &mut Pages,
    ) -> Result<Option<Page<Entry>>, Halt> {
        let space = self.collection.entries_space();
        let Some(page) = pages.next_page(&*self.snapshot, space).await? else { return Ok(None) };
        let examined = page.rows.len();
        let mut items = Vec::with_capacity(examined);
        for (key, value) in page.rows {
            items.extend(self.visible_entry(index, key, &value)?);
        }
        Ok(Some(Page { items, examined }))
    }

    /// Counts the live rows of the next page of a scan from their headers; `None` at the end.
    pub(crate) async fn count_rows(&self, pages: &mut Pages) -> Result<Option<CountedPage>, Halt> {
        self.count_page(self.collection.rows_space(), pages).await
    }

    /// Counts the live index entries of the next page.
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
        let Some(mut page) = pages.next_page(&*self.snapshot, space).await? else {
            return Ok(None);
        };
        let mut live = 0;
        for (key, value) in &page.rows {
            let (header, _) = Header::split(value)?;
            live += u64::from(self.check_visibility(space, key, &header)?.is_some());
        }
        let examined = page.rows.len();
        Ok(Some(CountedPage { live, examined, last: page.rows.pop().map(|(key, _)| key) }))
    }

    /// Returns the live entry of a unique index with this key.
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

    /// Returns the row of a live entry, which always exists because views block reaping.
    pub(crate) async fn row_of(&self, entry: &Entry) -> Result<Row, Halt> {
        // Copied, so that the row does not keep the entry's block in memory.
        let row = self.passing_row_of(entry).await?;
        Ok(Row { key: Bytes::copy_from_slice(&row.key), ..row })
    }

    /// Returns the row of a live entry. Keep it only briefly: its key shares the entry's bytes, and
    /// so keeps the block that contains them in memory.
    pub(crate) async fn passing_row_of(&self, entry: &Entry) -> Result<Row, Halt> {
        let row = self.row_under(&entry.row_key, || entry.row_key.clone()).await?;
        // A different stamp means damage, since every write rewrites all entries.
        row.filter(|row| row.stamp == entry.stamp)
            .ok_or_else(|| Error::corrupt("an index entry has no row").into())
    }

    /// Records that the operation relies on a row that it found live: if this is a transaction, it
    /// can only commit before the row expires. Other operations rely on rows by the conditions of
    /// their commits.
    pub(crate) fn rely_on(&self, row: &Row) {
        if let Some(transaction) = &self.transaction {
            transaction.rely_until(row.expires_at);
        }
    }

    /// Returns the expiry of a live row or of its entry, which has this key and header; `None` if
    /// it has expired.
    ///
    /// # Errors
    ///
    /// [`Halt::LookAgain`] if a commit in flight may have postponed its expiry. In a transaction
    /// [`Kind::Conflict`](crate::error::Kind::Conflict) if the answer contradicts an earlier one.
    fn check_visibility(
        &self,
        space: Space,
        key: &[u8],
        header: &Header<'_>,
    ) -> Result<Option<Instant>, Halt> {
        if self.transaction.is_some() && is_own_stamp(header.stamp) {
            let settings = &self.state.record.settings;
            return Ok(judge_own(settings, header, self.instant, self.rules));
        }
        let expires_at = self.state.record.settings.expires_at(header);
        if let Some(transaction) = &self.transaction {
            if expires_at <= self.instant && self.stable_instant() < expires_at {
                return Err(transaction.undecided());
            }
            let place = (space, key, header.stamp);
            let is_live = transaction.judged.judge(self.instant, expires_at, place)?;
            return Ok(is_live.then_some(expires_at));
        }
        // A document is live before its deadline, and expired at the deadline itself.
        if self.instant < expires_at {
            Ok(Some(expires_at))
        } else if self.stable_instant() < expires_at {
            Err(Halt::LookAgain)
        } else {
            Ok(None)
        }
    }

    /// Returns a stored row if it is live. `split` decides whether the body's checksum is verified
    /// too.
    fn visible_row_by(
        &self,
        split: SplitRow,
        key: Bytes,
        value: Bytes,
    ) -> Result<Option<Row>, Halt> {
        let (header, body) = split(&value)?;
        let space = self.collection.rows_space();
        let Some(expires_at) = self.check_visibility(space, &key, &header)? else {
            return Ok(None);
        };
        let Header { stamp, creation_stamp, ts, .. } = header;
        let start = value.len() - body.len();
        Ok(Some(Row { key, stamp, creation_stamp, ts, expires_at, start, value }))
    }

    /// Returns a stored index entry if its row is live. The body of a unique index's entry is the
    /// row's key; in other indexes the entry's key ends with it.
    fn visible_entry(
        &self,
        index: &IndexSpec,
        key: Bytes,
        value: &Bytes,
    ) -> Result<Option<Entry>, Halt> {
        let (header, body) = Header::split_row(value)?;
        let space = self.collection.entries_space();
        let Some(_) = self.check_visibility(space, &key, &header)? else { return Ok(None) };
        let row_key = if index.unique {
            value.slice(value.len() - body.len()..)
        } else {
            named_row_key(&key, body)?
        };
        Ok(Some(Entry { stamp: header.stamp, key, row_key }))
    }
}
