//! Read access to the records that a member has last read from the ledger. It makes no decisions.

use uuid::Uuid;

use super::{
    Member,
    replica::{ReplicaRole, ShardReplica},
};
use crate::{
    owner::Owner,
    records::{Phase, ShardRecord, TermRecord},
    view::{ShardView, View},
};

impl ShardReplica {
    /// Returns the shard record as last seen.
    fn record(&self) -> Option<&ShardRecord> {
        let seen =
            if let ReplicaRole::Following(follower) = &self.role { follower.shard() } else { None };
        seen.or(self.shard.as_ref())
    }

    /// Returns owner and epoch of the shard, by the records that this node has read.
    fn shard_owner(&self) -> Option<(Uuid, u64)> {
        match &self.role {
            ReplicaRole::Following(_) => {
                let open = self.record().filter(|shard| shard.phase == Phase::Open);
                open.map(|shard| (shard.node, shard.epoch))
            }
            ReplicaRole::Taking(_) => None,
            ReplicaRole::Owning(owner) => Some((self.settings.node, owner.epoch())),
        }
    }
}

impl Member {
    /// Returns owner and epoch of each shard, by the records that this node has read.
    pub fn shard_owners(&self) -> impl Iterator<Item = Option<(Uuid, u64)>> {
        self.replicas.iter().map(ShardReplica::shard_owner)
    }

    /// Returns the state of the cluster by the records that this node has read.
    pub fn view(&self) -> View {
        let nodes = self.common.node_monitor.records().filter(|node| !node.is_forgotten());
        View {
            shards: self.replicas.iter().map(|replica| self.shard_view(replica)).collect(),
            nodes: nodes.cloned().collect(),
            beats: self.common.node_monitor.beats().collect(),
            duplicates: self.common.node_monitor.duplicates().collect(),
            incarnation: self.common.lease.incarnation(),
            lease_until: self.common.lease.until(),
            heard_at: self.heard_at,
        }
    }

    fn shard_view(&self, replica: &ShardReplica) -> ShardView {
        let applied = match &replica.role {
            ReplicaRole::Following(follower) => follower.position().n,
            ReplicaRole::Taking(takeover) => takeover.tree().n,
            ReplicaRole::Owning(owner) => owner.position().n,
        };
        let record = replica.record();
        // Commit marks of closed epochs are ignored, because they may cover entries whose loss was
        // accepted; the ends of the epochs are authoritative.
        let (opened, end) = record.map_or((None, 0), |record| {
            (Some(record.opened), record.ends.iter().map(|(_, end)| *end).max().unwrap_or(0))
        });
        let counts = |term: &&TermRecord| {
            term.shard == replica.settings.shard && opened.is_none_or(|opened| opened <= term.epoch)
        };
        let terms = self.common.node_monitor.terms().filter(counts);
        let committed = terms.map(|term| term.committed).max();
        ShardView {
            owner: replica.shard_owner(),
            record: record.cloned(),
            applied,
            committed: committed.unwrap_or(0).max(end).max(applied),
            waits_since: replica.owner().and_then(Owner::waits_since),
        }
    }
}
