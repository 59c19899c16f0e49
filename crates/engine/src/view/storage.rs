//! The store as the engine uses it. Documents leave it only through the views of this module tree:
//! no other code obtains a snapshot. It makes no decisions about expiry.
//!
//! Commits need no such restriction, because they reveal nothing. The catalog and the counters have
//! their own view ([`SystemView`]), because nothing in them expires.

use std::sync::Arc;

use bytes::Bytes;
use store::{
    Commit, Direction, DropPredicate, Health, InFlight, KeyRange, Limit, Outcome, Page, Snapshot,
    Space, Store, decode_count,
};

use super::{pages::Pages, row_cache::RowCache};
use crate::{change_log::ChangeLog, lanes::BlockInPlace, limits::PAGE_BYTES};

/// A store whose rows and index entries can be written from anywhere in the engine, but read only
/// through views.
pub struct Storage {
    /// Private, so that rows cannot be read except through views.
    store: Arc<dyn Store>,
    /// The row cache, informed of every commit, since all of them pass here.
    rows: Arc<RowCache>,
    /// The change log, whose readers wait for commits.
    changes: Arc<ChangeLog>,
    /// Runs calls that block the calling thread until a thread of the store has replied.
    block_in_place: BlockInPlace,
}

impl std::fmt::Debug for Storage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Storage").finish_non_exhaustive()
    }
}

impl Storage {
    /// Wraps a store, with its row cache and its change log.
    pub(crate) fn new(
        store: Arc<dyn Store>,
        rows: RowCache,
        changes: ChangeLog,
        block_in_place: BlockInPlace,
    ) -> Self {
        Self { store, rows: Arc::new(rows), changes: Arc::new(changes), block_in_place }
    }

    pub(crate) fn changes(&self) -> &Arc<ChangeLog> {
        &self.changes
    }

    pub(super) fn row_cache(&self) -> Arc<RowCache> {
        Arc::clone(&self.rows)
    }

    /// Takes a snapshot, which contains expired documents too. For views only.
    pub(super) fn snapshot(&self) -> Arc<dyn Snapshot> {
        self.store.snapshot()
    }

    /// Takes a view of the catalog and the counters.
    pub(crate) fn system(&self) -> SystemView {
        // The snapshot is complete, but only the two spaces without expiry are accessible.
        SystemView::new(self.store.snapshot())
    }

    /// Returns whether a space (a separate set of keys, such as the rows of one collection) has any
    /// key, live or expired.
    pub(crate) async fn has_keys(&self, space: Space) -> Result<bool, store::Error> {
        // Expired rows count: the space is in use.
        let one = Limit { rows: 1, bytes: PAGE_BYTES };
        let first = self.store.snapshot();
        let page = first.scan(space, &KeyRange::all(), Direction::Forward, one).await?;
        Ok(!page.rows.is_empty())
    }

    /// Commits each of the commits atomically. Returns one outcome per commit once they are
    /// durable.
    pub(crate) async fn commit(
        &self,
        mut commits: Vec<Commit>,
    ) -> Result<Vec<Outcome>, store::Error> {
        if self.rows.last_writes().is_some() {
            commits.iter_mut().for_each(|commit| self.record_writes_of(commit));
        }
        let outcomes = self.store.commit(commits).await;
        self.changes.wake_up_to(self.store.published());
        outcomes
    }

    /// Makes a commit record the rows it writes when it is stamped, before any view can see it. If
    /// the commit fails afterwards, rows merely appear newer, which is harmless.
    fn record_writes_of(&self, commit: &mut Commit) {
        let rows = Arc::clone(&self.rows);
        let write = std::mem::replace(&mut commit.write, Box::new(|_| Vec::new()));
        commit.write = Box::new(move |stamp| {
            let mutations = write(stamp);
            if let Some(writes) = rows.last_writes() {
                writes.record_commit(&mutations, stamp.seq);
            }
            mutations
        });
    }

    /// Returns whether other nodes keep copies of this store, which must then be notified of the
    /// old versions that may be dropped.
    pub(crate) fn has_copies(&self) -> bool {
        self.store.capabilities().copies
    }

    /// Returns the sequence number of the newest commit up to which every commit is visible.
    pub fn published(&self) -> u64 {
        self.store.published()
    }

    /// Returns the commits that are not visible yet.
    pub(crate) fn in_flight(&self) -> &InFlight {
        self.store.in_flight()
    }

    /// Creates a space; does nothing if it exists.
    pub(crate) fn create_space(&self, space: Space) -> Result<(), store::Error> {
        self.blocking(|store| store.create_space(space))
    }

    /// Deletes a space and all its keys. Open views may lose it, but their collection is dropped.
    pub(crate) fn drop_space(&self, space: Space) -> Result<(), store::Error> {
        self.blocking(|store| store.drop_space(space))
    }

    /// Makes a call that waits for the disk or, in a cluster, for Cassandra.
    fn blocking(
        &self,
        call: impl Fn(&dyn Store) -> Result<(), store::Error>,
    ) -> Result<(), store::Error> {
        let mut result = Ok(());
        (self.block_in_place)(&mut || result = call(&*self.store));
        result
    }

    /// Returns all existing spaces, including spaces of dropped collections that are not deleted
    /// yet.
    pub(crate) fn all_spaces(&self) -> Vec<Space> {
        self.store.all_spaces()
    }

    /// Sets what compactions may drop from now on.
    pub(crate) fn set_drop_predicate(&self, predicate: Arc<dyn DropPredicate>) {
        self.store.set_drop_predicate(predicate);
    }

    /// Compacts a space, dropping what the drop predicate selects.
    pub(crate) async fn reap_space(&self, space: Space) -> Result<(), store::Error> {
        self.store.reap_space(space).await
    }

    /// Returns the sequence number of the commit up to which a space contains no data that the drop
    /// predicate selects; see [`Store::filtered_through`].
    pub(crate) fn filtered_through(&self, space: Space) -> u64 {
        self.store.filtered_through(space)
    }

    /// Returns the approximate size of a space in bytes.
    pub fn space_bytes(&self, space: Space) -> u64 {
        self.store.space_bytes(space)
    }

    /// Returns the size of all stored data, including the journal.
    pub fn disk_bytes(&self) -> u64 {
        self.store.disk_bytes()
    }

    /// Does the store's periodic work, such as recording how far commits are durable; called every
    /// half second.
    ///
    /// # Errors
    ///
    /// Fails if the store has stopped.
    pub fn tick(&self) -> Result<(), store::Error> {
        self.store.tick()
    }

    /// Returns whether the store accepts commits.
    pub fn health(&self) -> Health {
        self.store.health()
    }

    /// Accepts commits again after the engine has re-read a reopened store.
    pub(crate) fn resume_commits(&self) {
        self.store.resume_commits();
    }

    /// Closes the store cleanly: flushes everything, so that nothing must be replayed.
    ///
    /// # Errors
    ///
    /// Fails if the store could not write its remaining data.
    pub async fn close(&self) -> Result<(), store::Error> {
        self.store.close().await
    }
}

/// A view of the catalog and the counters, in which nothing expires.
pub(crate) struct SystemView {
    /// A snapshot of the whole store, of which only the catalog and the counters are read.
    snapshot: Arc<dyn Snapshot>,
}

impl SystemView {
    /// Creates the view from a snapshot.
    pub(crate) fn new(snapshot: Arc<dyn Snapshot>) -> Self {
        Self { snapshot }
    }

    pub(crate) async fn catalog_record(&self, key: &[u8]) -> Result<Option<Bytes>, store::Error> {
        self.snapshot.get(Space::Catalog, key).await
    }

    /// Returns the next page of catalog records; `None` at the end.
    pub(crate) async fn next_catalog(
        &self,
        pages: &mut Pages,
    ) -> Result<Option<Page>, store::Error> {
        pages.next_page(&*self.snapshot, Space::Catalog).await
    }

    pub(crate) fn counters(&self) -> Counters<'_> {
        Counters { snapshot: &*self.snapshot }
    }
}

/// The counters of collections in a snapshot. They include expired documents until those are
/// subtracted (`expire/trim.rs`).
pub(crate) struct Counters<'a> {
    snapshot: &'a dyn Snapshot,
}

impl<'a> Counters<'a> {
    pub(super) fn of(snapshot: &'a dyn Snapshot) -> Self {
        Self { snapshot }
    }

    /// Returns the number and bytes of documents counted under a key; zeros if there are none.
    pub(crate) async fn amounts_under(&self, key: &[u8]) -> Result<[i64; 2], store::Error> {
        let value = self.snapshot.get(Space::Counts, key).await?;
        // A pair of zeros is never stored.
        Ok(value.map_or([0; 2], |value| decode_count(&value)))
    }

    /// Returns the next page of counters; `None` at the end.
    pub(crate) async fn next_page(&self, pages: &mut Pages) -> Result<Option<Page>, store::Error> {
        pages.next_page(self.snapshot, Space::Counts).await
    }
}
