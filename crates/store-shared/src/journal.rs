//! The journal of a node: the cluster's journal, which the owner appends to, and the local copy on
//! disk. The copy is not synced for each group: a power failure loses up to a second of it, which
//! the cluster's journal still has.

use std::{collections::VecDeque, sync::Arc};

use cluster::Position;
use journal::{AppendFailure, EncodedEntry, Entry, Journal, JournalExtent, OpenJournal};
use parking_lot::Mutex;
use store::Error;

use crate::{position_file::PositionRecord, replicator::Replicator};

/// Number of positions that are remembered. Only the positions of visible entries are looked up,
/// and these are only a few groups behind the newest.
const POSITIONS_MAX: usize = 1_024;

/// Table of positions in the cluster's journal that correspond to entries of the local copy.
#[derive(Debug, Default)]
pub(crate) struct PositionTable(Mutex<RecentPositions>);

/// For recent entries of the local journal, the corresponding positions in the cluster's journal;
/// the newest is kept separately.
#[derive(Debug, Default)]
struct RecentPositions {
    newest: PositionRecord,
    before: VecDeque<PositionRecord>,
}

impl PositionTable {
    pub(crate) fn new(newest: PositionRecord) -> Self {
        Self(Mutex::new(RecentPositions { newest, before: VecDeque::new() }))
    }

    /// Records a position, unless a newer one was recorded. The recorded entry of the local journal
    /// never decreases: if `noted` has a lower `n` than the newest position, it is recorded with
    /// that `n`.
    pub(crate) fn record(&self, noted: PositionRecord) {
        let mut positions = self.0.lock();
        let newest = positions.newest;
        if newest.position.n < noted.position.n {
            positions.newest = PositionRecord { n: newest.n.max(noted.n), ..noted };
            positions.before.push_back(newest);
            if POSITIONS_MAX < positions.before.len() {
                positions.before.pop_front();
            }
        }
    }

    /// Returns the position at which the local journal ended with this entry, if it was recorded
    /// recently.
    pub(crate) fn position_at(&self, n: u64) -> Option<Position> {
        let positions = self.0.lock();
        let mut all = [&positions.newest].into_iter().chain(positions.before.iter().rev());
        all.find(|noted| noted.n == n).map(|noted| noted.position)
    }

    /// Clears the table, because the local copy is wiped.
    pub(crate) fn forget(&self) {
        *self.0.lock() = RecentPositions::default();
    }

    pub(crate) fn newest(&self) -> PositionRecord {
        self.0.lock().newest
    }
}

/// The journal of a node as the store opens it. The store may be opened several times, and all
/// openings share one connection to the driver, the thread that runs the cluster protocol.
pub(crate) struct NodeJournal {
    pub(crate) own: Arc<dyn OpenJournal>,
    pub(crate) replicator: Arc<Replicator>,
    pub(crate) positions: Arc<PositionTable>,
}

impl OpenJournal for NodeJournal {
    fn open(&self, known_durable: u64, accept_loss: bool) -> Result<Arc<dyn Journal>, Error> {
        Ok(Arc::new(SharedJournal {
            own: self.own.open(known_durable, accept_loss)?,
            replicator: Arc::clone(&self.replicator),
            positions: Arc::clone(&self.positions),
        }))
    }

    fn wipe(&self) -> Result<(), Error> {
        self.own.wipe()
    }
}

struct SharedJournal {
    own: Arc<dyn Journal>,
    replicator: Arc<Replicator>,
    positions: Arc<PositionTable>,
}

impl Journal for SharedJournal {
    fn append(&self, group: &[EncodedEntry]) -> Result<u64, AppendFailure> {
        // The first entry of a store creates its first spaces; it is identical on every node and
        // not replicated.
        if self.own.end() == 0 {
            return self.own.append(group);
        }
        let position = self.replicator.append(group).map_err(AppendFailure::Refused)?;
        // The group is committed now. If the local copy fails to store it, nothing may be appended
        // after it and this node cannot remain the owner.
        let unknown = |failure: AppendFailure| {
            self.replicator.fail_copy(failure.error().clone());
            AppendFailure::Unknown(failure.error().clone())
        };
        let n = self.own.append_unsynced(group).map_err(unknown)?;
        self.positions.record(PositionRecord { n, position });
        Ok(n)
    }

    fn follow(&self, group: &[EncodedEntry]) -> Result<u64, AppendFailure> {
        self.own.append_unsynced(group)
    }

    fn sync(&self) -> Result<(), Error> {
        self.own.sync()
    }

    fn read(&self, after: u64, limit_bytes: usize) -> Result<Vec<Entry>, Error> {
        self.own.read(after, limit_bytes)
    }

    fn truncate_before(&self, before: u64, floors: &[u8]) -> Result<(), Error> {
        self.own.truncate_before(before, floors)
    }

    fn end(&self) -> u64 {
        self.own.end()
    }

    fn floors(&self) -> Vec<u8> {
        self.own.floors()
    }

    fn extent(&self) -> JournalExtent {
        self.own.extent()
    }

    fn bytes_after(&self, after: u64) -> u64 {
        self.own.bytes_after(after)
    }

    fn group_bytes_max(&self) -> usize {
        self.own.group_bytes_max()
    }

    /// Returns false, because the other nodes use the journal too and may still need entries that
    /// this node would drop.
    fn has_single_user(&self) -> bool {
        false
    }
}
