//! A store whose journal has several users: one leads, and makes entries of commits; the others follow
//! and apply what it has appended. A store goes from one to the other without being opened again.

use journal::{EncodedEntry, Entry};
use store::Error;

use crate::{
    messages::{CommitterMessage, FollowedEntry},
    open::TreeStore,
    store::{ask_committer, closed_error, tell_committer},
};

impl TreeStore {
    /// Applies entries that the journal's owner has appended, in their order; returns when all are
    /// visible.
    ///
    /// # Errors
    ///
    /// `Invalid` when the first is not the entry after the last that was applied, or when this store
    /// leads. Of entries behind one that failed none is applied.
    pub fn follow(&self, entries: Vec<EncodedEntry>) -> Result<(), Error> {
        let live = self.shared.open_generation()?;
        // All are under way before the first is waited for: they share what makes them durable.
        let mut waits = Vec::with_capacity(entries.len());
        for encoded in entries {
            let entry = Entry::decode(encoded.bytes())?;
            let followed = Box::new(FollowedEntry { entry, encoded });
            waits.push(tell_committer(&live, |done| CommitterMessage::Follow(followed, done))?);
        }
        waits.into_iter().try_for_each(|wait| wait.recv().map_err(|_| closed_error())?)
    }

    /// Takes commits from here on, behind all that was followed.
    pub fn lead(&self) -> Result<(), Error> {
        let live = self.shared.open_generation()?;
        ask_committer(&live, CommitterMessage::Lead)
    }

    /// Takes no commits any more: those that wait, and all that come, fail with `Moved`. Returns when
    /// all that was under way is visible or has failed.
    pub fn leave(&self) -> Result<(), Error> {
        let live = self.shared.open_generation()?;
        ask_committer(&live, CommitterMessage::Leave)
    }

    /// The number of the last entry that is visible.
    pub fn last_entry(&self) -> Result<u64, Error> {
        Ok(self.shared.open_generation()?.inner.applied.lock().n)
    }
}
