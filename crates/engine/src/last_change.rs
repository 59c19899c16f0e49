//! The stamp of the last change of a container's items, on which log sequence numbers, session
//! tokens and feed positions are based. Commits of other collections do not affect it.
//!
//! It is cached in memory ([`Collection`]). After a start it is recovered as the maximum of a
//! stored number and the stamp of the newest entry in the index of changes, whose keys are ordered
//! by the stamps of the items' last writes. The number is stored in the cases that the entry alone
//! does not cover:
//!
//! ```text
//!  a container is created       in the commit that creates it
//!  an item is deleted           in the commit that deletes it
//!  the newest entry is reaped   before the reap floors take effect by which it is dropped
//! ```
//!
//! A container of an earlier version has no stored number before it is first requested; it then
//! gets the newest stamp of the whole store, since earlier versions used those.

use std::sync::Arc;

use bytes::Bytes;
use store::{Commit, Condition, Direction, KeyRange, Outcome, Space};

use crate::{
    catalog::{Collection, ReapFloors, put_last_change},
    engine::Engine,
    error::{Error, Halt},
    keys,
    retry::read_in_view,
    view::{LiveView, Pages},
};

/// The stored state of the last change.
struct StoredChange {
    /// Stored stamp of the last change; 0 if none was ever stored.
    kept: u64,
    /// The newest entry in the index of changes, expired or not.
    newest: Option<(Bytes, Bytes)>,
}

impl StoredChange {
    /// Returns the stamp of the newest entry in the index of changes; 0 if the index is empty.
    fn newest_stamp(&self) -> u64 {
        self.newest.as_ref().and_then(|(key, _)| keys::stamp_of_change(key)).unwrap_or(0)
    }
}

impl Engine {
    /// Returns the stamp of the last change of a container's items. It never decreases and covers
    /// every write acknowledged before the call. It may belong to a commit that an open view does
    /// not show yet.
    pub async fn last_change(&self, collection: &Arc<Collection>) -> Result<u64, Error> {
        if !collection.knows_last_change() {
            self.recover_last_change(collection).await?;
        }
        Ok(collection.last_change())
    }

    /// Determines the last change from the store, once after each start.
    async fn recover_last_change(&self, collection: &Arc<Collection>) -> Result<(), Error> {
        let (stored, seq) = self.read_last_change(collection).await?;
        let mut last = stored.kept.max(stored.newest_stamp());
        if stored.kept == 0 {
            last = last.max(seq);
            // The cached number suffices; if the store accepts no commits now, the next start
            // retries.
            let _ = self.store_last_change(collection, last, seq).await;
        }
        collection.recovered_last_change(last);
        Ok(())
    }

    /// Reads the stored state of the last change, and the sequence number of the commit up to which
    /// the read is complete.
    async fn read_last_change(
        &self,
        collection: &Arc<Collection>,
    ) -> Result<(StoredChange, u64), Error> {
        let found = read_in_view!(self, collection, |view| view
            .stored_last_change()
            .await
            .map_err(Halt::from));
        let (stored, view) = found?;
        Ok((stored, view.seq))
    }

    /// Stores the stamp of the last change unless another was stored after the commit with the
    /// sequence number `seq`, or the collection was dropped. Returns whether it was stored.
    async fn store_last_change(
        &self,
        collection: &Arc<Collection>,
        last: u64,
        seq: u64,
    ) -> Result<bool, Error> {
        let id = collection.id;
        let unchanged = |space, key| Condition::NotNewer { space, key, seq };
        let conditions = vec![
            unchanged(Space::Catalog, collection.state().record_key.clone()),
            unchanged(Space::Counts, keys::last_change(id)),
        ];
        let commit = Commit::new(conditions, move |_| vec![put_last_change(id, last)]);
        let outcomes = self.inner.store().commit(vec![commit.freeing()]).await?;
        Ok(matches!(outcomes.first(), Some(Outcome::Committed(_))))
    }

    /// Stores the last change if these reap floors (bounds of the data that may be dropped) allow
    /// its entry to be dropped. Returns whether the floors may take effect: false if the container
    /// was changed in the meantime.
    ///
    /// Entries written after the floors were taken are unaffected, since they have not expired by
    /// them.
    pub(crate) async fn keep_last_change(
        &self,
        collection: &Arc<Collection>,
        floors: &ReapFloors,
    ) -> Result<bool, Error> {
        let (stored, seq) = self.read_last_change(collection).await?;
        let Some((key, value)) = &stored.newest else { return Ok(true) };
        let last = stored.newest_stamp();
        if last <= stored.kept || !floors.drops(collection.entries_space(), key, value) {
            return Ok(true);
        }
        self.store_last_change(collection, last, seq).await
    }
}

impl LiveView {
    /// Reads the stored state of the last change.
    async fn stored_last_change(&self) -> Result<StoredChange, store::Error> {
        let [kept, _] =
            self.counters().amounts_under(&keys::last_change(self.collection.id)).await?;
        let changes = KeyRange::with_prefix(&keys::index_prefix(keys::CHANGES));
        // An expired item's entry counts, because the item was changed.
        let mut last = Pages::of(changes).in_direction(Direction::Backward).with_max_rows(1);
        let page = self.including_expired().next_entries(&mut last).await?.unwrap_or_default();
        let newest = page.rows.into_iter().next();
        Ok(StoredChange { kept: u64::try_from(kept).unwrap_or(0), newest })
    }

    /// Returns the stamp of the last change, but at most the sequence number up to which this view
    /// shows commits. The cached stamp must have been recovered ([`Engine::last_change`]).
    pub(crate) fn last_change_shown(&self) -> u64 {
        self.collection.last_change().min(self.seq)
    }
}
