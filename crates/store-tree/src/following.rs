//! A store whose journal has several users: one leads, and makes entries of commits; the others follow
//! and apply what it has appended. A store goes from one to the other without being opened again.

use journal::{EncodedEntry, Entry};
use store::Error;

use crate::{
    messages::{CommitterMessage, FollowedEntry},
    open::TreeStore,
    store::ask_committer,
};

impl TreeStore {
    /// Applies an entry that the journal's owner has appended; returns when it is visible.
    ///
    /// # Errors
    ///
    /// `Invalid` when it is not the entry after the last that was applied, or when this store leads.
    pub fn follow(&self, encoded: EncodedEntry) -> Result<(), Error> {
        let entry = Entry::decode(encoded.bytes())?;
        let live = self.shared.open_generation()?;
        let followed = Box::new(FollowedEntry { entry, encoded });
        ask_committer(&live, |done| CommitterMessage::Follow(followed, done))
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
