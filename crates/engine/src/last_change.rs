//! The stamp of the last change of a container's items: the number that log sequence numbers, session
//! tokens and positions of the change feed count by. Commits of other collections do not move it.
//!
//! It is held in memory ([`Collection`]) and found again after a start: it is the greater of the newest
//! entry in the order of changes and a stored number. The stored number is written where that entry
//! alone would not say it:
//!
//! ```text
//!  a container is made          in the commit that makes it
//!  an item is removed           in the commit that removes it
//!  the newest entry is reaped   before the floors that drop it are in force
//! ```
//!
//! A container that an earlier version made has no stored number until it is first asked: it then gets
//! the newest stamp of the whole store, since earlier versions handed out those.

use std::sync::Arc;

use bytes::Bytes;
use store::{Commit, Condition, Direction, KeyRange, Outcome, Space, Store};

use crate::{
    catalog::{Collection, ReapFloors, put_last_change},
    engine::Engine,
    error::{Error, Halt},
    keys,
    retry::read_in_view,
    view::{LiveView, Pages},
};

/// What is stored of the last change.
struct StoredChange {
    /// The stored number; 0 where none was ever stored.
    kept: u64,
    /// The newest entry in the order of changes, expired or not.
    newest: Option<(Bytes, Bytes)>,
}

impl StoredChange {
    /// The stamp of the newest entry; 0 where there is none.
    fn newest_stamp(&self) -> u64 {
        self.newest.as_ref().and_then(|(key, _)| keys::stamp_of_change(key)).unwrap_or(0)
    }
}

impl<S: Store> Engine<S> {
    /// Returns the stamp of the last change of a container's items. It never decreases, and covers
    /// every write that was acknowledged before the call. It may be the stamp of a commit that an
    /// open view does not show yet.
    pub async fn last_change(&self, collection: &Arc<Collection>) -> Result<u64, Error> {
        if !collection.knows_last_change() {
            self.recover_last_change(collection).await?;
        }
        Ok(collection.last_change())
    }

    /// Finds the last change in the store, once after a start.
    async fn recover_last_change(&self, collection: &Arc<Collection>) -> Result<(), Error> {
        let (stored, seq) = self.read_last_change(collection).await?;
        let mut last = stored.kept.max(stored.newest_stamp());
        if stored.kept == 0 {
            last = last.max(seq);
            // The number in memory is good without it: where the store takes no commits now, the next
            // start tries again.
            let _ = self.store_last_change(collection, last, seq).await;
        }
        collection.recovered_last_change(last);
        Ok(())
    }

    /// Reads what is stored of the last change. Returns it with the number of the last commit that the
    /// read has seen.
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

    /// Stores the last change, if nobody has stored one since `seq` and the collection is still there.
    /// Returns whether it was stored.
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

    /// Stores the last change where these floors let its entry be dropped. Returns whether they may be
    /// put in force: `false` where the container changed meanwhile.
    ///
    /// Entries that come later are no concern: what was written after the floors were taken has not
    /// expired by them.
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

impl<S: Store> LiveView<S> {
    /// What is stored of the last change.
    async fn stored_last_change(&self) -> Result<StoredChange, store::Error> {
        let [kept, _] =
            self.counters().amounts_under(&keys::last_change(self.collection.id)).await?;
        let changes = KeyRange::with_prefix(&keys::index_prefix(keys::CHANGES));
        // An expired item's entry counts: the item was changed, whether or not it is still there.
        let mut last = Pages::of(changes).in_direction(Direction::Backward).at_most(1);
        let page = self.including_expired().next_entries(&mut last).await?.unwrap_or_default();
        let newest = page.rows.into_iter().next();
        Ok(StoredChange { kept: u64::try_from(kept).unwrap_or(0), newest })
    }

    /// Returns the last change of the collection as far as this view is certain to show it. The number
    /// has to be known ([`Engine::last_change`]).
    pub(crate) fn last_change_shown(&self) -> u64 {
        self.collection.last_change().min(self.seq)
    }
}
