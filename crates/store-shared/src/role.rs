//! What a node is to its shard, as it is told to whoever serves.

use std::sync::Arc;

use cluster::Heritage;

/// What a node is to its shard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Role {
    /// It applies what the owner commits.
    Following,
    /// It owns the shard, and its clock has to begin.
    Opened {
        /// In this epoch.
        epoch: u64,
        /// What the clock goes on with.
        heritage: Arc<Heritage>,
    },
    /// It owns the shard and may serve.
    Serving {
        /// In this epoch.
        epoch: u64,
    },
    /// It cannot follow any more: why.
    Failed(String),
}
