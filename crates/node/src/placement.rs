//! Distribution of a cluster's shards over its nodes: an owner hands over shards that belong to
//! another node by the rule below. This is only a preference: the crate `cluster` decides
//! ownership, and a shard that its preferred node does not take keeps its owner. Shards that an
//! operator has moved stay until the set of live nodes changes.
//!
//! Every node computes the same assignment: each shard goes to the live node with the highest
//! score, a signature of node and shard, among the nodes below their share of the shards
//! (rendezvous hashing). When a node joins or leaves, few shards therefore move.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use clock::monotonic_time;
use server_base::sleep;
use tokio::sync::watch;
use uuid::Uuid;

use super::{heartbeats::Heartbeats, link::Purpose, routes::Routes};

const EVERY: Duration = Duration::from_secs(1);
/// Time for which a node has to be alive before it gets shards of other nodes.
const SETTLED: Duration = Duration::from_secs(5);
/// Pause after a hand-over of a shard, successful or not, so that a shard whose target does not
/// take it, for example because the target lags, is not handed over constantly.
const PAUSE: Duration = Duration::from_secs(60);

/// Decides which shards the node hands over or requests.
pub(super) struct Placement {
    routes: Routes,
    heartbeats: Heartbeats,
    /// Time of the last hand-over of each shard.
    moved: BTreeMap<u32, Duration>,
    /// Shards that an operator has assigned to this node, with the nodes alive at that time.
    kept: BTreeMap<u32, Vec<Uuid>>,
}

impl Placement {
    fn new(routes: Routes) -> Self {
        Self {
            routes,
            heartbeats: Heartbeats::default(),
            moved: BTreeMap::new(),
            kept: BTreeMap::new(),
        }
    }

    /// Checks the placement periodically until `stop`.
    async fn run(mut self, mut stop: watch::Receiver<bool>) {
        self.check(monotonic_time()).await;
        while sleep::has_waited(EVERY, &mut stop).await {
            self.check(monotonic_time()).await;
        }
    }

    /// Hands over at most one shard that should belong to another node.
    async fn check(&mut self, now: Duration) {
        let cluster_state = self.routes.cluster_state();
        self.heartbeats.record(&cluster_state.seen(), now);
        let living = self.heartbeats.living(now, SETTLED);
        let owners =
            assign(cluster_state.cluster.shards, &living, |node, shard| self.score(node, shard));
        for (route, owner) in self.routes.all().zip(owners) {
            let shard = route.cluster_state.number;
            let rests = self.moved.get(&shard).is_some_and(|at| now < *at + PAUSE);
            let is_kept = keeps(&mut self.kept, shard, &route.kept, &living);
            if owner != route.cluster_state.node && !rests && !is_kept && route.here().is_some() {
                self.moved.insert(shard, now);
                tracing::info!(shard, to = %owner, "moving the shard to another node");
                if !route.move_to(owner, Purpose::GoFirst).await {
                    tracing::warn!(shard, to = %owner, "no answer; the shard stays here");
                }
                return;
            }
        }
    }

    fn score(&self, node: Uuid, shard: u32) -> [u8; 32] {
        let key = &self.routes.first().dialer.key;
        key.sign(&[b"owner of a shard", node.as_bytes(), &shard.to_be_bytes()])
    }
}

/// Returns whether an operator has assigned a shard to this node and the live nodes are still the
/// same.
fn keeps(
    kept: &mut BTreeMap<u32, Vec<Uuid>>,
    shard: u32,
    is_kept: &AtomicBool,
    living: &[Uuid],
) -> bool {
    if !is_kept.load(Ordering::SeqCst) {
        kept.remove(&shard);
        return false;
    }
    let same = kept.entry(shard).or_insert_with(|| living.to_vec()) == living;
    if !same {
        kept.remove(&shard);
        is_kept.store(false, Ordering::SeqCst);
    }
    same
}

/// Assigns each shard to the node with the best score; empty if no node is alive.
fn assign<S: Ord>(shards: u32, nodes: &[Uuid], score: impl Fn(Uuid, u32) -> S) -> Vec<Uuid> {
    let part = usize::try_from(shards).unwrap_or(usize::MAX).div_ceil(nodes.len().max(1));
    let mut counts: BTreeMap<Uuid, usize> = nodes.iter().map(|node| (*node, 0)).collect();
    let mut assigned = Vec::new();
    for shard in 0..shards {
        let free = counts.iter_mut().filter(|(_, count)| **count < part);
        if let Some((node, count)) = free.max_by_key(|(node, _)| score(**node, shard)) {
            *count += 1;
            assigned.push(*node);
        }
    }
    assigned
}

/// Starts the task that places shards if there are several.
pub(super) fn start(
    routes: &Routes,
    stop: &watch::Receiver<bool>,
) -> Option<tokio::task::JoinHandle<()>> {
    let spreads = 1 < routes.cluster_state().cluster.shards;
    spreads.then(|| tokio::spawn(Placement::new(routes.clone()).run(stop.clone())))
}

#[cfg(test)]
mod tests {
    use auth::Key;

    use super::*;

    fn assigned(shards: u32, nodes: std::ops::Range<u128>) -> Vec<Uuid> {
        let key = Key::of(b"secret").unwrap();
        let nodes: Vec<_> = nodes.map(Uuid::from_u128).collect();
        assign(shards, &nodes, |node, shard| key.sign(&[node.as_bytes(), &shard.to_be_bytes()]))
    }

    #[test]
    fn every_node_gets_its_part() {
        for (shards, nodes) in [(3, 3), (7, 3), (64, 5), (2, 3), (1, 1)] {
            let owners = assigned(shards, 1..nodes + 1);
            assert_eq!(owners.len(), shards as usize);
            let part = (shards as usize).div_ceil(nodes as usize);
            for owner in &owners {
                assert!(owners.iter().filter(|other| *other == owner).count() <= part);
            }
        }
        assert!(assigned(3, 1..1).is_empty());
    }

    #[test]
    fn what_an_operator_moved_stays_until_a_node_comes_or_goes() {
        let (mut kept, is_kept) = (BTreeMap::new(), AtomicBool::new(false));
        let [one, two, three] = [1, 2, 3].map(Uuid::from_u128);
        assert!(!keeps(&mut kept, 0, &is_kept, &[one, two]));
        is_kept.store(true, Ordering::SeqCst);
        for _ in 0..3 {
            assert!(keeps(&mut kept, 0, &is_kept, &[one, two]));
        }
        assert!(!keeps(&mut kept, 0, &is_kept, &[one, two, three]));
        assert!(!keeps(&mut kept, 0, &is_kept, &[one, two]));
        // The shard is assigned again, which counts for the new set of live nodes.
        is_kept.store(true, Ordering::SeqCst);
        assert!(keeps(&mut kept, 0, &is_kept, &[one, two, three]));
        assert!(!keeps(&mut kept, 0, &is_kept, &[one, two]));
    }

    #[test]
    fn a_node_that_joins_moves_few() {
        let (before, after) = (assigned(64, 1..5), assigned(64, 1..6));
        let moved = before.iter().zip(&after).filter(|(before, after)| before != after).count();
        // A fifth of the shards has to move to the new node.
        assert!((13..30).contains(&moved), "{moved}");
    }
}
