//! Events that the state machines of a cluster member report to the driver that executes them.

use store::Error;

use crate::{
    entry::Entry,
    host::Heritage,
    place::{MissingEntry, Place},
    records::BaseRecord,
};

/// An event of a shard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// An entry is committed and has to be applied to the tree, whose position is then `place`.
    /// Entries come in order, whichever node wrote them. An owner acknowledges its own.
    Apply {
        /// The committed entry.
        entry: Entry,
        /// Position of the local tree after the entry is applied.
        place: Place,
    },
    /// The node owns the shard: its clock and the services on it have to start.
    Opened {
        /// Epoch of the new term.
        epoch: u64,
        /// Clock state inherited from the preceding owner.
        heritage: Heritage,
    },
    /// A heartbeat with the term was applied: requests may be served while the lease is valid.
    Serving {
        /// Epoch of the term.
        epoch: u64,
    },
    /// The node no longer owns the shard. Whether unacknowledged writes were committed is unknown.
    TermEnded {
        /// Epoch of the ended term.
        epoch: u64,
        /// Whether the node released the shard, in which case everything was committed.
        released: bool,
    },
    /// The node follows again from the position passed to `go_on`: later events refer to entries
    /// after it.
    WentOn,
    /// The tree cannot catch up from its position: it has to be rebuilt from this base, and
    /// continues after it.
    Load(BaseRecord),
    /// A committed entry is missing in the journal: the shard stays closed, and a follower's tree
    /// does not advance. The entry is looked up repeatedly; once it is found, the shard continues.
    Missing(MissingEntry),
    /// The tree contains, or may contain, entries that are not part of the history: it has to be
    /// discarded and rebuilt. The member is idle until `go_on` is called.
    Astray(Error),
    /// The tree cannot follow this journal: the journal is damaged, or tree and journal do not
    /// belong together.
    Damaged(Error),
}
