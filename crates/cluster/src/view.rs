//! What a node knows of the cluster: for whoever routes requests and tells people. Nothing is decided
//! by it.

use std::collections::BTreeMap;

use uuid::Uuid;

use crate::records::{NodeRecord, ShardRecord};

/// What a node has seen last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// By the numbers of the shards; empty before the first look.
    pub shards: Vec<ShardView>,
    /// All nodes but those that were forgotten.
    pub nodes: Vec<NodeRecord>,
    /// When the last beat of each node was first seen, by its own boot clock. The first that it saw of a
    /// node may be older.
    pub beats: BTreeMap<Uuid, u64>,
    /// When each node was last seen to run twice, on a directory and on a copy of it.
    pub doubled: BTreeMap<Uuid, u64>,
    /// Its own incarnation; 0 while none is in.
    pub incarnation: u64,
    /// Until when its lease goes, by its boot clock.
    pub lease_until: u64,
    /// When the ledger answered last, by its boot clock.
    pub heard_at: u64,
}

/// What it has seen of a shard.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShardView {
    /// Who owns the shard, and in which epoch. Nobody while it is being taken over.
    pub owner: Option<(Uuid, u64)>,
    /// The shard's record.
    pub record: Option<ShardRecord>,
    /// The last entry that this node has applied.
    pub applied: u64,
    /// The last entry that is known to be committed.
    pub committed: u64,
    /// As the owner: since when its oldest entry waits to be committed, by its boot clock.
    pub waits_since: Option<u64>,
}

impl View {
    /// What it has seen of this shard; nothing so far where it does not know of it.
    pub fn shard(&self, shard: u32) -> ShardView {
        self.known(shard).cloned().unwrap_or_default()
    }

    /// Who owns this shard, and in which epoch.
    pub fn owner(&self, shard: u32) -> Option<(Uuid, u64)> {
        self.known(shard)?.owner
    }

    fn known(&self, shard: u32) -> Option<&ShardView> {
        self.shards.get(usize::try_from(shard).ok()?)
    }
}
