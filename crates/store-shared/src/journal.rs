//! The journal of a node: its own copy on disk, and in front of it, while the node is the owner, the
//! cluster's. The copy is not synced group by group: a stop of the machine costs it what came since the
//! last second, which the cluster's journal has.

use std::{collections::VecDeque, sync::Arc};

use cluster::Place;
use journal::{AppendFailure, EncodedEntry, Entry, Held, Journal, OpenJournal};
use parking_lot::Mutex;
use store::Error;

use crate::{place_file::Noted, replicator::Replicator};

/// Places that are remembered: what is visible is only a few groups behind.
const PLACES: usize = 1_024;

/// Up to where the own copy goes, as whoever writes it has seen.
#[derive(Debug, Default)]
pub(crate) struct PlaceBook(Mutex<Places>);

/// The last places that were noted, the newest apart.
#[derive(Debug, Default)]
struct Places {
    newest: Noted,
    before: VecDeque<Noted>,
}

impl PlaceBook {
    pub(crate) fn new(newest: Noted) -> Self {
        Self(Mutex::new(Places { newest, before: VecDeque::new() }))
    }

    /// Notes a place; one that lies before what was noted is old news. `n` is the last entry of the
    /// own journal before it, where it is known.
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

    /// The place behind which the own journal ended with this entry, if it was noted lately.
    pub(crate) fn place_at(&self, n: u64) -> Option<Place> {
        let places = self.0.lock();
        let mut all = [&places.newest].into_iter().chain(places.before.iter().rev());
        all.find(|noted| noted.n == n).map(|noted| noted.place)
    }

    /// The copy is thrown away.
    pub(crate) fn forget(&self) {
        *self.0.lock() = Places::default();
    }

    /// What was noted last.
    pub(crate) fn newest(&self) -> Noted {
        self.0.lock().newest
    }
}

/// Opens the journal of a node: again and again, around one way to the driver.
pub(crate) struct NodeJournal {
    /// The own copy.
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

/// The journal of a node.
struct SharedJournal {
    own: Arc<dyn Journal>,
    replicator: Arc<Replicator>,
    book: Arc<PlaceBook>,
}

impl Journal for SharedJournal {
    fn append(&self, group: &[EncodedEntry]) -> Result<u64, AppendFailure> {
        // The first entry of a store makes its first spaces, the same everywhere: it is nobody's news.
        if self.own.end() == 0 {
            return self.own.append(group);
        }
        let place = self.replicator.append(group).map_err(AppendFailure::Refused)?;
        // From here on the group is committed, whatever becomes of it here. Without it nothing behind it
        // may be appended: this node cannot be the owner any more.
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

    /// Other nodes have what this one drops.
    fn has_one_user(&self) -> bool {
        false
    }
}
