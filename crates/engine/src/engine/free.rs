//! Deletes the data of dropped collections.

use std::sync::atomic::Ordering;

use store::{Commit, Mutation, Space};

use super::Engine;
use crate::{error::Error, keys};

impl Engine {
    /// Deletes the data of a dropped collection, now or in a later pass of the reaper. The drop
    /// itself is durable, so a failure here is not reported to the caller.
    pub(super) async fn free_or_leave(&self, id: u32) {
        if self.free_dropped(id).await.is_err() {
            self.inner.unfreed.store(true, Ordering::SeqCst);
        }
    }

    /// Deletes data of dropped collections whose deletion failed before.
    pub(crate) async fn free_left(&self) -> Result<(), Error> {
        // The flag is cleared before the attempt, so that failures during it are recorded again.
        if self.inner.unfreed.swap(false, Ordering::SeqCst) {
            let freed = self.free_unfinished().await;
            if freed.is_err() {
                self.inner.unfreed.store(true, Ordering::SeqCst);
            }
            return freed;
        }
        Ok(())
    }

    /// Deletes the data of a dropped collection. The marker is removed last: it lets a start
    /// distinguish a dropped collection from one whose record was lost.
    pub(crate) async fn free_dropped(&self, id: u32) -> Result<(), Error> {
        self.inner.store().drop_space(Space::Rows(id))?;
        self.inner.store().drop_space(Space::Index(id))?;
        self.purge_counts(id).await?;
        let free = [keys::dropped_collection(id), keys::collection_floors(id)]
            .map(|key| Mutation::Delete { space: Space::Catalog, key });
        self.commit_one(Commit::new(Vec::new(), move |_| free.into()).freeing()).await?;
        Ok(())
    }
}
