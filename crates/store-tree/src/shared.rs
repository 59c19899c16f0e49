//! The store over all its openings: which one is open, and why there is none. Users hold
//! this and not an opening, so that they go on when it is opened again.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use arc_swap::ArcSwapOption;
use parking_lot::Mutex;
use store::{Error, Health, Kind};
use tokio::sync::Notify;

use crate::{generation::Generation, lasting::AcrossOpenings};

/// What the store, its snapshots and its keeper share.
pub(crate) struct StoreShared {
    /// What every opening shares.
    pub(crate) lasting: AcrossOpenings,
    /// The open store; none for the moment in which it is opened again.
    pub(crate) generation: ArcSwapOption<Generation>,
    /// Told when there is one, and when there could not be.
    pub(crate) opened: Notify,
    /// Its user has not yet read again what it keeps in memory.
    pub(crate) anew: AtomicBool,
    /// Why it could not be opened again.
    pub(crate) failure: Mutex<Option<Error>>,
    /// The keeper closes the store and ends.
    pub(crate) closed: AtomicBool,
}

impl StoreShared {
    /// The open store.
    pub(crate) fn open_generation(&self) -> Result<Arc<Generation>, Error> {
        self.generation.load_full().ok_or_else(|| self.closed_reason())
    }

    /// Why there is none.
    fn closed_reason(&self) -> Error {
        self.last_failure().unwrap_or_else(opening_error)
    }

    /// Why the last attempt to open it again failed.
    pub(crate) fn last_failure(&self) -> Option<Error> {
        self.failure.lock().clone()
    }

    /// Tells who waits for the store that it is open, or why it could not be opened.
    pub(crate) fn notify_waiting(&self, failure: Option<Error>) {
        *self.failure.lock() = failure;
        self.opened.notify_waiters();
    }

    /// Whether it takes commits, and if not, why.
    pub(crate) fn health(&self) -> Health {
        let Ok(live) = self.open_generation() else {
            return Health::Refusing(self.closed_reason());
        };
        if let Some(error) = live.inner.stop_reason() {
            return Health::Refusing(error);
        }
        if self.anew.load(Ordering::SeqCst) {
            return Health::Anew;
        }
        let taken = self.lasting.room.check_commit(false);
        let flushed = live.inner.budget.flush_failure().map_or(Ok(()), Err);
        taken.and(flushed).map_or_else(Health::Refusing, |()| Health::Good)
    }

    /// The open store, if it takes a commit now.
    pub(crate) fn taking_commits(&self, frees: bool) -> Result<Arc<Generation>, Error> {
        let live = self.open_generation()?;
        if let Some(why) = live.inner.stop_reason() {
            let text = format!("no writes are taken until the store was opened again: {why}");
            return Err(Error::new(why.kind, text));
        }
        if self.anew.load(Ordering::SeqCst) {
            return Err(opening_error());
        }
        self.lasting.room.check_commit(frees)?;
        Ok(live)
    }
}

/// The error of what cannot wait while the store is opened again.
fn opening_error() -> Error {
    Error::new(Kind::Unavailable, "the store is being opened again")
}
