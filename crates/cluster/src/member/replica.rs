//! The role of a node in one shard: follower, taker or owner. The lease under which the node owns
//! the shard, and the records of other nodes, are shared by all its replicas ([`Common`]).

use bytes::Bytes;

use super::common::Common;
use crate::{
    event::{FollowerEvent, ShardEvent},
    follower::Follower,
    host::Host,
    lease::LeaseEvent,
    outbox::{LedgerResult, OutgoingRequest, Token},
    owner::{Owner, OwnerEvent},
    position::Position,
    records::{BaseRecord, ShardRecord, TermRecord},
    settings::Settings,
    takeover::{Takeover, TakeoverEvent},
};

#[derive(Debug)]
pub(super) enum ReplicaRole {
    Following(Follower),
    Taking(Box<Takeover>),
    Owning(Owner),
}

/// A node's role in one shard, with the state that outlives a change of role.
#[derive(Debug)]
pub(super) struct ShardReplica {
    pub(super) settings: Settings,
    pub(super) role: ReplicaRole,
    /// The last term of this node, possibly of its preceding incarnation, until another node has
    /// taken the shard over.
    pub(super) former: Option<TermRecord>,
    /// The last term that ended while the ledger was unreachable, and the time at which it ended.
    /// Only this node knows the instants that were used in the term.
    pub(super) abandoned: Option<(TermRecord, u64)>,
    /// The epoch in which the shard was found free to be claimed, and since when it has been free.
    pub(super) free_since: Option<(u64, u64)>,
    pub(super) claim_due: u64,
    /// Time of the boot clock until which this node leaves a free shard to other nodes.
    pub(super) defers_until: u64,
    /// Whether the tree cannot apply entries for now, so that the replica neither reads nor claims.
    pub(super) is_suspended: bool,
    /// Whether this incarnation may own the shard, through a claim that was not released.
    pub(super) has_claimed: bool,
    /// Set by `resume` until the replica follows again: the position from which the journal will be
    /// read.
    resumes_at: Option<Position>,
    /// Whether the tree may contain entries after its recorded position.
    may_have_diverged: bool,
    /// The newest base, as seen before the node owned the shard.
    pub(super) base: Option<BaseRecord>,
    events: Vec<ShardEvent>,
    /// The shard record that the follower saw last.
    pub(super) shard: Option<ShardRecord>,
}

impl ShardReplica {
    /// Creates the replica of a node that has just started, with a tree at this position.
    pub(super) fn new(
        settings: Settings,
        tree: Position,
        may_have_diverged: bool,
        common: &mut Common,
    ) -> Self {
        let follower = Follower::new(settings.clone(), common.machine(), tree, may_have_diverged);
        Self {
            role: ReplicaRole::Following(follower),
            may_have_diverged,
            settings,
            former: None,
            abandoned: None,
            free_since: None,
            claim_due: 0,
            defers_until: 0,
            is_suspended: false,
            has_claimed: false,
            resumes_at: None,
            base: None,
            events: Vec::new(),
            shard: None,
        }
    }

    /// Removes and returns the requests to send to the ledger.
    pub(super) fn take_requests(&mut self) -> Vec<OutgoingRequest> {
        match &mut self.role {
            ReplicaRole::Following(follower) => follower.take_requests(),
            ReplicaRole::Taking(takeover) => takeover.take_requests(),
            ReplicaRole::Owning(owner) => owner.take_requests(),
        }
    }

    /// Removes and returns the events since the last call, in order.
    pub(super) fn take_events(&mut self) -> Vec<ShardEvent> {
        std::mem::take(&mut self.events)
    }

    pub(super) fn emit(&mut self, event: ShardEvent) {
        self.events.push(event);
    }

    /// Returns the number of the state machine that plays the current role.
    pub(super) fn machine(&self) -> u64 {
        match &self.role {
            ReplicaRole::Following(follower) => follower.machine(),
            ReplicaRole::Taking(takeover) => takeover.machine(),
            ReplicaRole::Owning(owner) => owner.machine(),
        }
    }

    /// Returns the owner state if the node owns the shard.
    pub(super) fn owner(&self) -> Option<&Owner> {
        if let ReplicaRole::Owning(owner) = &self.role { Some(owner) } else { None }
    }

    /// Returns whether requests may be served while the lease is valid.
    pub(super) fn serves(&self) -> bool {
        !self.is_suspended && self.resumes_at.is_none() && self.owner().is_some_and(Owner::serves)
    }

    /// Returns whether this replica permits renewing the lease. It does not while the node may own
    /// the shard but cannot serve it, so that other nodes can take it over.
    pub(super) fn permits_renewal(&self) -> bool {
        !(self.is_suspended && self.has_claimed)
    }

    /// Returns the shard's term for a heartbeat.
    pub(super) fn term(&self, now: u64, host: &mut dyn Host) -> Option<TermRecord> {
        let ReplicaRole::Owning(owner) = &self.role else { return self.former.clone() };
        let shard = self.settings.shard;
        let clock = host.checkpoint(shard, now);
        Some(TermRecord { shard, epoch: owner.epoch(), committed: owner.position().n, clock })
    }

    /// Appends an entry as the owner. Returns its number, or `None` if no entry can be taken now.
    pub(super) fn append(&mut self, body: Bytes, now: u64) -> Option<u64> {
        if let ReplicaRole::Owning(owner) = &mut self.role { owner.append(body, now) } else { None }
    }

    /// Reads the shard's record immediately, for callers that expect a change.
    pub(super) fn refresh(&mut self, now: u64) {
        if let ReplicaRole::Following(follower) = &mut self.role {
            follower.refresh(now);
        }
    }

    /// Makes the node claim the shard as soon as it is free, even if an earlier request made it
    /// wait for other nodes to claim first.
    pub(super) fn claim_first(&mut self, now: u64) {
        (self.defers_until, self.claim_due) = (0, now);
    }

    /// Stops accepting entries and releases the shard once all are committed.
    pub(super) fn hand_over(&mut self) {
        if let ReplicaRole::Owning(owner) = &mut self.role {
            owner.drain();
        }
    }

    /// Suspends the replica because its tree cannot apply further entries. An owner releases the
    /// shard once all entries that it has appended are committed.
    pub(super) fn suspend(&mut self, now: u64, common: &mut Common, host: &mut dyn Host) {
        self.is_suspended = true;
        match &mut self.role {
            ReplicaRole::Following(_) => {}
            ReplicaRole::Taking(takeover) => {
                let tree = takeover.tree();
                self.follow(tree, common);
            }
            ReplicaRole::Owning(owner) => {
                // Ends the clock, so that no further snapshot is opened for reads.
                let _ = host.finish(self.settings.shard, now);
                owner.drain();
            }
        }
    }

    /// Resumes the replica after its tree was reopened at this position; `may_have_diverged` is
    /// whether the tree may contain later entries. The replica follows the shard as after startup.
    /// If the node still owns the shard, it follows once the term has ended.
    pub(super) fn resume(&mut self, tree: Position, may_have_diverged: bool, common: &mut Common) {
        (self.is_suspended, self.may_have_diverged) = (false, may_have_diverged);
        self.resumes_at = Some(tree);
        if !matches!(self.role, ReplicaRole::Owning(_)) {
            self.follow(tree, common);
        }
    }

    /// Enqueues the requests to the ledger that are due.
    pub(super) fn tick(&mut self, now: u64, common: &mut Common, host: &mut dyn Host) {
        self.claim_if_free(now, common, host);
        self.abandon(now, common, host);
        let shard = self.settings.shard;
        match &mut self.role {
            ReplicaRole::Following(_) if self.is_suspended => {}
            ReplicaRole::Following(follower) => follower.tick(now, host.backlog(shard)),
            ReplicaRole::Taking(takeover) => takeover.tick(now),
            ReplicaRole::Owning(owner) => {
                if owner.is_drained() {
                    owner.release(host.finish(shard, now), now);
                }
                owner.tick(now);
            }
        }
    }

    /// Processes the reply to a request of the current state machine.
    pub(super) fn handle_reply(
        &mut self,
        (token, answer): (Token, LedgerResult),
        now: u64,
        common: &mut Common,
        host: &mut dyn Host,
    ) {
        match &mut self.role {
            ReplicaRole::Following(follower) => {
                let events = follower.handle_reply(token, answer, now);
                self.handle_follower_events(events);
            }
            ReplicaRole::Taking(takeover) => {
                if let Some(event) = takeover.handle_reply(token, answer, now, host) {
                    self.handle_takeover_event(event, now, common);
                }
            }
            ReplicaRole::Owning(owner) => {
                let events = owner.handle_reply(token, answer, now);
                self.handle_owner_events(events, now, common);
            }
        }
    }

    /// Notifies the replica that the node records were read.
    pub(super) fn handle_node_records(&mut self, now: u64, common: &Common) {
        if let ReplicaRole::Following(follower) = &mut self.role {
            let events = follower.record_terms(common.node_monitor.terms(), now);
            self.handle_follower_events(events);
        }
    }

    /// Becomes a follower from this position or, if it is set, from the position in `resumes_at`.
    pub(super) fn follow(&mut self, tree: Position, common: &mut Common) {
        // The saved shard record may be older than this node's own claim or release.
        self.shard = None;
        let resumes_at = self.resumes_at.take();
        self.events.extend(resumes_at.map(|_| ShardEvent::Resumed));
        let tree = resumes_at.unwrap_or(tree);
        let mut follower =
            Follower::new(self.settings.clone(), common.machine(), tree, self.may_have_diverged);
        // No need to hurry: a new follower reads at once.
        let events = follower.record_terms(common.node_monitor.terms(), 0);
        self.role = ReplicaRole::Following(follower);
        self.handle_follower_events(events);
    }

    /// Handles an event of the lease.
    pub(super) fn handle_lease_event(&mut self, event: &LeaseEvent, now: u64, common: &mut Common) {
        match event {
            LeaseEvent::Entered { terms, .. } => {
                let own = |term: &&TermRecord| term.shard == self.settings.shard;
                self.former = terms.iter().find(own).cloned();
            }
            LeaseEvent::Renewed { terms } => {
                let may = !self.is_suspended && self.resumes_at.is_none();
                if let ReplicaRole::Owning(owner) = &mut self.role
                    && may
                    && !owner.serves()
                    && terms.iter().any(|term| {
                        (term.shard, term.epoch) == (self.settings.shard, owner.epoch())
                    })
                    && owner.begin(now)
                {
                    let epoch = owner.epoch();
                    self.events.push(ShardEvent::Serving { epoch });
                }
            }
            LeaseEvent::Ended => {
                // Earlier claims belong to an ended incarnation.
                (self.former, self.has_claimed) = (None, false);
                match &self.role {
                    ReplicaRole::Following(_) => {}
                    ReplicaRole::Taking(takeover) => self.follow(takeover.tree(), common),
                    ReplicaRole::Owning(owner) => {
                        let (epoch, position) = (owner.epoch(), owner.position());
                        self.events.push(ShardEvent::TermEnded { epoch, released: false });
                        self.follow(position, common);
                    }
                }
            }
        }
    }

    fn handle_follower_events(&mut self, events: Vec<FollowerEvent>) {
        self.events.extend(events.into_iter().map(|event| match event {
            FollowerEvent::Committed { entry, position } => ShardEvent::Apply { entry, position },
            FollowerEvent::Load(base) => ShardEvent::Load(base),
            FollowerEvent::Missing(missing) => ShardEvent::Missing(missing),
            FollowerEvent::Diverged(error) => ShardEvent::Diverged(error),
            FollowerEvent::Damaged(error) => ShardEvent::Damaged(error),
        }));
    }

    fn handle_takeover_event(&mut self, event: TakeoverEvent, now: u64, common: &mut Common) {
        let ReplicaRole::Taking(takeover) = &self.role else { return };
        let mut position = takeover.tree();
        self.claim_due = now + self.settings.poll_interval;
        match event {
            TakeoverEvent::GaveUp => self.follow(position, common),
            TakeoverEvent::Missing(missing) => {
                // An operator may restore the entry, which takes time: do not retry at once.
                self.claim_due = now + self.settings.lease;
                self.events.push(ShardEvent::Missing(missing));
                self.follow(position, common);
                if let ReplicaRole::Following(follower) = &mut self.role {
                    follower.record_missing(missing);
                }
            }
            TakeoverEvent::Damaged(error) => {
                self.events.push(ShardEvent::Damaged(error));
                self.follow(position, common);
            }
            TakeoverEvent::Opened { epoch, claim, entries, lower_bounds } => {
                for (entry, behind) in entries {
                    position = behind;
                    self.events.push(ShardEvent::Apply { entry, position });
                }
                self.events.push(ShardEvent::Opened { epoch, lower_bounds });
                let settings = self.settings.clone();
                self.former = None;
                common.lease.hurry(now);
                self.role = ReplicaRole::Owning(Owner::new(
                    settings,
                    common.machine(),
                    epoch,
                    claim,
                    position,
                ));
            }
        }
    }

    fn handle_owner_events(&mut self, events: Vec<OwnerEvent>, now: u64, common: &mut Common) {
        let ReplicaRole::Owning(owner) = &self.role else { return };
        let (epoch, position) = (owner.epoch(), owner.position());
        for event in events {
            let released = match event {
                OwnerEvent::Committed { entry, position } => {
                    self.events.push(ShardEvent::Apply { entry, position });
                    continue;
                }
                OwnerEvent::Superseded => false,
                OwnerEvent::Released => true,
            };
            self.events.push(ShardEvent::TermEnded { epoch, released });
            self.has_claimed = false;
            if released {
                // A node that releases a shard lets others claim it first, as long as there are
                // any.
                self.claim_due = now + self.settings.silence();
            }
            return self.follow(position, common);
        }
    }
}
