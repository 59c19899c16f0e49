//! The writes of a transaction: its statements add them, with intents, and its commit reads their
//! final versions.

use bytes::Bytes;
use store::{Commit, Condition, Outcome, Snapshot, Space};

use super::{
    factory::ViewFactory,
    judged::stamp_of,
    live::LiveView,
    transaction::Transaction,
    transaction_errors::{check_not_capped, write_conflict},
};
use crate::error::Error;

impl Transaction {
    /// Adds the writes of commits that were built in a view of this transaction. Takes the intents
    /// of their keys first.
    ///
    /// # Errors
    ///
    /// [`Kind::Conflict`] if another open transaction has written one of the keys, or another
    /// writer has since the snapshot, or if a document that the commits rely on has expired;
    /// [`Kind::Busy`] without memory.
    pub(crate) async fn add(
        &self,
        factory: &ViewFactory,
        commits: Vec<Commit>,
    ) -> Result<Vec<Outcome>, Error> {
        self.check_writes()?;
        let now = factory.clock.now().await?;
        let mut new = Vec::new();
        for condition in commits.iter().flat_map(|commit| &commit.conditions) {
            match condition {
                Condition::NotNewer {
                    space: space @ (Space::Rows(_) | Space::Index(_)),
                    key,
                    ..
                } => match self.intents.take(*space, key, &self.holder, now.ms) {
                    Some(true) => {
                        self.taken.lock().push((*space, key.clone()));
                        new.push((*space, key.clone()));
                    }
                    Some(false) => {}
                    None => return Err(write_conflict()),
                },
                Condition::Before(expires_ms) => self.holder.rely_until(*expires_ms),
                Condition::NotNewer { .. } | Condition::AfterPrevious => {}
            }
        }
        self.check_relied(now)?;
        self.check_unchanged(&*factory.store.snapshot(), &new).await?;
        self.check_open()?;
        self.check_no_capped(&commits)?;
        let outcomes = self.overlay.apply(commits, now.ms)?;
        // The transaction may have been aborted while the writes were added.
        if !self.is_open() {
            self.end();
        }
        Ok(outcomes)
    }

    /// Fails if another writer has changed one of these keys since the snapshot.
    async fn check_unchanged(
        &self,
        newest: &dyn Snapshot,
        keys: &[(Space, Bytes)],
    ) -> Result<(), Error> {
        let Some(base) = self.base.get() else { return Ok(()) };
        for (space, key) in keys {
            let before = match self.overlay.is_created(*space) {
                true => None,
                false => base.snapshot.get(*space, key).await?,
            };
            if stamp_of(before)? != stamp_of(newest.get(*space, key).await?)? {
                return Err(write_conflict());
            }
        }
        Ok(())
    }

    /// Fails if a row in a new view is not the version that the transaction's snapshot has.
    pub(crate) async fn check_row(&self, view: &LiveView, key: &Bytes) -> Result<(), Error> {
        let place = (view.collection.rows_space(), key.clone());
        self.check_unchanged(&*view.snapshot, std::slice::from_ref(&place)).await
    }

    /// Returns whether the transaction has written a row.
    pub(crate) fn has_written(&self, space: Space, key: &[u8]) -> bool {
        self.overlay.has(space, key)
    }

    /// Returns the final value of each row that the transaction has written, by collection; `None`
    /// for a deleted row.
    pub(crate) fn final_rows(&self) -> Vec<(u32, Bytes, Option<Bytes>)> {
        self.overlay.final_rows()
    }

    /// Reserves the memory of the commit, which is released when the transaction ends.
    pub(crate) fn reserve_for_commit(&self) -> Result<(), Error> {
        Ok(self.overlay.reserve_for_commit()?)
    }

    /// Fails for writes to a capped collection, whose evictions cannot be undone.
    fn check_no_capped(&self, commits: &[Commit]) -> Result<(), Error> {
        let touched = self.touched.lock();
        for condition in commits.iter().flat_map(|commit| &commit.conditions) {
            if let Condition::NotNewer { space: Space::Rows(id), .. } = condition
                && let Some(touched) = touched.get(id)
            {
                check_not_capped(&touched.collection)?;
            }
        }
        Ok(())
    }
}
