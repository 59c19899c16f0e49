//! What comes of a node's part in a shard, for whoever runs it.

use store::Error;

use crate::{entry::Entry, host::Heritage, place::Place, sealing::MissingEntry};

/// What has come to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// An entry is committed: it is to be applied to the tree, whose place this is then. Entries come
    /// in order, whoever wrote them. An owner acknowledges its own.
    Apply {
        /// The entry.
        entry: Entry,
        /// The tree's place behind it.
        place: Place,
    },
    /// The node owns the shard: its clock is to begin now, and everything that serves it.
    Opened {
        /// In this epoch.
        epoch: u64,
        /// What the clock goes on with.
        heritage: Heritage,
    },
    /// A beat carries the term: requests are answered while the lease lasts.
    Serving {
        /// The epoch.
        epoch: u64,
    },
    /// The node no longer owns the shard. What it has not acknowledged may have happened.
    TermEnded {
        /// The epoch that it owned.
        epoch: u64,
        /// Whether it gave it up, so that everything was committed.
        released: bool,
    },
    /// The shard stays closed: what was committed is missing.
    Missing(MissingEntry),
    /// The tree cannot go on with this journal: it is to be loaded again, or the journal is damaged.
    Damaged(Error),
}
