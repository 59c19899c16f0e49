//! Rows and index entries as they are stored, expired ones included: for the readers that have to
//! see them, which a test of the workspace names one by one (`xtask/src/views.rs`). They publish
//! expirations (an expired item is the image in its event), compare stored entries with rows, and
//! build counters that were not kept before. Nothing read here is returned to a client as a live
//! document.

use std::sync::Arc;

use bytes::Bytes;
use store::{Page, Snapshot, Store};

use super::{active::ReadGuard, factory::ViewFactory, pages::Pages, storage::Counters};
use crate::catalog::Collection;

/// A collection's rows and index entries at one moment, expired ones included.
pub(crate) struct IncludingExpired<'a, N: Snapshot> {
    snapshot: &'a N,
    collection: &'a Collection,
}

impl<'a, N: Snapshot> IncludingExpired<'a, N> {
    pub(super) fn of(snapshot: &'a N, collection: &'a Collection) -> Self {
        Self { snapshot, collection }
    }

    /// A row as it is stored: its header, then its document.
    pub(crate) async fn row(&self, key: &[u8]) -> Result<Option<Bytes>, store::Error> {
        self.snapshot.get(self.collection.rows_space(), key).await
    }

    /// An index entry as it is stored: its row's header, then its body.
    pub(crate) async fn entry(&self, key: &[u8]) -> Result<Option<Bytes>, store::Error> {
        self.snapshot.get(self.collection.entries_space(), key).await
    }

    /// The next page of rows; `None` at the end.
    pub(crate) async fn next_rows(&self, pages: &mut Pages) -> Result<Option<Page>, store::Error> {
        pages.next_page(self.snapshot, self.collection.rows_space()).await
    }

    /// The next page of index entries; `None` at the end.
    pub(crate) async fn next_entries(
        &self,
        pages: &mut Pages,
    ) -> Result<Option<Page>, store::Error> {
        pages.next_page(self.snapshot, self.collection.entries_space()).await
    }
}

/// What was stored of a collection at one moment, kept from the reaper as long as this is there:
/// what a change that is being published finds. It has no instant, and so says of nothing whether
/// it had expired.
pub(crate) struct Frozen<S: Store> {
    collection: Arc<Collection>,
    snapshot: S::Snapshot,
    /// Without an instant it holds everything: nothing of the collection is reaped.
    _guard: ReadGuard,
}

impl<S: Store> Frozen<S> {
    /// All rows and entries of that moment.
    pub(crate) fn including_expired(&self) -> IncludingExpired<'_, S::Snapshot> {
        IncludingExpired::of(&self.snapshot, &self.collection)
    }

    /// The counters of that moment.
    pub(crate) fn counters(&self) -> Counters<'_, S::Snapshot> {
        Counters::of(&self.snapshot)
    }
}

/// Keeps what is stored of a collection now.
pub(crate) fn freeze_collection<S: Store>(
    factory: &ViewFactory<S>,
    collection: &Arc<Collection>,
) -> Frozen<S> {
    // The guard comes first: what the snapshot shows may not be reaped any more.
    let guard = factory.active.register(collection.id);
    let snapshot = factory.store.snapshot();
    // The guard stays without an instant, which holds the reaper back altogether.
    Frozen { collection: Arc::clone(collection), snapshot, _guard: guard }
}
