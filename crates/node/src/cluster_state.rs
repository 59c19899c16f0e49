//! The state of a node and its view of the cluster: identity, role in a shard, and the last reports
//! of other nodes. Read-only, shared by all parts of the node.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicU64, Ordering},
    },
    time::Duration,
};

use clock::{ClockSource as _, Machine};
use cluster::{ClusterRecord, NodeRecord, NodeState, Phase, ShardView, View, home_shard};
use mongo::IsHome;
use serde_json::{Value, json};
use store_shared::{Role, SharedShard};
use tokio::sync::watch;
use uuid::Uuid;

use super::{about::NodeDescription, progress_report::ProgressReport};

/// Time without an answer after which the ledger (the cluster's data in Cassandra) counts as
/// unreachable.
const SILENCE: Duration = Duration::from_secs(5);

/// An owner becomes unready when an entry has waited this long to be committed.
const WAITS_LONG: Duration = Duration::from_secs(3);

/// A node is shown as silent after this long without a new heartbeat, and as down after [`DOWN`].
const SILENT: Duration = Duration::from_secs(3);
const DOWN: Duration = Duration::from_secs(10);

/// Time for which a node is reported as running twice (on a data directory and a copy of it) after
/// the last evidence of that.
const DUPLICATE_PERIOD: Duration = Duration::from_secs(60);

/// Name of the MongoDB API in the hash that determines the home shard of a database.
pub(super) const MONGODB: &str = "mongodb";
/// Name of the NoSQL API in the hash that determines the home shard of a database.
pub(super) const NOSQL: &str = "nosql";

/// Counters since the start, and current measurements.
#[derive(Debug, Default)]
pub(super) struct Counts {
    /// Number of times this node became the owner of the shard.
    pub(super) terms: AtomicU64,
    /// Connections and requests forwarded to other nodes.
    pub(super) passed: AtomicU64,
    /// Connections and requests forwarded from other nodes.
    pub(super) received: AtomicU64,
    /// Deviation of the wall clock from the cluster's in milliseconds; 0 if within tolerance.
    pub(super) off_ms: AtomicI64,
}

/// The view that a node has of the cluster and of one of its shards.
#[derive(Clone)]
pub(super) struct ClusterState {
    pub(super) number: u32,
    /// The node's store of the shard.
    pub(super) shard: Arc<SharedShard>,
    pub(super) cluster: Arc<ClusterRecord>,
    pub(super) node: Uuid,
    pub(super) about: Arc<NodeDescription>,
    pub(super) view: watch::Receiver<View>,
    /// The node's role in the shard.
    pub(super) role: watch::Receiver<Role>,
    pub(super) counts: Arc<Counts>,
}

/// The node that owns a shard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Owner {
    pub(super) node: Uuid,
    pub(super) epoch: u64,
    /// Address of the owner's link.
    pub(super) peer: String,
}

/// Liveness of a node, by its record and the age of its heartbeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Liveness {
    /// A recent heartbeat was seen.
    Up,
    /// The last heartbeat is older than the lease, so that other nodes may take over the node's
    /// shards.
    Silent,
    /// No heartbeat was seen for long, or another node has ended the node's lease.
    Down,
}

impl Liveness {
    fn of(record: &NodeRecord, age: Duration) -> Self {
        match record.state {
            NodeState::Fenced => Self::Down,
            NodeState::Up if age < SILENT => Self::Up,
            NodeState::Up if age < DOWN => Self::Silent,
            NodeState::Up => Self::Down,
        }
    }

    pub(super) fn is_up(self) -> bool {
        self == Self::Up
    }

    /// Returns the name of this liveness in responses.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Silent => "silent",
            Self::Down => "down",
        }
    }
}

impl ClusterState {
    /// Returns the state of the same node for another shard, with new counters.
    pub(super) fn of_shard(&self, number: u32, shard: Arc<SharedShard>) -> Self {
        let (role, counts) = (shard.role(), Arc::default());
        Self { number, role, shard, counts, ..self.clone() }
    }

    /// Returns which MongoDB databases have their home in the shard; `None` if all do.
    pub(super) fn is_home(&self) -> Option<IsHome> {
        let (number, shards) = (self.number, self.cluster.shards);
        let home = move |database: &str| home_shard(MONGODB, database, shards);
        (1 < shards).then(|| IsHome::new(move |database| home(database) == number))
    }

    /// Returns the shard's number and count, for the NoSQL API.
    pub(super) fn nosql_shard(&self) -> cosmos::Shard {
        cosmos::Shard { number: self.number, count: self.cluster.shards.max(1) }
    }

    /// Returns a copy of the node's view of the cluster. A second borrow while the first one holds
    /// its read lock could deadlock with a waiting writer.
    pub(super) fn seen(&self) -> View {
        self.view.borrow().clone()
    }

    /// Returns the shard as this node last saw it.
    pub(super) fn seen_shard(&self) -> ShardView {
        self.view.borrow().shard(self.number)
    }

    /// Returns the owner of the shard, if it is another node.
    pub(super) fn other_owner(&self) -> Option<Owner> {
        let view = self.seen();
        let (node, epoch) = view.owner(self.number).filter(|(node, _)| *node != self.node)?;
        let record = view.nodes.iter().find(|record| record.node == node)?;
        let peer = NodeDescription::decode(&record.about).peer;
        (!peer.is_empty()).then_some(Owner { node, epoch, peer })
    }

    /// Returns how long ago the ledger answered.
    fn silent_for(&self) -> Duration {
        since(self.seen().heard_at)
    }

    /// Returns the link address of a node; `None` if unknown.
    pub(super) fn peer_of(&self, node: Uuid) -> Option<String> {
        let view = self.seen();
        let record = view.nodes.iter().find(|record| record.node == node)?;
        let peer = NodeDescription::decode(&record.about).peer;
        (!peer.is_empty()).then_some(peer)
    }

    /// Returns a node's display name, or its id.
    pub(super) fn name_of(&self, node: Uuid) -> String {
        let view = self.seen();
        let record = view.nodes.iter().find(|record| record.node == node);
        let name = record.map(|record| NodeDescription::decode(&record.about).name);
        name.filter(|name| !name.is_empty()).unwrap_or_else(|| node.to_string())
    }

    /// Returns the nodes that run twice, on a data directory and a copy of it.
    pub(super) fn duplicates(&self) -> Vec<Uuid> {
        let view = self.seen();
        let recent = view.duplicates.iter().filter(|(_, at)| since(**at) < DUPLICATE_PERIOD);
        recent.map(|(node, _)| *node).collect()
    }

    /// Returns whether a node is alive; `None` if it is unknown or forgotten.
    pub(super) fn node_state(&self, node: Uuid) -> Option<Liveness> {
        let view = self.seen();
        let record = view.nodes.iter().find(|record| record.node == node)?;
        Some(Liveness::of(record, beat_age(&view, node)))
    }

    /// Returns why the owner is not ready: its oldest entry has waited too long to be committed.
    /// `None` if none has.
    pub(super) fn why_waiting(&self) -> Option<String> {
        let waits = self.seen_shard().waits_since.map(since)?;
        (WAITS_LONG < waits).then(|| {
            let seconds = waits.as_secs();
            format!("lag: the oldest write has waited for Cassandra for {seconds} s")
        })
    }

    /// Returns whether the ledger answers.
    pub(super) fn reaches_ledger(&self) -> bool {
        self.silent_for() < SILENCE
    }

    /// Returns whether this node's wall clock deviates from the cluster's time.
    pub(super) fn has_clock_skew(&self) -> bool {
        self.counts.off_ms.load(Ordering::Relaxed) != 0
    }

    /// Returns whether this node has read the node records since it joined.
    pub(super) fn has_read_nodes(&self) -> bool {
        self.seen().nodes.iter().any(|record| record.node == self.node)
    }

    /// Returns the number of committed entries that this node has not applied yet.
    pub(super) fn lag(&self) -> u64 {
        let seen = self.seen_shard();
        seen.committed.saturating_sub(seen.applied)
    }

    /// Returns why a node that does not serve is not ready as a follower, as a phrase prefixed by
    /// the name of a check; `None` if it is caught up.
    pub(super) fn why_unready(&self) -> Option<String> {
        match &*self.role.borrow() {
            Role::Following => {}
            Role::Opened { .. } | Role::Serving { .. } => {
                return Some("replay: the node is taking over".to_owned());
            }
            Role::Failed(why) => return Some(format!("lag: the node cannot follow: {why}")),
        }
        if !self.reaches_ledger() {
            return Some("lag: Cassandra does not answer".to_owned());
        }
        if self.duplicates().contains(&self.node) {
            return Some("lag: another process runs on a copy of this data directory".to_owned());
        }
        let off_ms = self.counts.off_ms.load(Ordering::Relaxed);
        if off_ms != 0 {
            return Some(format!("clock: the wall clock is {off_ms} ms ahead of the cluster's"));
        }
        let lag = self.lag();
        if self.seen_shard().owner.is_none() {
            return Some("lag: no node owns the data".to_owned());
        }
        // The owner keeps committing during the check, so a small lag is normal.
        (1_000 < lag).then(|| format!("lag: {lag} entries behind the owner"))
    }

    /// Returns the epoch in which this node may serve the shard now; `None` if it may not.
    pub(super) fn serving(&self) -> Option<u64> {
        match &*self.role.borrow() {
            Role::Serving { epoch } => Some(*epoch),
            Role::Following | Role::Opened { .. } | Role::Failed(_) => None,
        }
    }

    /// Returns the name of the node's role in the shard.
    pub(super) fn role_word(&self) -> &'static str {
        match &*self.role.borrow() {
            Role::Following => "follower",
            Role::Opened { .. } => "taking over",
            Role::Serving { .. } => "owner",
            Role::Failed(_) => "failed",
        }
    }

    /// Returns the link addresses of all other nodes.
    pub(super) fn other_peers(&self) -> Vec<(Uuid, String)> {
        let view = self.seen();
        let others = view.nodes.iter().filter(|record| record.node != self.node);
        others.map(|record| (record.node, NodeDescription::decode(&record.about).peer)).collect()
    }

    /// Returns the cluster as seen by this node, with the nodes' own reports.
    pub(super) fn to_json(&self, progress_reports: &BTreeMap<Uuid, ProgressReport>) -> Value {
        let view = self.seen();
        let shown = |node: Uuid| {
            let record = view.nodes.iter().find(|record| record.node == node);
            record.map_or_else(
                || node.to_string(),
                |record| NodeDescription::decode(&record.about).name,
            )
        };
        let duplicates = self.duplicates();
        let committed: Vec<u64> = view.shards.iter().map(|shard| shard.committed).collect();
        let nodes = view.nodes.iter().map(|record| {
            let progress_report = progress_reports.get(&record.node);
            let behind = progress_report.map(|progress_report| progress_report.behind(&committed));
            let mut node = node_json(record, beat_age(&view, record.node), behind);
            node["runs_twice"] = json!(duplicates.contains(&record.node));
            node
        });
        let nodes: Vec<Value> = nodes.collect();
        let shards = view.shards.iter().filter_map(|seen| {
            let record = seen.record.as_ref()?;
            Some(json!({
                "shard": record.shard,
                "owner": seen.owner.map(|(node, _)| shown(node)),
                "epoch": seen.owner.map_or(record.epoch, |(_, epoch)| epoch),
                "phase": match (seen.owner, record.phase) {
                    (Some(_), _) | (None, Phase::Open) => "open",
                    (None, Phase::Sealing) => "sealing",
                    (None, Phase::Released) => "released",
                },
                "committed": seen.committed,
            }))
        });
        let shards: Vec<Value> = shards.collect();
        let own = view.shard(self.number);
        json!({
            "cluster": self.cluster.id.to_string(),
            "clock": self.cluster.clock,
            "node": {
                "name": self.about.name,
                "id": self.node.to_string(),
                "role": self.role_word(),
                "applied": own.applied,
                "behind": own.committed.saturating_sub(own.applied),
                "incarnation": view.incarnation,
                "cassandra_silent_ms": u64::try_from(self.silent_for().as_millis()).unwrap_or(0),
                "terms": self.counts.terms.load(Ordering::Relaxed),
                "passed_on": self.counts.passed.load(Ordering::Relaxed),
                "clock_off_ms": self.counts.off_ms.load(Ordering::Relaxed),
                "received": self.counts.received.load(Ordering::Relaxed),
            },
            "nodes": nodes,
            "shards": shards,
        })
    }
}

/// Finds a node by its name or id.
pub(super) fn node_called(view: &View, name: &str) -> Option<Uuid> {
    let is_it = |record: &&NodeRecord| {
        record.node.to_string() == name || NodeDescription::decode(&record.about).name == name
    };
    view.nodes.iter().find(is_it).map(|record| record.node)
}

/// Returns the time that has passed since `at`, a reading of the boot clock.
fn since(at: u64) -> Duration {
    let now = u64::try_from(Machine.boot_ns()).unwrap_or(0);
    Duration::from_nanos(now.saturating_sub(at))
}

/// Returns the time since the last new heartbeat of a node.
fn beat_age(view: &View, node: Uuid) -> Duration {
    view.beats.get(&node).map_or(Duration::ZERO, |at| since(*at))
}

fn node_json(record: &NodeRecord, age: Duration, behind: Option<u64>) -> Value {
    let about = NodeDescription::decode(&record.about);
    json!({
        "name": about.name,
        "id": record.node.to_string(),
        "state": Liveness::of(record, age).word(),
        "beat_age_ms": u64::try_from(age.as_millis()).unwrap_or(u64::MAX),
        "behind": behind,
        "incarnation": record.incarnation,
        "beat": record.beat,
        "peer": about.peer,
        "mongo": about.mongo,
        "cosmos": about.cosmos,
        "admin": about.admin,
        "version": about.version,
    })
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    #[test]
    fn a_node_is_up_while_its_beats_are_seen() {
        let record = |state| NodeRecord {
            node: Uuid::nil(),
            incarnation: 1,
            beat: 1,
            state,
            about: Bytes::new(),
            terms: Vec::new(),
        };
        for (state, seconds, expected) in [
            (NodeState::Up, 0, Liveness::Up),
            (NodeState::Up, 2, Liveness::Up),
            (NodeState::Up, 3, Liveness::Silent),
            (NodeState::Up, 9, Liveness::Silent),
            (NodeState::Up, 10, Liveness::Down),
            (NodeState::Fenced, 0, Liveness::Down),
        ] {
            let found = Liveness::of(&record(state), Duration::from_secs(seconds));
            assert_eq!(found, expected, "{state:?}, {seconds} s");
        }
    }
}
