//! Access to stored rows and index entries including expired ones, for the few readers that need
//! them, which `xtask/src/views.rs` lists. They publish expirations (an expired item is the image
//! in its event), compare stored entries with rows, and build counters. Nothing read here is
//! returned to a client as a live document.

use std::sync::Arc;

use bytes::Bytes;
use store::{Page, Snapshot};

use super::{active::ReadGuard, factory::ViewFactory, pages::Pages, storage::Counters};
use crate::catalog::Collection;

/// A collection's rows and index entries in a snapshot, including expired ones.
pub(crate) struct IncludingExpired<'a> {
    snapshot: &'a dyn Snapshot,
    collection: &'a Collection,
}

impl<'a> IncludingExpired<'a> {
    pub(super) fn of(snapshot: &'a dyn Snapshot, collection: &'a Collection) -> Self {
        Self { snapshot, collection }
    }

    /// Returns a stored row: its header, then its document.
    pub(crate) async fn row(&self, key: &[u8]) -> Result<Option<Bytes>, store::Error> {
        self.snapshot.get(self.collection.rows_space(), key).await
    }

    /// Returns a stored index entry: its row's header, then its body.
    pub(crate) async fn entry(&self, key: &[u8]) -> Result<Option<Bytes>, store::Error> {
        self.snapshot.get(self.collection.entries_space(), key).await
    }

    /// Returns the next page of rows; `None` at the end.
    pub(crate) async fn next_rows(&self, pages: &mut Pages) -> Result<Option<Page>, store::Error> {
        pages.next_page(self.snapshot, self.collection.rows_space()).await
    }

    /// Returns the next page of index entries; `None` at the end.
    pub(crate) async fn next_entries(
        &self,
        pages: &mut Pages,
    ) -> Result<Option<Page>, store::Error> {
        pages.next_page(self.snapshot, self.collection.entries_space()).await
    }
}

/// A collection's stored data at the publication of a change, protected from the reaper while this
/// value exists. It has no instant and so cannot tell which documents had expired.
pub(crate) struct Frozen {
    collection: Arc<Collection>,
    snapshot: Arc<dyn Snapshot>,
    /// Registration of a view without an instant, so that nothing of the collection is reaped.
    _guard: ReadGuard,
}

impl Frozen {
    /// Returns access to all rows and entries of the snapshot.
    pub(crate) fn including_expired(&self) -> IncludingExpired<'_> {
        IncludingExpired::of(&*self.snapshot, &self.collection)
    }

    /// Returns the counters of the snapshot.
    pub(crate) fn counters(&self) -> Counters<'_> {
        Counters::of(&*self.snapshot)
    }
}

/// Takes a snapshot of a collection as it is stored now.
pub(crate) fn freeze_collection(factory: &ViewFactory, collection: &Arc<Collection>) -> Frozen {
    // The guard comes first, so that nothing the snapshot contains is reaped.
    let guard = factory.active.register(collection.id);
    let snapshot = factory.store.snapshot();
    // Left without an instant, which blocks reaping of the collection.
    Frozen { collection: Arc::clone(collection), snapshot, _guard: guard }
}
