//! The store behind the engine. What it holds of documents leaves it through the views of this
//! folder alone: nobody outside gets a snapshot. It decides nothing about expiry itself.
//!
//! Writes need no such care: anybody in the engine may commit, since a commit shows nothing. The
//! catalog and the counters have a view of their own ([`SystemView`]), because nothing in them
//! expires.

use std::sync::Arc;

use bytes::Bytes;
use store::{
    Commit, Direction, DropPredicate, Health, InFlight, KeyRange, Limit, Outcome, Page, Snapshot,
    Space, Store, decode_count,
};

use super::{pages::Pages, row_cache::RowCache};
use crate::limits::PAGE_BYTES;

/// A store of which rows and index entries can be written by anybody in the engine, and read
/// through views only.
pub struct Storage<S: Store> {
    /// Private, so that the compiler keeps the promise of this file.
    store: S,
    /// Told of every commit, since all of them pass here.
    rows: Arc<RowCache>,
}

impl<S: Store> std::fmt::Debug for Storage<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Storage").finish_non_exhaustive()
    }
}

impl<S: Store> Storage<S> {
    /// A store, and the rows of it that are kept in memory.
    pub(crate) fn new(store: S, rows: RowCache) -> Self {
        Self { store, rows: Arc::new(rows) }
    }

    /// The rows that were read lately.
    pub(super) fn row_cache(&self) -> Arc<RowCache> {
        Arc::clone(&self.rows)
    }

    /// Everything as it is published now. For views: it shows expired documents too.
    pub(super) fn snapshot(&self) -> S::Snapshot {
        self.store.snapshot()
    }

    /// The catalog and the counters as they are published now.
    pub(crate) fn system(&self) -> SystemView<S::Snapshot> {
        // Of everything, but only the two spaces without expiry can be asked for.
        SystemView::new(self.store.snapshot())
    }

    /// Whether a space has any key, of live or expired documents.
    pub(crate) async fn has_keys(&self, space: Space) -> Result<bool, store::Error> {
        // Expired rows count: a space with these is in use.
        let one = Limit { rows: 1, bytes: PAGE_BYTES };
        // Nothing of this snapshot gets out but a yes or no.
        let first = self.store.snapshot();
        let page = first.scan(space, &KeyRange::all(), Direction::Forward, one).await?;
        Ok(!page.rows.is_empty())
    }

    /// Commits commits; each is all or nothing. Returns one outcome a commit once they are durable.
    pub(crate) async fn commit(
        &self,
        mut commits: Vec<Commit>,
    ) -> Result<Vec<Outcome>, store::Error> {
        if self.rows.last_writes().is_some() {
            commits.iter_mut().for_each(|commit| self.note_writes_of(commit));
        }
        self.store.commit(commits).await
    }

    /// Has the rows that a commit writes noted when it has got its stamp, and so before any view
    /// can see it. One that fails afterwards was noted in vain, which makes rows seem newer and
    /// does no harm.
    fn note_writes_of(&self, commit: &mut Commit) {
        let rows = Arc::clone(&self.rows);
        let write = std::mem::replace(&mut commit.write, Box::new(|_| Vec::new()));
        commit.write = Box::new(move |stamp| {
            let mutations = write(stamp);
            if let Some(writes) = rows.last_writes() {
                writes.note_commit(&mutations, stamp.seq);
            }
            mutations
        });
    }

    /// Whether others keep copies, which have to be told what may go from them.
    pub(crate) fn has_copies(&self) -> bool {
        self.store.capabilities().copies
    }

    /// The newest `seq` up to which every commit is visible.
    pub fn published(&self) -> u64 {
        self.store.published()
    }

    /// The commits that are not visible yet.
    pub(crate) fn in_flight(&self) -> &InFlight {
        self.store.in_flight()
    }

    /// Makes a space ready; one that exists stays as it is.
    pub(crate) fn create_space(&self, space: Space) -> Result<(), store::Error> {
        self.store.create_space(space)
    }

    /// Removes a space and all its keys. Views that are open may lose it: their collection is
    /// dropped.
    pub(crate) fn drop_space(&self, space: Space) -> Result<(), store::Error> {
        self.store.drop_space(space)
    }

    /// All spaces that exist, of dropped collections too until they are removed.
    pub(crate) fn all_spaces(&self) -> Vec<Space> {
        self.store.all_spaces()
    }

    /// Says what compactions may drop from now on.
    pub(crate) fn set_drop_predicate(&self, predicate: Arc<dyn DropPredicate>) {
        self.store.set_drop_predicate(predicate);
    }

    /// Compacts a space, so that what the drop predicate says is dropped leaves.
    pub(crate) async fn reap_space(&self, space: Space) -> Result<(), store::Error> {
        self.store.reap_space(space).await
    }

    /// Up to which commit a space is free of what the predicate drops; see
    /// [`Store::filtered_through`].
    pub(crate) fn filtered_through(&self, space: Space) -> u64 {
        self.store.filtered_through(space)
    }

    /// Bytes that a space takes, roughly.
    pub fn space_bytes(&self, space: Space) -> u64 {
        self.store.space_bytes(space)
    }

    /// Bytes of everything the store keeps, its journal too.
    pub fn disk_bytes(&self) -> u64 {
        self.store.disk_bytes()
    }

    /// Housekeeping about once a second.
    ///
    /// # Errors
    ///
    /// The store stopped.
    pub fn tick(&self) -> Result<(), store::Error> {
        self.store.tick()
    }

    /// Whether the store takes commits.
    pub fn health(&self) -> Health {
        self.store.health()
    }

    /// The engine has read again what was committed before the store was opened anew.
    pub(crate) fn resume_commits(&self) {
        self.store.resume_commits();
    }

    /// Ends the store cleanly: everything is flushed, nothing has to be replayed.
    ///
    /// # Errors
    ///
    /// The store could not write what it still held.
    pub async fn close(&self) -> Result<(), store::Error> {
        self.store.close().await
    }
}

/// The catalog and the counters at one moment. Nothing in them expires.
pub(crate) struct SystemView<N: Snapshot> {
    /// Of the whole store; only these two spaces of it are read here.
    snapshot: N,
}

impl<N: Snapshot> SystemView<N> {
    /// Those of a snapshot.
    pub(crate) fn new(snapshot: N) -> Self {
        Self { snapshot }
    }

    /// A record of the catalog.
    pub(crate) async fn catalog_record(&self, key: &[u8]) -> Result<Option<Bytes>, store::Error> {
        self.snapshot.get(Space::Catalog, key).await
    }

    /// The next page of records of the catalog; `None` at the end.
    pub(crate) async fn next_catalog(
        &self,
        pages: &mut Pages,
    ) -> Result<Option<Page>, store::Error> {
        pages.next_page(&self.snapshot, Space::Catalog).await
    }

    /// The counters of collections.
    pub(crate) fn counters(&self) -> Counters<'_, N> {
        Counters { snapshot: &self.snapshot }
    }
}

/// The counters of collections at one moment. They count expired documents until these are
/// trimmed; see `expire`.
pub(crate) struct Counters<'a, N: Snapshot> {
    snapshot: &'a N,
}

impl<'a, N: Snapshot> Counters<'a, N> {
    pub(super) fn of(snapshot: &'a N) -> Self {
        Self { snapshot }
    }

    /// Documents and bytes under a key; zeros where nothing was ever counted.
    pub(crate) async fn amounts_under(&self, key: &[u8]) -> Result<[i64; 2], store::Error> {
        let value = self.snapshot.get(Space::Counts, key).await?;
        // A pair of zeros is never stored.
        Ok(value.map_or([0; 2], |value| decode_count(&value)))
    }

    /// The next page of counters; `None` at the end.
    pub(crate) async fn next_page(&self, pages: &mut Pages) -> Result<Option<Page>, store::Error> {
        pages.next_page(self.snapshot, Space::Counts).await
    }
}
