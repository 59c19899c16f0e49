//! What a member tells whoever runs it.

use store::Error;

use crate::{
    entry::Entry,
    host::Heritage,
    place::{MissingEntry, Place},
    records::BaseRecord,
};

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
    /// It follows from where its tree goes on, as it was told: what comes to be from here on is behind
    /// that place.
    WentOn,
    /// The tree cannot follow from where it stands: it is to be made of this base, and goes on behind it.
    Load(BaseRecord),
    /// What was committed is missing in the journal: the shard stays closed, or its tree as it is. It
    /// is looked for again and again, and what comes to be once it is there is told as always.
    Missing(MissingEntry),
    /// The tree has, or may have, what does not count any more: it is to be thrown away and made again.
    /// Nothing is done until it goes on from somewhere.
    Astray(Error),
    /// The tree cannot go on with this journal: the journal is damaged, or is of something else.
    Damaged(Error),
}
