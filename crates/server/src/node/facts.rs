//! What a node knows of itself and of the cluster: who it is, what it is to a shard, and what the
//! others said last. All parts of the node share it; nothing here changes anything.

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

use super::{about::About, standing::Standing};

/// A ledger that has not answered for so long is not reached.
const SILENCE: Duration = Duration::from_secs(5);

/// An entry that has waited for so long to be committed makes its owner unready.
const WAITS_LONG: Duration = Duration::from_secs(3);

/// A node whose beat stood still for so long is silent, and then down.
const SILENT: Duration = Duration::from_secs(3);
const DOWN: Duration = Duration::from_secs(10);

/// For how long a node that was seen to run twice counts as one that does.
const DOUBLED: Duration = Duration::from_secs(60);

/// The MongoDB API, where homes of databases are found.
pub(super) const MONGODB: &str = "mongodb";
/// The NoSQL API, the same.
pub(super) const NOSQL: &str = "nosql";

/// What is counted since the start, and measured now.
#[derive(Debug, Default)]
pub(super) struct Counts {
    /// Times in which this node became the owner.
    pub(super) terms: AtomicU64,
    /// Connections and requests that were passed on.
    pub(super) passed: AtomicU64,
    /// The same that came from other nodes.
    pub(super) received: AtomicU64,
    /// By how many milliseconds the wall clock is ahead of the cluster's; 0 where that is little.
    pub(super) off_ms: AtomicI64,
}

/// What a node knows, for whoever has to do with one of its shards.
#[derive(Clone)]
pub(super) struct Facts {
    /// Which shard.
    pub(super) number: u32,
    /// The node's store of it.
    pub(super) shard: Arc<SharedShard>,
    pub(super) cluster: Arc<ClusterRecord>,
    pub(super) node: Uuid,
    pub(super) about: Arc<About>,
    pub(super) view: watch::Receiver<View>,
    /// What the node is to the shard.
    pub(super) role: watch::Receiver<Role>,
    pub(super) counts: Arc<Counts>,
}

/// The node that owns the data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Owner {
    pub(super) node: Uuid,
    pub(super) epoch: u64,
    /// Where the link to it is.
    pub(super) peer: String,
}

/// Whether a node lives, by its record and the age of its beat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LifeState {
    /// It beats.
    Up,
    /// It has not beaten for longer than its lease: others may take over what it owns.
    Silent,
    /// It has not for long, or its lease was ended by another node.
    Down,
}

impl LifeState {
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

    /// As people read it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Silent => "silent",
            Self::Down => "down",
        }
    }
}

impl Facts {
    /// The same about another shard, for which nothing is counted yet.
    pub(super) fn of_shard(&self, number: u32, shard: Arc<SharedShard>) -> Self {
        let (role, counts) = (shard.role(), Arc::default());
        Self { number, role, shard, counts, ..self.clone() }
    }

    /// Which databases of the MongoDB API have their home in the shard; `None`: all.
    pub(super) fn is_home(&self) -> Option<IsHome> {
        let (number, shards) = (self.number, self.cluster.shards);
        let home = move |database: &str| home_shard(MONGODB, database, shards);
        (1 < shards).then(|| IsHome::new(move |database| home(database) == number))
    }

    /// Which of the shards it is, for the NoSQL API.
    pub(super) fn nosql_shard(&self) -> cosmos::Shard {
        cosmos::Shard { number: self.number, count: self.cluster.shards.max(1) }
    }

    /// What this node sees of the cluster, as a copy: whoever looked twice while it held the lock of the
    /// first look would wait for a writer that waits for him.
    pub(super) fn seen(&self) -> View {
        self.view.borrow().clone()
    }

    /// What it sees of the shard.
    pub(super) fn seen_shard(&self) -> ShardView {
        self.view.borrow().shard(self.number)
    }

    /// The owner, if it is another node.
    pub(super) fn other_owner(&self) -> Option<Owner> {
        let view = self.seen();
        let (node, epoch) = view.owner(self.number).filter(|(node, _)| *node != self.node)?;
        let record = view.nodes.iter().find(|record| record.node == node)?;
        let peer = About::decode(&record.about).peer;
        (!peer.is_empty()).then_some(Owner { node, epoch, peer })
    }

    /// How long ago the ledger answered.
    fn silent_for(&self) -> Duration {
        since(self.seen().heard_at)
    }

    /// Where the link to a node is; `None`: the node is not known, or its record cannot be read.
    pub(super) fn peer_of(&self, node: Uuid) -> Option<String> {
        let view = self.seen();
        let record = view.nodes.iter().find(|record| record.node == node)?;
        let peer = About::decode(&record.about).peer;
        (!peer.is_empty()).then_some(peer)
    }

    /// What people call a node; its id where it is not known.
    pub(super) fn name_of(&self, node: Uuid) -> String {
        let view = self.seen();
        let record = view.nodes.iter().find(|record| record.node == node);
        let name = record.map(|record| About::decode(&record.about).name);
        name.filter(|name| !name.is_empty()).unwrap_or_else(|| node.to_string())
    }

    /// Nodes as which two processes run, on a data directory and on a copy of it.
    pub(super) fn doubled(&self) -> Vec<Uuid> {
        let view = self.seen();
        let recent = view.doubled.iter().filter(|(_, at)| since(**at) < DOUBLED);
        recent.map(|(node, _)| *node).collect()
    }

    /// Whether a node lives; `None`: it is not known, or was forgotten.
    pub(super) fn node_state(&self, node: Uuid) -> Option<LifeState> {
        let view = self.seen();
        let record = view.nodes.iter().find(|record| record.node == node)?;
        Some(LifeState::of(record, beat_age(&view, node)))
    }

    /// Why the owner is not ready, as a phrase: its oldest entry waits for long to be committed.
    pub(super) fn why_waiting(&self) -> Option<String> {
        let waits = self.seen_shard().waits_since.map(since)?;
        (WAITS_LONG < waits).then(|| {
            let seconds = waits.as_secs();
            format!("lag: the oldest write waits for Cassandra for {seconds} s")
        })
    }

    /// Whether the ledger answers.
    pub(super) fn hears(&self) -> bool {
        self.silent_for() < SILENCE
    }

    /// Whether its wall clock is far from the cluster's.
    pub(super) fn is_off(&self) -> bool {
        self.counts.off_ms.load(Ordering::Relaxed) != 0
    }

    /// Whether it has looked at the nodes since it came in.
    pub(super) fn has_looked(&self) -> bool {
        self.seen().nodes.iter().any(|record| record.node == self.node)
    }

    /// Entries that are committed and not applied here yet.
    pub(super) fn lag(&self) -> u64 {
        let seen = self.seen_shard();
        seen.committed.saturating_sub(seen.applied)
    }

    /// Why a node that does not serve is not ready to follow, as a phrase that begins
    /// with the word of a check; `None`: it is caught up.
    pub(super) fn why_unready(&self) -> Option<String> {
        match &*self.role.borrow() {
            Role::Following => {}
            Role::Opened { .. } | Role::Serving { .. } => {
                return Some("replay: the node is taking over".to_owned());
            }
            Role::Failed(why) => return Some(format!("lag: the node cannot follow: {why}")),
        }
        if !self.hears() {
            return Some("lag: Cassandra does not answer".to_owned());
        }
        if self.doubled().contains(&self.node) {
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
        // An owner goes on committing while this one reads: a little lag is usual.
        (1_000 < lag).then(|| format!("lag: {lag} entries behind the owner"))
    }

    /// The epoch in which it may serve now.
    pub(super) fn serving(&self) -> Option<u64> {
        match &*self.role.borrow() {
            Role::Serving { epoch } => Some(*epoch),
            Role::Following | Role::Opened { .. } | Role::Failed(_) => None,
        }
    }

    /// What the node is to the shard, in a word.
    pub(super) fn role_word(&self) -> &'static str {
        match &*self.role.borrow() {
            Role::Following => "follower",
            Role::Opened { .. } => "taking over",
            Role::Serving { .. } => "owner",
            Role::Failed(_) => "failed",
        }
    }

    /// Where the link to all nodes but this one is.
    pub(super) fn other_peers(&self) -> Vec<(Uuid, String)> {
        let view = self.seen();
        let others = view.nodes.iter().filter(|record| record.node != self.node);
        others.map(|record| (record.node, About::decode(&record.about).peer)).collect()
    }

    /// The cluster as this node sees it, with what nodes say of themselves.
    pub(super) fn to_json(&self, standings: &BTreeMap<Uuid, Standing>) -> Value {
        let view = self.seen();
        let shown = |node: Uuid| {
            let record = view.nodes.iter().find(|record| record.node == node);
            record.map_or_else(|| node.to_string(), |record| About::decode(&record.about).name)
        };
        let doubled = self.doubled();
        let committed: Vec<u64> = view.shards.iter().map(|shard| shard.committed).collect();
        let nodes = view.nodes.iter().map(|record| {
            let standing = standings.get(&record.node);
            let behind = standing.map(|standing| standing.behind(&committed));
            let mut node = node_json(record, beat_age(&view, record.node), behind);
            node["runs_twice"] = json!(doubled.contains(&record.node));
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

/// Finds a node by its name or its id.
pub(super) fn node_called(view: &View, name: &str) -> Option<Uuid> {
    let is_it = |record: &&NodeRecord| {
        record.node.to_string() == name || About::decode(&record.about).name == name
    };
    view.nodes.iter().find(is_it).map(|record| record.node)
}

/// How long ago something was, by the boot clock.
fn since(at: u64) -> Duration {
    let now = u64::try_from(Machine.boot_ns()).unwrap_or(0);
    Duration::from_nanos(now.saturating_sub(at))
}

/// How long a node's beat stands still.
fn beat_age(view: &View, node: Uuid) -> Duration {
    view.beats.get(&node).map_or(Duration::ZERO, |at| since(*at))
}

fn node_json(record: &NodeRecord, age: Duration, behind: Option<u64>) -> Value {
    let about = About::decode(&record.about);
    json!({
        "name": about.name,
        "id": record.node.to_string(),
        "state": LifeState::of(record, age).word(),
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
            (NodeState::Up, 0, LifeState::Up),
            (NodeState::Up, 2, LifeState::Up),
            (NodeState::Up, 3, LifeState::Silent),
            (NodeState::Up, 9, LifeState::Silent),
            (NodeState::Up, 10, LifeState::Down),
            (NodeState::Fenced, 0, LifeState::Down),
        ] {
            let found = LifeState::of(&record(state), Duration::from_secs(seconds));
            assert_eq!(found, expected, "{state:?}, {seconds} s");
        }
    }
}
