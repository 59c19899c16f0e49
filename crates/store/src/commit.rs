//! Commits: what is written all or nothing, under which conditions, in the one order of commits.

use std::{fmt, sync::Arc};

use bytes::Bytes;

use crate::space::Space;

/// A commit's place in the one order, and the instant it got there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stamp {
    /// Dense number of the commit, from 1; larger is later, also across restarts.
    pub seq: u64,
    /// Database time, milliseconds; never smaller than that of an earlier stamp.
    pub at_ms: i64,
}

/// What must hold when a commit is ordered, seeing every commit ordered before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// No commit later than `seq` wrote this key. With what the writer read in a view of that
    /// `seq` this covers "absent", "present" and "still this version".
    NotNewer {
        /// Space of the key.
        space: Space,
        /// The key.
        key: Bytes,
        /// The writer's view.
        seq: u64,
    },
    /// The stamp lies before this instant, milliseconds.
    Before(i64),
    /// The commit before it in the same call was not refused.
    AfterPrevious,
}

/// One change of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mutation {
    /// Sets a value.
    Put {
        /// Space of the key.
        space: Space,
        /// The key.
        key: Bytes,
        /// Its new value.
        value: Bytes,
    },
    /// Removes a key.
    Delete {
        /// Space of the key.
        space: Space,
        /// The key.
        key: Bytes,
    },
    /// Adds to a pair of sums, which start at zero. A pair that becomes zero is removed.
    Add {
        /// Space of the key.
        space: Space,
        /// The key.
        key: Bytes,
        /// What is added to each.
        by: [i64; 2],
    },
}

impl Mutation {
    /// The key that it changes, in its space.
    pub fn space_and_key(&self) -> (Space, &Bytes) {
        match self {
            Self::Put { space, key, .. }
            | Self::Delete { space, key }
            | Self::Add { space, key, .. } => (*space, key),
        }
    }

    /// Bytes of its key and value.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Put { key, value, .. } => key.len() + value.len(),
            Self::Delete { key, .. } | Self::Add { key, .. } => key.len(),
        }
    }
}

/// Something that must not be looked at between a commit's stamp and its publication.
pub trait Fence: Send + Sync {
    /// Called before the commit is stamped.
    fn raise(&self);
    /// Called when the commit is visible (with its stamp) or was refused. No other commit is
    /// ordered between a published fence and this call.
    fn lower(&self, published: Option<Stamp>);
}

/// Makes a commit's mutations once its stamp is known. Runs where commits are ordered: it has to be
/// quick and must not panic.
pub type MakeMutations = Box<dyn FnOnce(Stamp) -> Vec<Mutation> + Send>;

/// A commit: all of it or nothing.
pub struct Commit {
    /// What must hold.
    pub conditions: Vec<Condition>,
    /// What is written.
    pub write: MakeMutations,
    /// What is closed while it is under way.
    pub fence: Option<Arc<dyn Fence>>,
    /// It gives space back in the end, so it may use what is kept in reserve on a full disk.
    pub frees: bool,
}

impl Commit {
    /// A commit without a fence.
    pub fn new(
        conditions: Vec<Condition>,
        write: impl FnOnce(Stamp) -> Vec<Mutation> + Send + 'static,
    ) -> Self {
        Self { conditions, write: Box::new(write), fence: None, frees: false }
    }

    /// The same commit, which gives space back.
    pub fn freeing(mut self) -> Self {
        self.frees = true;
        self
    }

    /// The same commit behind a fence.
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

/// Why a commit was refused; nothing of it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A key was written after the writer's view.
    Newer,
    /// The instant of a `Before` had come.
    Late,
}

/// What became of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Durable and visible.
    Committed(Stamp),
    /// Refused: look again with a new view.
    Refused(Refusal),
}
