//! What a node knows of the cluster: for whoever routes requests and tells people. Nothing is decided
//! by it.

use uuid::Uuid;

use crate::records::{NodeRecord, ShardRecord};

/// What a node has seen last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// Who owns the shard, and in which epoch. Nobody while it is being taken over.
    pub owner: Option<(Uuid, u64)>,
    /// The shard's record.
    pub shard: Option<ShardRecord>,
    /// All nodes but those that were forgotten.
    pub nodes: Vec<NodeRecord>,
    /// The last entry that this node has applied.
    pub applied: u64,
    /// The last entry that is known to be committed.
    pub committed: u64,
    /// Its own incarnation; 0 while none is in.
    pub incarnation: u64,
    /// Until when its lease goes, by its boot clock.
    pub lease_until: u64,
    /// When the ledger answered last, by its boot clock.
    pub heard_at: u64,
}
