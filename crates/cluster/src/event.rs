//! Events that the state machines of a cluster member report to the driver that executes them. The
//! *tree* is the node's local store of a shard, a *term* the ownership of a shard in one epoch, and
//! the *history* the sequence of committed entries.

use store::Error;

use crate::{
    entry::Entry,
    host::ClockLowerBounds,
    position::{MissingEntry, Position},
    records::BaseRecord,
};

/// An event of a shard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShardEvent {
    /// An entry is committed and has to be applied to the tree. Entries are reported in order,
    /// regardless of the node that wrote them. An owner acknowledges the entries that it wrote.
    Apply {
        /// The committed entry to apply.
        entry: Entry,
        /// Position of the local tree after the entry is applied.
        position: Position,
    },
    /// The node owns the shard: the shard's clock and the services that use it have to start.
    Opened {
        /// Epoch of the new term.
        epoch: u64,
        /// Clock state inherited from the preceding owner.
        lower_bounds: ClockLowerBounds,
    },
    /// A heartbeat with the term was applied: requests may be served while the lease is valid.
    Serving {
        /// Epoch of the term that serves.
        epoch: u64,
    },
    /// The node no longer owns the shard. Whether unacknowledged writes were committed is unknown.
    TermEnded {
        /// Epoch of the ended term.
        epoch: u64,
        /// Whether the node released the shard, in which case everything was committed.
        released: bool,
    },
    /// The node follows the shard again, from the position that was passed to `resume`. Later
    /// events refer to entries after this position.
    Resumed,
    /// The tree cannot catch up from its position: it has to be rebuilt from this base, a copy of
    /// the shard's data, and continues with the entries after the base.
    Load(BaseRecord),
    /// A committed entry is missing in the journal: the shard stays closed, and a follower's tree
    /// does not advance. The entry is looked up repeatedly; once it is found, the shard continues.
    Missing(MissingEntry),
    /// The tree contains, or may contain, entries that are not part of the shard's committed
    /// history: it has to be discarded and rebuilt. The member is idle until `resume` is called.
    Diverged(Error),
    /// The tree cannot follow this journal: the journal is damaged, or tree and journal do not
    /// belong together.
    Damaged(Error),
}

/// An event of a follower.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FollowerEvent {
    /// The next entry is committed.
    Committed {
        entry: Entry,
        /// Position of the local tree after the entry is applied.
        position: Position,
    },
    /// The journal after the tree's position was truncated, or the tree is empty: this base has to
    /// be loaded. The follower stops reading.
    Load(BaseRecord),
    /// An entry of a closed epoch is missing. It is read again at a slow rate; reported once.
    Missing(MissingEntry),
    /// The tree contains, or may contain, entries that are not part of the shard's committed
    /// history. The follower stops reading; reported once.
    Diverged(Error),
    /// The journal cannot be followed from this tree: it is damaged, or the tree belongs to another
    /// journal.
    Damaged(Error),
}
