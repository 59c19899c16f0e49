//! A node in the protocol: its lease, the last records of the other nodes, and its role in each
//! shard: follower, taker (it is taking the shard over) or owner. The driver passes requests to the
//! ledger and replies back, calls [`Member::tick`] every few milliseconds, and handles the events
//! before the next call.

mod claims;
mod common;
mod replica;
mod seen;

use bytes::Bytes;

use crate::{
    event::ShardEvent,
    host::Host,
    lease::Lease,
    member::{common::Common, replica::ShardReplica},
    outbox::{LedgerResult, OutgoingRequest, Token},
    owner::Owner,
    position::Position,
    records::BaseRecord,
    settings::Settings,
};

/// The state machine of a node. A *shard replica* is the node's role in one shard.
#[derive(Debug)]
pub struct Member {
    common: Common,
    replicas: Vec<ShardReplica>,
    /// Time of the ledger's last reply.
    heard_at: u64,
}

impl Member {
    /// Creates the member of a node that has just started. `trees[i]` is the position of shard i's
    /// tree, and whether the tree may have diverged: it may contain entries applied after the
    /// position was saved.
    pub fn new(settings: Settings, trees: &[(Position, bool)]) -> Self {
        let mut common = Common::new(&settings);
        let replicas = (0..).zip(trees).map(|(shard, (tree, may_have_diverged))| {
            let settings = Settings { shard, ..settings.clone() };
            ShardReplica::new(settings, *tree, *may_have_diverged, &mut common)
        });
        let replicas = replicas.collect();
        Self { common, replicas, heard_at: 0 }
    }

    /// Removes and returns the requests to send to the ledger.
    pub fn take_requests(&mut self) -> Vec<OutgoingRequest> {
        let mut requests = self.common.lease.take_requests();
        requests.extend(self.common.node_monitor.take_requests());
        requests.extend(self.replicas.iter_mut().flat_map(ShardReplica::take_requests));
        requests
    }

    /// Removes and returns the events since the last call, with their shards. Events of one shard
    /// are in order.
    pub fn take_events(&mut self) -> Vec<(u32, ShardEvent)> {
        let events = |replica: &mut ShardReplica| {
            let shard = replica.settings.shard;
            replica.take_events().into_iter().map(move |event| (shard, event))
        };
        self.replicas.iter_mut().flat_map(events).collect()
    }

    /// Returns the lease of this node.
    pub fn lease(&self) -> &Lease {
        &self.common.lease
    }

    /// Returns the owner state if the node owns the shard.
    pub fn owner(&self, shard: u32) -> Option<&Owner> {
        self.replica(shard)?.owner()
    }

    /// Returns the newest base, as seen before the node owned the shard.
    pub fn base(&self, shard: u32) -> Option<BaseRecord> {
        self.replica(shard)?.base
    }

    /// Returns whether a snapshot of the shard may be opened for reads at this reading of the boot
    /// clock.
    pub fn may_read(&self, shard: u32, now: u64) -> bool {
        self.replica(shard).is_some_and(ShardReplica::serves) && now < self.common.lease.until()
    }

    /// Appends an entry as the owner. Returns its number, or `None` if no entry can be taken now.
    pub fn append(&mut self, shard: u32, body: Bytes, now: u64) -> Option<u64> {
        self.with(shard, |replica, _| replica.append(body, now)).flatten()
    }

    /// Sends a heartbeat immediately, because the state of a shard's clock has changed.
    pub fn hurry(&mut self, now: u64) {
        self.common.lease.hurry(now);
    }

    /// Makes the node leave a free shard to other nodes until this reading of the boot clock.
    pub fn defer_claim(&mut self, shard: u32, until: u64) {
        self.with(shard, |replica, _| replica.defers_until = until);
    }

    /// Makes the node claim the shard as soon as it is free, regardless of an earlier
    /// `defer_claim`.
    pub fn claim_first(&mut self, shard: u32, now: u64) {
        self.with(shard, |replica, _| replica.claim_first(now));
        self.refresh(shard, now);
    }

    /// Reads the shard and the node records immediately, for callers that expect a change.
    pub fn refresh(&mut self, shard: u32, now: u64) {
        self.with(shard, |replica, common| {
            common.node_monitor.refresh(now);
            replica.refresh(now);
        });
    }

    /// Stops accepting entries and releases the shard once all are committed.
    pub fn hand_over(&mut self, shard: u32) {
        self.with(shard, |replica, _| replica.hand_over());
    }

    /// Suspends a shard whose tree cannot apply further entries. An owner releases the shard once
    /// all entries that it has appended are committed. Until then the lease is not renewed, so that
    /// other nodes can take the shard over even if the release fails.
    pub fn suspend(&mut self, shard: u32, now: u64, host: &mut dyn Host) {
        self.with(shard, |replica, common| replica.suspend(now, common, host));
    }

    /// Resumes a suspended shard whose tree was reopened at this position; `may_have_diverged` is
    /// whether the tree may contain later entries. The node follows the shard as after startup. If
    /// it still owns the shard, it follows once the term has ended.
    pub fn resume(&mut self, shard: u32, tree: Position, may_have_diverged: bool) {
        self.with(shard, |replica, common| replica.resume(tree, may_have_diverged, common));
    }

    /// Enqueues the requests to the ledger that are due at this boot clock.
    pub fn tick(&mut self, now: u64, host: &mut dyn Host) {
        let Self { common, replicas, .. } = self;
        replicas.iter_mut().for_each(ShardReplica::drop_former_term);
        if replicas.iter().all(ShardReplica::permits_renewal) {
            let terms = || replicas.iter().filter_map(|replica| replica.term(now, host)).collect();
            common.lease.tick(now, terms);
        }
        common.node_monitor.tick(now);
        for replica in replicas {
            replica.tick(now, common, host);
        }
    }

    /// Passes a reply to the state machine that sent the request.
    pub fn handle_reply(
        &mut self,
        token: Token,
        answer: LedgerResult,
        now: u64,
        host: &mut dyn Host,
    ) {
        let machine = token.machine();
        if answer.is_ok() {
            self.heard_at = now;
        }
        let Self { common, replicas, .. } = self;
        if machine == common.lease_machine {
            if let Some(event) = common.lease.handle_reply(token, answer, now) {
                replicas
                    .iter_mut()
                    .for_each(|replica| replica.handle_lease_event(&event, now, common));
            }
        } else if machine == common.node_monitor_machine {
            if common.node_monitor.handle_reply(token, answer, now) {
                replicas.iter_mut().for_each(|replica| replica.handle_node_records(now, common));
            }
        // A reply to any other state machine is ignored: the machine no longer exists.
        } else if let Some(replica) =
            replicas.iter_mut().find(|replica| replica.machine() == machine)
        {
            replica.handle_reply((token, answer), now, common, host);
        }
    }

    fn replica(&self, shard: u32) -> Option<&ShardReplica> {
        self.replicas.get(usize::try_from(shard).ok()?)
    }

    /// Calls `act` with a replica; returns `None` if the shard does not exist.
    fn with<T>(
        &mut self,
        shard: u32,
        act: impl FnOnce(&mut ShardReplica, &mut Common) -> T,
    ) -> Option<T> {
        let replica = self.replicas.get_mut(usize::try_from(shard).ok()?)?;
        Some(act(replica, &mut self.common))
    }
}
