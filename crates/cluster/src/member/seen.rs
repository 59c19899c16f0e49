//! What a member has seen of the cluster. Nothing is decided here.

use uuid::Uuid;

use super::{Member, Seat};
use crate::{
    records::{Phase, ShardRecord, TermRecord},
    view::View,
};

impl Member {
    /// The shard's record as it was last seen.
    fn record(&self) -> Option<&ShardRecord> {
        let seen = if let Seat::Following(follower) = &self.seat { follower.shard() } else { None };
        seen.or(self.shard.as_ref())
    }

    /// Who owns the shard, as far as this node knows, and in which epoch.
    pub fn shard_owner(&self) -> Option<(Uuid, u64)> {
        match &self.seat {
            Seat::Following(_) => {
                let open = self.record().filter(|shard| shard.phase == Phase::Open);
                open.map(|shard| (shard.node, shard.epoch))
            }
            Seat::Taking(_) => None,
            Seat::Owning(owner) => Some((self.settings.node, owner.epoch())),
        }
    }

    /// What it has seen of the cluster.
    pub fn view(&self) -> View {
        let applied = match &self.seat {
            Seat::Following(follower) => follower.place().n,
            Seat::Taking(taker) => taker.tree().n,
            Seat::Owning(owner) => owner.place().n,
        };
        // A mark of a closed epoch may be of what was given up; its end counts.
        let (opened, end) = self.record().map_or((None, 0), |record| {
            (Some(record.opened), record.ends.iter().map(|(_, end)| *end).max().unwrap_or(0))
        });
        let counts = |term: &&TermRecord| {
            term.shard == self.settings.shard && opened.is_none_or(|opened| opened <= term.epoch)
        };
        let committed = self.watch.terms().filter(counts).map(|term| term.committed).max();
        View {
            owner: self.shard_owner(),
            shard: self.record().cloned(),
            nodes: self.watch.records().filter(|node| !node.is_forgotten()).cloned().collect(),
            applied,
            committed: committed.unwrap_or(0).max(end).max(applied),
            incarnation: self.lease.incarnation(),
            lease_until: self.lease.until(),
            heard_at: self.heard_at,
        }
    }
}
