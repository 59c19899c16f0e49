//! A store whose journal has several users: one leads, and makes entries of commits; the others follow
//! and apply what it has appended. A store goes from one to the other without being opened again.

use std::{
    path::Path,
    sync::{Arc, atomic::Ordering},
};

use bytes::Bytes;
use journal::{EncodedEntry, Entry};
use store::{Error, Kind, Stamp};

use crate::{
    base::{self, BaseReader},
    errors::from_io,
    filter::PredicateInForce,
    images::Images,
    messages::{CommitterMessage, FollowedEntry},
    open::TreeStore,
    options::TreeOptions,
    store::{ask_committer, closed_error, tell_committer},
    wiping,
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

    /// Makes durable what the journal has kept; false where the store is being opened again.
    pub fn sync_journal(&self) -> Result<bool, Error> {
        let Ok(live) = self.shared.open_generation() else { return Ok(false) };
        if live.inner.stop_reason().is_some() {
            return Ok(false);
        }
        live.inner.sync_journal().map(|()| true)
    }

    /// Throws away all that it has, and goes on as an empty store that follows from the first entry on.
    /// It returns before that is done: [`is_wiping`](Self::is_wiping) says when. Nobody may take it for
    /// what it was before then, and it waits until nobody reads what was there.
    pub fn wipe(&self, why: &Error) -> Result<(), Error> {
        wiping::order(&self.shared.lasting.options.path)?;
        self.shared.lasting.leads.store(false, Ordering::SeqCst);
        if let Ok(live) = self.shared.open_generation() {
            live.inner.stop_commits(why);
        }
        Ok(())
    }

    /// Whether what was to be thrown away is not gone yet.
    pub fn is_wiping(&self) -> bool {
        wiping::is_ordered(&self.shared.lasting.options.path)
    }

    /// Whether a base that is complete is not loaded yet.
    pub fn is_loading(&self) -> bool {
        base::pieces(&self.shared.lasting.options.path).is_some()
    }

    /// All that is visible now, to be read in pieces.
    pub fn base(&self) -> Result<BaseReader, Error> {
        self.images().base()
    }

    /// Keeps a piece of a base, for [`load_base`](Self::load_base).
    pub fn keep_piece(&self, number: u32, bytes: &[u8]) -> Result<(), Error> {
        base::keep_piece(&self.shared.lasting.options.path, number, bytes)
    }

    /// Throws away all that it has, and goes on as a store that stands where the base did of which all
    /// pieces were kept. As with [`wipe`](Self::wipe) it returns before that is done.
    pub fn load_base(&self, pieces: u32) -> Result<(), Error> {
        base::complete(&self.shared.lasting.options.path, pieces)?;
        self.shared.lasting.leads.store(false, Ordering::SeqCst);
        if let Ok(live) = self.shared.open_generation() {
            live.inner.stop_commits(&Error::new(Kind::Unavailable, "a base is being loaded"));
        }
        Ok(())
    }

    /// Keeps a piece of a base for the first opening of a store in this directory.
    pub fn keep_piece_in(directory: &Path, number: u32, bytes: &[u8]) -> Result<(), Error> {
        base::keep_piece(directory, number, bytes)
    }

    /// Has the first opening of a store in this directory begin where the base stands of which all pieces
    /// were kept.
    pub fn begin_with_base(directory: &Path, pieces: u32) -> Result<(), Error> {
        base::complete(directory, pieces)
    }

    /// Has the next opening of a store that is not open throw away all that it has.
    pub fn wipe_at_opening(directory: &Path) -> Result<(), Error> {
        wiping::order(directory)
    }

    /// Makes a store of the pieces of a base in a directory that no store has, beside what else is there.
    /// After a failure there is half of one. Returns number and stamp of the last entry that it has.
    pub fn make_of_pieces(
        options: &TreeOptions,
        pieces: &mut dyn Iterator<Item = Result<Bytes, Error>>,
    ) -> Result<(u64, Stamp), Error> {
        std::fs::create_dir_all(&options.path)
            .map_err(|error| from_io("make the directory", &error))?;
        base::make(options, &options.journal_folder(), &PredicateInForce::default(), pieces)
    }

    /// A way to images of it that does not keep it open.
    pub fn images(&self) -> Images {
        Images(Arc::clone(&self.shared))
    }

    /// Why the last attempt to open it again after a failure has failed itself.
    pub fn opening_failure(&self) -> Option<Error> {
        self.shared.last_failure()
    }

    /// The number of the last entry that is visible.
    pub fn last_entry(&self) -> Result<u64, Error> {
        Ok(self.shared.open_generation()?.inner.applied.lock().n)
    }
}
