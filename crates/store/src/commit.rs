//! Commits: conditional, atomic batches of mutations with a position in the one total order of
//! commits.

use std::{fmt, sync::Arc};

use bytes::Bytes;

use crate::space::Space;

/// A commit's position in the one total order, and the instant at which it was ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stamp {
    /// Commit sequence number: dense, from 1, increasing across restarts.
    pub seq: u64,
    /// Database time, milliseconds; never below that of an earlier stamp.
    pub at_ms: i64,
}

/// A condition that must hold when a commit is ordered, given every commit ordered before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// No commit later than `seq` wrote this key. Combined with what the writer read in a view at
    /// `seq`, this expresses "absent", "present" and "unchanged".
    NotNewer {
        /// Space that contains the key.
        space: Space,
        /// The key that must not have been written after `seq`.
        key: Bytes,
        /// The `seq` of the view in which the writer has read the key.
        seq: u64,
    },
    /// The commit's stamp is before this instant, in milliseconds.
    Before(i64),
    /// The preceding commit in the same call of `commit` has succeeded.
    AfterPrevious,
}

/// One change of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mutation {
    /// Sets the value of a key.
    Put {
        /// Space that contains the key.
        space: Space,
        /// The key whose value is set.
        key: Bytes,
        /// The new value of the key.
        value: Bytes,
    },
    /// Deletes a key and its value.
    Delete {
        /// Space that contains the key.
        space: Space,
        /// The key that is deleted with its value.
        key: Bytes,
    },
    /// Adds to a pair of sums, both initially zero. A pair that becomes zero is deleted.
    Add {
        /// Space that contains the key.
        space: Space,
        /// The key of the pair of sums.
        key: Bytes,
        /// The amounts to add to the two sums.
        by: [i64; 2],
    },
}

impl Mutation {
    /// Returns the space and the key that the mutation changes.
    pub fn space_and_key(&self) -> (Space, &Bytes) {
        match self {
            Self::Put { space, key, .. }
            | Self::Delete { space, key }
            | Self::Add { space, key, .. } => (*space, key),
        }
    }

    /// Returns the total size of key and value in bytes.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Put { key, value, .. } => key.len() + value.len(),
            Self::Delete { key, .. } | Self::Add { key, .. } => key.len(),
        }
    }
}

/// A barrier that blocks readers between a commit's stamp and its publication.
pub trait Fence: Send + Sync {
    /// Raises the fence; called before the commit gets its stamp.
    fn raise(&self);
    /// Lowers the fence. Called when the commit is visible (with its stamp) or was refused
    /// (`None`). No other commit is ordered between publication and this call.
    fn lower(&self, published: Option<Stamp>);
}

/// Creates a commit's mutations from its stamp. Runs on the thread that orders commits, so it must
/// be fast and must not panic.
pub type MakeMutations = Box<dyn FnOnce(Stamp) -> Vec<Mutation> + Send>;

/// A conditional batch of mutations that is written atomically.
pub struct Commit {
    /// Conditions that must all hold.
    pub conditions: Vec<Condition>,
    /// Creates the mutations from the stamp.
    pub write: MakeMutations,
    /// The fence to raise while the commit is in flight.
    pub fence: Option<Arc<dyn Fence>>,
    /// Whether the commit frees space eventually, so that it may use the reserve on a full disk.
    pub frees: bool,
}

impl Commit {
    /// Creates a commit without a fence.
    pub fn new(
        conditions: Vec<Condition>,
        write: impl FnOnce(Stamp) -> Vec<Mutation> + Send + 'static,
    ) -> Self {
        Self { conditions, write: Box::new(write), fence: None, frees: false }
    }

    /// Marks the commit as one that frees space.
    pub fn freeing(mut self) -> Self {
        self.frees = true;
        self
    }

    /// Adds a fence to the commit.
    pub fn with_fence(mut self, fence: Arc<dyn Fence>) -> Self {
        self.fence = Some(fence);
        self
    }
}

impl fmt::Debug for Commit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Commit").field("conditions", &self.conditions).finish_non_exhaustive()
    }
}

/// Reason why a commit was refused. A refused commit has written nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A key was written after the view in which the writer had read it.
    Newer,
    /// The instant that a [`Before`](Condition::Before) condition names had been reached.
    Late,
}

/// The result of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The commit is durable and visible.
    Committed(Stamp),
    /// The commit was refused and may be retried with a new view.
    Refused(Refusal),
}
