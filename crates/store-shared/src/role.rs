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
    /// It does not follow for now, and serves nothing: why. Its own copy failed or is damaged, or the
    /// cluster's journal misses an entry. An owner gives the shard up, so that whoever serves ends as with
    /// any other role. It tries again by itself and is `Following` once it goes on; the store is the same
    /// one then, with all that was committed or on the way to it.
    Failed(String),
}
