//! The role of a node in a shard, as published to the server.

use std::sync::Arc;

use cluster::ClockLowerBounds;

/// The role of a node in a shard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Role {
    /// The node applies entries that the owner has committed.
    Following,
    /// The node owns the shard, and the clock has started.
    Opened {
        /// Epoch of the term that was opened.
        epoch: u64,
        /// Clock state inherited from the preceding owner.
        lower_bounds: Arc<ClockLowerBounds>,
    },
    /// The node owns the shard and may serve requests.
    Serving {
        /// Epoch of the term that serves.
        epoch: u64,
    },
    /// The node neither follows nor serves, for this reason: the local copy failed or is damaged,
    /// or an entry is missing in the cluster's journal. An owner releases the shard, so services
    /// have to stop as after any change of role. The node retries automatically and becomes
    /// `Following` when it succeeds, with the same store object.
    Failed(String),
}
