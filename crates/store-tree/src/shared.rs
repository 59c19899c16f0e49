//! The store across its openings: the current one, or why no opening exists. Users hold this
//! instead of an opening, so that they can continue when the store is reopened. To copy the store,
//! they hold [`Images`] of it, which are read concurrently with commits and end when the store is
//! closed.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use arc_swap::ArcSwapOption;
use parking_lot::Mutex;
use store::{Error, Health, Kind, Stamp};
use tokio::sync::Notify;

use crate::{
    base::BaseReader,
    entry_reader::EntryReader,
    generation::{Generation, RetainedState},
};

/// State shared by the store, its snapshots and its supervisor.
pub(crate) struct StoreShared {
    /// State that all openings share.
    pub(crate) retained: RetainedState,
    /// The open store; `None` briefly while it is reopened.
    pub(crate) generation: ArcSwapOption<Generation>,
    /// Notified when the store was opened, or when an attempt has failed.
    pub(crate) opened: Notify,
    /// Whether the store was reopened and its user has not re-read cached state yet.
    pub(crate) anew: AtomicBool,
    /// The error of the last attempt to reopen the store.
    pub(crate) failure: Mutex<Option<Error>>,
    /// Whether the supervisor must close the store and stop.
    pub(crate) closed: AtomicBool,
}

impl StoreShared {
    pub(crate) fn open_generation(&self) -> Result<Arc<Generation>, Error> {
        self.generation.load_full().ok_or_else(|| self.closed_reason())
    }

    /// Returns why no store is open.
    fn closed_reason(&self) -> Error {
        self.last_failure().unwrap_or_else(opening_error)
    }

    /// Returns the error of the last attempt to reopen the store.
    pub(crate) fn last_failure(&self) -> Option<Error> {
        self.failure.lock().clone()
    }

    /// Notifies waiting tasks that the store is open, or why it could not be opened.
    pub(crate) fn notify_waiting(&self, failure: Option<Error>) {
        *self.failure.lock() = failure;
        self.opened.notify_waiters();
    }

    /// Returns whether commits are accepted, and if not, why.
    pub(crate) fn health(&self) -> Health {
        let Ok(live) = self.open_generation() else {
            return Health::Refusing(self.closed_reason());
        };
        if let Some(error) = live.inner.stop_reason() {
            return Health::Refusing(error);
        }
        if self.anew.load(Ordering::SeqCst) {
            return Health::Reopened;
        }
        let taken = self.retained.disk_space.check_commit(false);
        let flushed = live.inner.budget.flush_failure().map_or(Ok(()), Err);
        taken.and(flushed).map_or_else(Health::Refusing, |()| Health::Good)
    }

    /// Returns the open store if it can accept a commit; `frees` is true if the commit frees space.
    pub(crate) fn taking_commits(&self, frees: bool) -> Result<Arc<Generation>, Error> {
        let live = self.open_generation()?;
        if let Some(why) = live.inner.stop_reason() {
            let text = format!("the store is closed to writes until it is reopened: {why}");
            return Err(Error::new(why.kind, text));
        }
        if self.anew.load(Ordering::SeqCst) {
            return Err(opening_error());
        }
        self.retained.disk_space.check_commit(frees)?;
        Ok(live)
    }
}

/// Returns the error for operations that cannot wait for the reopening.
fn opening_error() -> Error {
    Error::new(Kind::Unavailable, "the store is being reopened")
}

/// Access to images of a store, without keeping the store open.
#[derive(Clone)]
pub struct Images(pub(crate) Arc<StoreShared>);

impl std::fmt::Debug for Images {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Images").finish_non_exhaustive()
    }
}

impl Images {
    /// Returns a reader of everything visible now.
    pub fn base(&self) -> Result<BaseReader, Error> {
        let live = self.0.open_generation()?;
        BaseReader::new(&live.inner, &self.0.retained.predicate)
    }

    /// Returns a reader of the entries after this one, which must have this stamp, up to the last
    /// entry that is visible now.
    pub fn entries_after(&self, entry: u64, stamp: Stamp) -> Result<EntryReader, Error> {
        EntryReader::new(&self.0.open_generation()?.inner, entry, stamp)
    }
}
