//! Decides when a node claims a free shard, and collects the lower bounds of the preceding owner's
//! clock. Ends a term whose lease has expired while the ledger is unreachable.

use super::{
    common::Common,
    replica::{ReplicaRole, ShardReplica},
};
use crate::{
    event::ShardEvent,
    host::Host,
    node_monitor::ClaimReason,
    position::Position,
    records::{ShardRecord, TermRecord},
    takeover::{ClaimBasis, Takeover},
};

impl ShardReplica {
    /// Claims the shard if it is free and this node's delay before a claim has passed.
    pub(super) fn claim_if_free(&mut self, now: u64, common: &mut Common, host: &mut dyn Host) {
        let ReplicaRole::Following(follower) = &self.role else { return };
        let Some(shard) = follower.shard() else { return };
        let incarnation = common.lease.incarnation();
        let free = common.node_monitor.claim_reason(shard, &common.lease, now);
        // A taker holds all entries after its tree in memory. A node that is far behind first reads
        // them as a follower, in bounded amounts.
        let may = now < common.lease.until() && follower.is_caught_up() && !self.is_suspended;
        let Some(free) = free.filter(|_| may) else {
            self.free_since = None;
            return;
        };
        let since = self.free_since.filter(|(epoch, _)| *epoch == shard.epoch);
        let (_, since) = *self.free_since.insert(since.unwrap_or((shard.epoch, now)));
        let is_own = shard.node == self.settings.node;
        let goes_first = is_own || follower.is_first(host.backlog(self.settings.shard));
        let patience = if goes_first { 0 } else { self.settings.patience };
        if now < self.claim_due.max(self.defers_until) || now < since + patience {
            return;
        }
        self.base = shard.newest_base().copied();
        let tree = follower.position();
        let before = self.before(shard.clone(), free, tree, incarnation, common);
        let machine = common.machine();
        let takeover = Takeover::new(self.settings.clone(), machine, before, host.claim());
        self.shard = follower.shard().cloned();
        self.role = ReplicaRole::Taking(Box::new(takeover));
        (self.free_since, self.has_claimed) = (None, true);
    }

    fn before(
        &self,
        shard: ShardRecord,
        free: ClaimReason,
        tree: Position,
        incarnation: u64,
        common: &Common,
    ) -> ClaimBasis {
        // `node_monitor` may have an older checkpoint of this node's own clock than the final one
        // in `abandoned`.
        let is_own = (shard.node, shard.incarnation) == (self.settings.node, incarnation);
        let own = self.abandoned.as_ref().filter(|(term, _)| is_own && term.epoch == shard.epoch);
        let own = own.map(|(term, at)| (term.clone(), *at, true));
        let beat = own.or_else(|| common.node_monitor.last_beat(&shard));
        let terms = common.node_monitor.terms().cloned().collect();
        ClaimBasis { shard, free, beat, terms, incarnation, tree }
    }

    /// Ends a term whose lease expired long ago because the ledger is unreachable. Later heartbeats
    /// repeat the term with its final checkpoint, so that the checkpoint is not lost.
    pub(super) fn abandon(&mut self, now: u64, common: &mut Common, host: &mut dyn Host) {
        let ReplicaRole::Owning(owner) = &self.role else { return };
        if !owner.serves() || now <= common.lease.until().saturating_add(self.settings.abandon) {
            return;
        }
        let (epoch, position) = (owner.epoch(), owner.position());
        let (shard, clock) = (self.settings.shard, host.finish(self.settings.shard, now));
        let term = TermRecord { shard, epoch, committed: position.n, clock };
        self.former = Some(term.clone());
        self.abandoned = Some((term, now));
        self.emit(ShardEvent::TermEnded { epoch, released: false });
        self.follow(position, common);
    }

    /// Drops the term of this node's preceding incarnation once a later epoch was claimed. The term
    /// is no longer needed, because the clock of that claim starts after every instant of the term.
    pub(super) fn drop_former_term(&mut self) {
        if let ReplicaRole::Following(follower) = &self.role
            && let Some(record) = follower.shard()
        {
            self.former.take_if(|term| term.epoch < record.epoch);
        }
    }
}
