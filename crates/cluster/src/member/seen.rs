//! Read access to the records that a member has last read from the ledger. It makes no decisions.

use uuid::Uuid;

use super::{
    Member,
    seat::{Part, Seat},
};
use crate::{
    owner::Owner,
    records::{Phase, ShardRecord, TermRecord},
    view::{ShardView, View},
};

impl Seat {
    /// Returns the shard record as last seen.
    fn record(&self) -> Option<&ShardRecord> {
        let seen = if let Part::Following(follower) = &self.part { follower.shard() } else { None };
        seen.or(self.shard.as_ref())
    }

    /// Returns owner and epoch of the shard, as far as this node knows.
    fn shard_owner(&self) -> Option<(Uuid, u64)> {
        match &self.part {
            Part::Following(_) => {
                let open = self.record().filter(|shard| shard.phase == Phase::Open);
                open.map(|shard| (shard.node, shard.epoch))
            }
            Part::Taking(_) => None,
            Part::Owning(owner) => Some((self.settings.node, owner.epoch())),
        }
    }
}

impl Member {
    /// Returns owner and epoch of each shard, as far as this node knows.
    pub fn shard_owners(&self) -> impl Iterator<Item = Option<(Uuid, u64)>> {
        self.seats.iter().map(Seat::shard_owner)
    }

    /// Returns the view of the cluster.
    pub fn view(&self) -> View {
        let nodes = self.common.watch.records().filter(|node| !node.is_forgotten());
        View {
            shards: self.seats.iter().map(|seat| self.shard_view(seat)).collect(),
            nodes: nodes.cloned().collect(),
            beats: self.common.watch.beats().collect(),
            doubled: self.common.watch.doubled().collect(),
            incarnation: self.common.lease.incarnation(),
            lease_until: self.common.lease.until(),
            heard_at: self.heard_at,
        }
    }

    fn shard_view(&self, seat: &Seat) -> ShardView {
        let applied = match &seat.part {
            Part::Following(follower) => follower.place().n,
            Part::Taking(taker) => taker.tree().n,
            Part::Owning(owner) => owner.place().n,
        };
        let record = seat.record();
        // Marks of closed epochs are ignored because they may cover entries that were given up;
        // their ends are authoritative.
        let (opened, end) = record.map_or((None, 0), |record| {
            (Some(record.opened), record.ends.iter().map(|(_, end)| *end).max().unwrap_or(0))
        });
        let counts = |term: &&TermRecord| {
            term.shard == seat.settings.shard && opened.is_none_or(|opened| opened <= term.epoch)
        };
        let terms = self.common.watch.terms().filter(counts);
        let committed = terms.map(|term| term.committed).max();
        ShardView {
            owner: seat.shard_owner(),
            record: record.cloned(),
            applied,
            committed: committed.unwrap_or(0).max(end).max(applied),
            waits_since: seat.owner().and_then(Owner::waits_since),
        }
    }
}
