//! The records of the other nodes as a node has last read them, and when, by this node's boot
//! clock, each heartbeat was first seen. No wall clock is involved.

use std::collections::BTreeMap;

use uuid::Uuid;

use crate::{
    lease::Lease,
    outbox::{LedgerResult, Outbox, OutgoingRequest, Token},
    records::{NodeRecord, NodeState, Phase, ShardRecord, TermRecord},
    request::{Reply, Request},
    settings::Settings,
};

/// Maximum number of incarnations per node for which the time of the first sighting is kept.
const INCARNATIONS_MAX: usize = 256;

/// A node as last seen.
#[derive(Clone, Debug)]
pub(crate) struct ObservedNode {
    pub(crate) record: NodeRecord,
    /// Time at which the node's last heartbeat, or the start of its incarnation, was first seen.
    pub(crate) beat_at: u64,
    /// Time at which the checkpoint of each shard's clock in the record was first seen, by shard.
    checkpoints: BTreeMap<u32, ObservedCheckpoint>,
    /// Time at which each of the latest incarnations was first seen.
    pub(crate) incarnations: BTreeMap<u64, u64>,
    /// Identity of the data directory from which the node ran before the current one.
    location_before: Option<Vec<u8>>,
    /// Time at which the node returned to a directory that it had used before the current one. That
    /// means that two processes run with its id, on a directory and on a copy, and keep ending each
    /// other's incarnations.
    duplicated_at: Option<u64>,
}

/// The time at which a checkpoint was first seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ObservedCheckpoint {
    at: u64,
    /// Whether this node had already read an earlier checkpoint or record of the same writer. If
    /// so, the checkpoint was made shortly before `at`; otherwise its age is unknown.
    renewed: bool,
}

/// The reason why a shard may be claimed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ClaimReason {
    /// The owner's lease cannot be valid: the shard was released, the owner was fenced, or the
    /// owner is an incarnation of this node.
    Now,
    /// The owner has been silent for so long that it may be fenced.
    Silent {
        node: Uuid,
        incarnation: u64,
        /// The owner's last heartbeat number.
        beat: u64,
    },
}

/// The state machine that reads the node records.
#[derive(Debug)]
pub(crate) struct NodeMonitor {
    settings: Settings,
    outbox: Outbox,
    pending: Option<Token>,
    due: u64,
    nodes: BTreeMap<Uuid, ObservedNode>,
    /// The last term of each shard in any record, when its checkpoint was first seen, and whether
    /// it was seen being renewed. Kept separately because an owner that has released a shard drops
    /// the term.
    last_terms: BTreeMap<u32, (TermRecord, u64, bool)>,
}

impl NodeMonitor {
    pub(crate) fn new(settings: Settings, machine: u64) -> Self {
        let outbox = Outbox::new(machine);
        let (nodes, last_terms) = (BTreeMap::new(), BTreeMap::new());
        Self { settings, outbox, pending: None, due: 0, nodes, last_terms }
    }

    pub(crate) fn take_requests(&mut self) -> Vec<OutgoingRequest> {
        self.outbox.take()
    }

    /// Requests the node records immediately instead of at the next interval.
    pub(crate) fn refresh(&mut self, now: u64) {
        self.due = now;
    }

    /// Reads the node records if due.
    pub(crate) fn tick(&mut self, now: u64) {
        if self.pending.is_none() && self.due <= now {
            self.due = now + self.settings.nodes;
            self.pending = Some(self.outbox.enqueue(Request::ReadNodes));
        }
    }

    /// Processes a reply; returns true if anything changed.
    pub(crate) fn handle_reply(&mut self, token: Token, answer: LedgerResult, now: u64) -> bool {
        if self.pending != Some(token) {
            return false;
        }
        self.pending = None;
        let Ok(Reply::Nodes(records)) = answer else { return false };
        let mut new = false;
        for record in records {
            new |= self.record(record, now);
        }
        new
    }

    /// Stores a record, unless it is older than the one last seen. Returns whether it is new.
    fn record(&mut self, record: NodeRecord, now: u64) -> bool {
        let Some(seen) = self.nodes.get_mut(&record.node) else {
            let incarnations = BTreeMap::from([(record.incarnation, now)]);
            let first = ObservedCheckpoint { at: now, renewed: false };
            let checkpoints = record.terms.iter().map(|term| (term.shard, first)).collect();
            let (location_before, duplicated_at) = (None, None);
            let beat_at = now;
            let seen = ObservedNode {
                beat_at,
                checkpoints,
                incarnations,
                location_before,
                duplicated_at,
                record,
            };
            record_terms(&mut self.last_terms, &seen);
            self.nodes.insert(seen.record.node, seen);
            return true;
        };
        let age = |record: &NodeRecord| {
            let is_fenced = record.state == NodeState::Fenced;
            (record.incarnation, record.beat, is_fenced, record.is_forgotten())
        };
        let (before, after) = (age(&seen.record), age(&record));
        if after <= before {
            return false;
        }
        if before.0 < after.0 {
            seen.incarnations.insert(after.0, now);
            if INCARNATIONS_MAX < seen.incarnations.len() {
                seen.incarnations.pop_first();
            }
        }
        if (before.0, before.1) < (after.0, after.1) {
            seen.beat_at = now;
        }
        let (from, to) = (&seen.record, &record);
        let places = [from, to].map(|record| self.settings.location(&record.about).to_vec());
        if let [from, to] = places
            && from != to
            && !record.is_forgotten()
        {
            if seen.location_before.as_ref() == Some(&to) {
                seen.duplicated_at = Some(now);
            }
            seen.location_before = Some(from);
        }
        let checkpoints = record.terms.iter().map(|term| {
            // A later incarnation repeats the terms that it found in the record, which renews no
            // checkpoint.
            let checkpoint = |term: &TermRecord| (term.epoch, term.clock.clone());
            let known = of_shard(&seen.record, term.shard).map(checkpoint);
            let same =
                seen.checkpoints.get(&term.shard).filter(|_| known == Some(checkpoint(term)));
            (term.shard, same.copied().unwrap_or(ObservedCheckpoint { at: now, renewed: true }))
        });
        seen.checkpoints = checkpoints.collect();
        seen.record = record;
        record_terms(&mut self.last_terms, seen);
        true
    }

    /// Returns all node records as last seen.
    pub(crate) fn records(&self) -> impl Iterator<Item = &NodeRecord> {
        self.nodes.values().map(|seen| &seen.record)
    }

    /// Returns when the last heartbeat of each node was first seen.
    pub(crate) fn beats(&self) -> impl Iterator<Item = (Uuid, u64)> {
        self.nodes.iter().map(|(node, seen)| (*node, seen.beat_at))
    }

    /// Returns the nodes whose id two processes use, each with the time at which this was last
    /// noticed.
    pub(crate) fn duplicates(&self) -> impl Iterator<Item = (Uuid, u64)> {
        self.nodes.iter().filter_map(|(node, seen)| Some((*node, seen.duplicated_at?)))
    }

    /// Returns the terms of all nodes.
    pub(crate) fn terms(&self) -> impl Iterator<Item = &TermRecord> {
        self.nodes.values().flat_map(|seen| &seen.record.terms)
    }

    /// Returns the owner's last term, when its checkpoint was first seen, and whether it was seen
    /// being renewed.
    pub(crate) fn last_beat(&self, shard: &ShardRecord) -> Option<(TermRecord, u64, bool)> {
        let last = self.last_terms.get(&shard.shard);
        last.filter(|(term, ..)| term.epoch == shard.epoch).cloned()
    }

    /// Returns why a node with this lease, which does not own the shard, may claim the shard now;
    /// `None` if it may not.
    pub(crate) fn claim_reason(
        &self,
        shard: &ShardRecord,
        lease: &Lease,
        now: u64,
    ) -> Option<ClaimReason> {
        let incarnation = lease.incarnation();
        if shard.phase == Phase::Released {
            return Some(ClaimReason::Now);
        }
        let seen = self.nodes.get(&shard.node);
        if shard.node == self.settings.node {
            // The record of the new incarnation must have been read, since it has the last
            // checkpoint of the former one.
            let former =
                shard.incarnation < incarnation && lease.had_incarnation(shard.incarnation);
            let after = seen.is_some_and(|seen| shard.incarnation < seen.record.incarnation);
            // Whether a claim of this incarnation was applied late, after the state machine had
            // given it up.
            let present = shard.incarnation == incarnation;
            if former && after || present {
                return Some(ClaimReason::Now);
            }
        }
        let silence = self.settings.silence();
        let seen = seen?;
        let record = &seen.record;
        if shard.incarnation < record.incarnation {
            let mut later = seen.incarnations.range(shard.incarnation + 1..);
            let (_, first_seen) = later.next()?;
            return (first_seen + silence <= now).then_some(ClaimReason::Now);
        }
        if record.incarnation < shard.incarnation {
            return None;
        }
        // An operator may remove a node that is alive: until its last heartbeat is old enough it
        // may still serve reads.
        let is_silent = seen.beat_at + silence <= now;
        if record.state == NodeState::Fenced {
            return (is_silent || !record.is_forgotten()).then_some(ClaimReason::Now);
        }
        let (node, incarnation, beat) = (record.node, record.incarnation, record.beat);
        let silent = ClaimReason::Silent { node, incarnation, beat };
        is_silent.then_some(silent)
    }
}

/// Returns the term of a shard in a node record.
fn of_shard(record: &NodeRecord, shard: u32) -> Option<&TermRecord> {
    record.terms.iter().find(|term| term.shard == shard)
}

/// Merges the terms of a record into `kept`, except terms older than the known epoch.
fn record_terms(kept: &mut BTreeMap<u32, (TermRecord, u64, bool)>, seen: &ObservedNode) {
    for term in &seen.record.terms {
        let is_older = |(kept, ..): &(TermRecord, u64, bool)| term.epoch < kept.epoch;
        let checkpoint = seen.checkpoints.get(&term.shard);
        if let Some(checkpoint) = checkpoint
            && !kept.get(&term.shard).is_some_and(is_older)
        {
            kept.insert(term.shard, (term.clone(), checkpoint.at, checkpoint.renewed));
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn record(incarnation: u64, beat: u64, clock: &'static [u8]) -> NodeRecord {
        let clock = Bytes::from_static(clock);
        NodeRecord {
            node: Uuid::nil(),
            incarnation,
            beat,
            state: NodeState::Up,
            about: Bytes::new(),
            terms: vec![TermRecord { shard: 0, epoch: 3, committed: 0, clock }],
        }
    }

    fn shard(incarnation: u64) -> ShardRecord {
        ShardRecord {
            shard: 0,
            epoch: 3,
            claim: Uuid::nil(),
            node: Uuid::nil(),
            incarnation,
            phase: Phase::Open,
            opened: 3,
            ends: Vec::new(),
            clock: Bytes::new(),
            bases: Vec::new(),
        }
    }

    /// A node that fences an owner has waited for the end of the owner's lease. An operator who
    /// removes an owner may not have waited, so the claiming node has to wait.
    #[test]
    fn the_shard_of_a_forgotten_node_is_free_once_it_was_silent_for_a_lease() {
        let settings = Settings::new(Uuid::nil(), 0, Uuid::from_u128(1), Bytes::new());
        let silence = settings.silence();
        let lease = Lease::new(settings.clone(), 2);
        let up = NodeRecord { about: Bytes::from_static(b"there"), ..record(1, 7, b"a") };
        let fenced = NodeRecord { state: NodeState::Fenced, ..up.clone() };
        let forgotten = NodeRecord { about: Bytes::new(), ..fenced.clone() };
        for (then, at_once, later) in [
            (up.clone(), None, None),
            (fenced.clone(), Some(ClaimReason::Now), Some(ClaimReason::Now)),
            (forgotten.clone(), None, Some(ClaimReason::Now)),
        ] {
            let mut node_monitor = NodeMonitor::new(settings.clone(), 1);
            assert!(node_monitor.record(up.clone(), 10));
            node_monitor.record(then, 20);
            assert_eq!(node_monitor.claim_reason(&shard(1), &lease, 20), at_once);
            assert_eq!(node_monitor.claim_reason(&shard(1), &lease, 9 + silence), at_once);
            let found = node_monitor.claim_reason(&shard(1), &lease, 10 + silence);
            let silent = ClaimReason::Silent { node: Uuid::nil(), incarnation: 1, beat: 7 };
            assert_eq!(found, Some(later.unwrap_or(silent)));
        }
        // The removal of a fenced node is seen as a change, and so is its return.
        let mut node_monitor = NodeMonitor::new(settings, 1);
        let back = NodeRecord { incarnation: 2, ..up };
        for (record, is_new) in [(&fenced, true), (&forgotten, true), (&fenced, false)] {
            assert_eq!(node_monitor.record(record.clone(), 10), is_new);
        }
        assert!(node_monitor.records().all(NodeRecord::is_forgotten));
        assert!(node_monitor.record(back.clone(), 20));
        assert!(node_monitor.records().eq([&back]));
    }

    /// A node's data directory may move to another machine once. Two processes that run on a
    /// directory and on its copy alternate between the two.
    #[test]
    fn a_node_that_runs_on_a_copied_directory_too_is_noticed() {
        let mut settings = Settings::new(Uuid::nil(), 0, Uuid::from_u128(1), Bytes::new());
        settings.place_bytes = 1;
        let mut node_monitor = NodeMonitor::new(settings, 1);
        for (at, incarnation, about, expected) in [
            (10, 1, "A", None),
            (20, 2, "A", None),
            (30, 3, "B", None),
            (40, 4, "B more", None),
            (50, 5, "A", Some(50)),
            (60, 6, "B", Some(60)),
            (70, 7, "C", Some(60)),
        ] {
            let about = Bytes::from_static(about.as_bytes());
            node_monitor.record(NodeRecord { about, ..record(incarnation, 0, b"a") }, at);
            assert_eq!(node_monitor.duplicates().next().map(|(_, at)| at), expected, "{at}");
        }
    }

    /// If a node has read a checkpoint but seen no renewal of it, the age of the checkpoint is
    /// unknown, even if another incarnation repeats it.
    #[test]
    fn a_checkpoint_is_as_old_as_its_renewal_or_nobody_knows() {
        let settings = Settings::new(Uuid::nil(), 0, Uuid::from_u128(1), Bytes::new());
        let mut node_monitor = NodeMonitor::new(settings, 1);
        let shard = shard(1);
        for (at, record, expected) in [
            (10, record(1, 7, b"a"), (10, false)),
            (20, record(1, 7, b"a"), (10, false)),
            // The node restarts and repeats the term that it found.
            (30, record(2, 0, b"a"), (10, false)),
            (40, record(2, 1, b"a"), (10, false)),
            (50, record(2, 2, b"b"), (50, true)),
            (60, record(2, 3, b"b"), (50, true)),
        ] {
            node_monitor.record(record, at);
            let (_, noted, alive) = node_monitor.last_beat(&shard).unwrap();
            assert_eq!((noted, alive), expected, "{at}");
        }
        // After the release the node's record no longer has the term; the last sighting is kept.
        let released = NodeRecord { terms: Vec::new(), ..record(2, 4, b"b") };
        node_monitor.record(released, 70);
        let (_, noted, alive) = node_monitor.last_beat(&shard).unwrap();
        assert_eq!((noted, alive), (50, true));
        let later = ShardRecord { epoch: 4, ..shard };
        assert_eq!(node_monitor.last_beat(&later), None);
    }
}
