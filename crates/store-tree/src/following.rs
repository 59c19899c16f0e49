//! Stores that share a journal: one leads and makes entries of commits, the others follow and apply
//! its entries. A store changes its role without being reopened.

use std::{
    path::Path,
    sync::{Arc, atomic::Ordering},
};

use bytes::Bytes;
use journal::{EncodedEntry, Entry};
use store::{Error, Kind, Stamp};

use crate::{
    base::{self, BaseReader},
    errors::{closed_error, from_io},
    hooks::PredicateInForce,
    messages::{CommitterMessage, FollowedEntry},
    open::TreeStore,
    options::TreeOptions,
    shared::Images,
    store::{request_committer, send_to_committer},
    wipe,
};

impl TreeStore {
    /// Applies entries that the journal's owner has appended, in order; returns when all are
    /// visible.
    ///
    /// # Errors
    ///
    /// `Invalid` if the first is not the entry after the last applied one, or if this store leads.
    /// Entries after a failed one are not applied.
    pub fn follow(&self, entries: Vec<EncodedEntry>) -> Result<(), Error> {
        let live = self.shared.open_generation()?;
        // All are submitted before the first is awaited, so that they share a sync.
        let mut waits = Vec::with_capacity(entries.len());
        for encoded in entries {
            let entry = Entry::decode(encoded.bytes())?;
            let followed = Box::new(FollowedEntry { entry, encoded });
            waits.push(send_to_committer(&live, |done| CommitterMessage::Follow(followed, done))?);
        }
        waits.into_iter().try_for_each(|wait| wait.recv().map_err(|_| closed_error())?)
    }

    /// Makes the store accept commits from now on, after all entries that it has followed.
    pub fn lead(&self) -> Result<(), Error> {
        let live = self.shared.open_generation()?;
        request_committer(&live, CommitterMessage::Lead)
    }

    /// Stops accepting commits: waiting and later commits fail with `Moved`. Returns when
    /// everything in progress is visible or has failed.
    pub fn leave(&self) -> Result<(), Error> {
        let live = self.shared.open_generation()?;
        request_committer(&live, CommitterMessage::Leave)
    }

    /// Syncs the journal; false if the store is being reopened.
    pub fn sync_journal(&self) -> Result<bool, Error> {
        let Ok(live) = self.shared.open_generation() else { return Ok(false) };
        if live.inner.stop_reason().is_some() {
            return Ok(false);
        }
        live.inner.sync_journal().map(|()| true)
    }

    /// Discards all contents and continues as an empty store that follows from the first entry on.
    /// Returns before the wipe is done; [`is_wiping`](Self::is_wiping) is true until then. Wiping
    /// waits until existing snapshots are released; until then the store's contents must not be
    /// relied on.
    pub fn wipe(&self, why: &Error) -> Result<(), Error> {
        wipe::request(&self.shared.retained.options.path)?;
        self.shared.retained.leads.store(false, Ordering::SeqCst);
        if let Ok(live) = self.shared.open_generation() {
            live.inner.stop_commits(why);
        }
        Ok(())
    }

    /// Returns whether a requested wipe is not complete.
    pub fn is_wiping(&self) -> bool {
        wipe::is_requested(&self.shared.retained.options.path)
    }

    /// Returns whether all pieces of a base are stored and the base is not loaded yet.
    pub fn is_loading(&self) -> bool {
        base::pieces(&self.shared.retained.options.path).is_some()
    }

    /// Returns a reader of everything visible now.
    pub fn base(&self) -> Result<BaseReader, Error> {
        self.images().base()
    }

    /// Stores a piece of a base, for [`load_base`](Self::load_base).
    pub fn store_piece(&self, number: u32, bytes: &[u8]) -> Result<(), Error> {
        base::store_piece(&self.shared.retained.options.path, number, bytes)
    }

    /// Discards all contents and continues from a base, all pieces of which were stored. As with
    /// [`wipe`](Self::wipe), it returns before that is done.
    pub fn load_base(&self, pieces: u32) -> Result<(), Error> {
        base::complete(&self.shared.retained.options.path, pieces)?;
        self.shared.retained.leads.store(false, Ordering::SeqCst);
        if let Ok(live) = self.shared.open_generation() {
            live.inner.stop_commits(&Error::new(Kind::Unavailable, "a base is being loaded"));
        }
        Ok(())
    }

    /// Stores a piece of a base for the first opening of a store in this directory.
    pub fn store_piece_in(directory: &Path, number: u32, bytes: &[u8]) -> Result<(), Error> {
        base::store_piece(directory, number, bytes)
    }

    /// Makes the first opening of a store in this directory load a base, all pieces of which were
    /// stored.
    pub fn begin_with_base(directory: &Path, pieces: u32) -> Result<(), Error> {
        base::complete(directory, pieces)
    }

    /// Makes the next opening of a closed store discard all contents.
    pub fn wipe_at_opening(directory: &Path) -> Result<(), Error> {
        wipe::request(directory)
    }

    /// Creates a store from the pieces of a base in a directory without a store. After a failure it
    /// is incomplete. Returns number and stamp of its last entry.
    pub fn create_from_pieces(
        options: &TreeOptions,
        pieces: &mut dyn Iterator<Item = Result<Bytes, Error>>,
    ) -> Result<(u64, Stamp), Error> {
        std::fs::create_dir_all(&options.path)
            .map_err(|error| from_io("create the directory", &error))?;
        base::make(options, &options.journal_folder(), &PredicateInForce::default(), pieces)
    }

    /// Returns access to images of the store. The returned value does not keep the store open.
    pub fn images(&self) -> Images {
        Images(Arc::clone(&self.shared))
    }

    /// Returns the error of the last attempt to reopen the store.
    pub fn opening_failure(&self) -> Option<Error> {
        self.shared.last_failure()
    }

    /// Returns the number of the last visible entry.
    pub fn last_entry(&self) -> Result<u64, Error> {
        Ok(self.shared.open_generation()?.inner.applied.lock().n)
    }
}
