//! The journal of a node: the cluster's journal, which the owner appends to, and the local copy on
//! disk. The copy is not synced for each group: a power failure loses up to a second of it, which
//! the cluster's journal still has.

use std::{collections::VecDeque, sync::Arc};

use cluster::Place;
use journal::{AppendFailure, EncodedEntry, Entry, Held, Journal, OpenJournal};
use parking_lot::Mutex;
use store::Error;

use crate::{place_file::Noted, replicator::Replicator};

/// Number of positions that are remembered; data that is visible is only a few groups behind.
const PLACES: usize = 1_024;

/// Table of positions in the cluster's journal that correspond to entries of the local copy.
#[derive(Debug, Default)]
pub(crate) struct PlaceBook(Mutex<Places>);

/// Positions in the cluster's journal of recent local entries, the newest kept separately.
#[derive(Debug, Default)]
struct Places {
    newest: Noted,
    before: VecDeque<Noted>,
}

impl PlaceBook {
    pub(crate) fn new(newest: Noted) -> Self {
        Self(Mutex::new(Places { newest, before: VecDeque::new() }))
    }

    /// Records a position, unless a newer one was recorded. `n` is the last entry of the local
    /// journal before the position, where known.
    pub(crate) fn note(&self, noted: Noted) {
        let mut places = self.0.lock();
        let newest = places.newest;
        if newest.place.n < noted.place.n {
            places.newest = Noted { n: newest.n.max(noted.n), ..noted };
            places.before.push_back(newest);
            if PLACES < places.before.len() {
                places.before.pop_front();
            }
        }
    }

    /// Returns the position at which the local journal ended with this entry, if it was recorded
    /// recently.
    pub(crate) fn place_at(&self, n: u64) -> Option<Place> {
        let places = self.0.lock();
        let mut all = [&places.newest].into_iter().chain(places.before.iter().rev());
        all.find(|noted| noted.n == n).map(|noted| noted.place)
    }

    /// Clears the table, because the local copy is wiped.
    pub(crate) fn forget(&self) {
        *self.0.lock() = Places::default();
    }

    pub(crate) fn newest(&self) -> Noted {
        self.0.lock().newest
    }
}

/// Opens the journal of a node, possibly several times, with one connection to the driver.
pub(crate) struct NodeJournal {
    pub(crate) own: Arc<dyn OpenJournal>,
    pub(crate) replicator: Arc<Replicator>,
    pub(crate) book: Arc<PlaceBook>,
}

impl OpenJournal for NodeJournal {
    fn open(&self, known_durable: u64, accept_loss: bool) -> Result<Arc<dyn Journal>, Error> {
        Ok(Arc::new(SharedJournal {
            own: self.own.open(known_durable, accept_loss)?,
            replicator: Arc::clone(&self.replicator),
            book: Arc::clone(&self.book),
        }))
    }

    fn wipe(&self) -> Result<(), Error> {
        self.own.wipe()
    }
}

struct SharedJournal {
    own: Arc<dyn Journal>,
    replicator: Arc<Replicator>,
    book: Arc<PlaceBook>,
}

impl Journal for SharedJournal {
    fn append(&self, group: &[EncodedEntry]) -> Result<u64, AppendFailure> {
        // The first entry of a store creates its first spaces; it is identical on every node and
        // not replicated.
        if self.own.end() == 0 {
            return self.own.append(group);
        }
        let place = self.replicator.append(group).map_err(AppendFailure::Refused)?;
        // The group is committed now. If the local copy fails to store it, nothing may be appended
        // after it and this node cannot remain the owner.
        let unknown = |failure: AppendFailure| {
            self.replicator.fail_copy(failure.error().clone());
            AppendFailure::Unknown(failure.error().clone())
        };
        let n = self.own.keep(group).map_err(unknown)?;
        self.book.note(Noted { n, place });
        Ok(n)
    }

    fn follow(&self, group: &[EncodedEntry]) -> Result<u64, AppendFailure> {
        self.own.keep(group)
    }

    fn sync(&self) -> Result<(), Error> {
        self.own.sync()
    }

    fn read(&self, after: u64, limit_bytes: usize) -> Result<Vec<Entry>, Error> {
        self.own.read(after, limit_bytes)
    }

    fn cut(&self, before: u64, floors: &[u8]) -> Result<(), Error> {
        self.own.cut(before, floors)
    }

    fn end(&self) -> u64 {
        self.own.end()
    }

    fn floors(&self) -> Vec<u8> {
        self.own.floors()
    }

    fn held(&self) -> Held {
        self.own.held()
    }

    fn bytes_after(&self, after: u64) -> u64 {
        self.own.bytes_after(after)
    }

    fn group_bytes_max(&self) -> usize {
        self.own.group_bytes_max()
    }

    /// Returns false, because other nodes still need entries that this one drops.
    fn has_one_user(&self) -> bool {
        false
    }
}
