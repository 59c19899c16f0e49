//! The state of the cluster as a node last knew it, for request routing and status output. The
//! protocol does not depend on it.

use std::collections::BTreeMap;

use uuid::Uuid;

use crate::records::{NodeRecord, ShardRecord};

/// The state of the cluster as a node last knew it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// The states of the shards, by number; empty before the first read.
    pub shards: Vec<ShardView>,
    /// All nodes except removed ones.
    pub nodes: Vec<NodeRecord>,
    /// Local boot clock at which the last heartbeat of each node was first seen. The first
    /// heartbeat seen of a node may be older.
    pub beats: BTreeMap<Uuid, u64>,
    /// The nodes whose id two processes use, on a data directory and on a copy of it, each with the
    /// time of the boot clock at which this was last noticed.
    pub duplicates: BTreeMap<Uuid, u64>,
    /// The node's own incarnation; 0 until it first takes its lease.
    pub incarnation: u64,
    /// End of the node's lease by its boot clock.
    pub lease_until: u64,
    /// Time of the last reply of the ledger by the boot clock.
    pub heard_at: u64,
}

/// The state of a shard as a node last knew it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShardView {
    /// Owner and epoch; `None` during a take-over.
    pub owner: Option<(Uuid, u64)>,
    /// The shard record as last read; `None` before the first read.
    pub record: Option<ShardRecord>,
    /// Number of the last entry that this node has applied.
    pub applied: u64,
    /// Number of the last entry that is known to be committed.
    pub committed: u64,
    /// Time at which the owner appended its oldest uncommitted entry, by the boot clock; `None` on
    /// other nodes, or if all entries are committed.
    pub waits_since: Option<u64>,
}

impl View {
    /// Returns the state of a shard, or an empty one if the shard is unknown.
    pub fn shard(&self, shard: u32) -> ShardView {
        self.known(shard).cloned().unwrap_or_default()
    }

    /// Returns owner and epoch of a shard.
    pub fn owner(&self, shard: u32) -> Option<(Uuid, u64)> {
        self.known(shard)?.owner
    }

    fn known(&self, shard: u32) -> Option<&ShardView> {
        self.shards.get(usize::try_from(shard).ok()?)
    }
}
