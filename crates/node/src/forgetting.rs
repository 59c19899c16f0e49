//! Removal of a permanently lost node: its record is cleared, so that it is no longer listed. Only
//! for a node that owns nothing and has been silent for longer than a lease; the ledger clears the
//! record on condition that it is unchanged since.

use std::time::Duration;

use bytes::Bytes;
use cluster::{
    ClusterRecord, Ledger, NodeRecord, Phase, Reply, Request, Settings, ShardRecord, Swapped,
};
use server_base::{data_dir::Refused, failure::Failure, sleep};
use uuid::Uuid;

use super::{about::NodeDescription, ledger};

/// Maximum number of attempts of an unanswered request; [`PAUSE`] is the time between them.
const ATTEMPTS: u32 = 10;
const PAUSE: Duration = Duration::from_millis(100);

/// A node that was removed.
#[derive(Clone, Debug)]
pub struct RemovedNode {
    /// Name of the node for people.
    pub name: String,
    /// Id of the removed node.
    pub node: Uuid,
}

/// Returns how long a node has to be silent: the lease and two heartbeats.
pub(super) fn silence() -> Duration {
    let settings = Settings::new(Uuid::nil(), 0, Uuid::nil(), Bytes::new());
    Duration::from_nanos(settings.lease + 2 * settings.beat)
}

/// Removes the node with this name or id if it stays silent for `silence`.
pub(super) async fn forget<L: Ledger>(
    ledger: &L,
    cluster: &ClusterRecord,
    called: &str,
    silence: Duration,
) -> Result<RemovedNode, Failure> {
    let before = find(&nodes(ledger).await?, called)?;
    let name = shown(&before);
    sleep::wait_for(silence).await;
    let node = before.node;
    let still = nodes(ledger).await?.into_iter().find(|record| record.node == node);
    if still.is_none_or(|still| moment(&still) != moment(&before)) {
        return Err(is_alive(&name));
    }
    for shard in 0..cluster.shards {
        let record = shard_record(ledger, shard).await?;
        if record.is_some_and(|record| record.node == node && record.phase != Phase::Released) {
            return refused(format!(
                "node {name} still owns shard {shard}: another running node must take over first, \
                 which takes seconds"
            ));
        }
    }
    let (incarnation, beat) = moment(&before);
    match ask(ledger, Request::Forget { node, incarnation, beat }).await? {
        Reply::Swapped(Swapped::Done) => Ok(RemovedNode { name, node }),
        _ => Err(is_alive(&name)),
    }
}

/// Finds a node by its name or id; the error message lists the known nodes.
fn find(all: &[NodeRecord], called: &str) -> Result<NodeRecord, Failure> {
    let by_id = all.iter().find(|record| record.node.to_string() == called);
    let mut by_name =
        all.iter().filter(|record| NodeDescription::decode(&record.about).name == called);
    let found: Vec<&NodeRecord> = by_id.map_or_else(|| by_name.by_ref().collect(), |one| vec![one]);
    let list = |records: &mut dyn Iterator<Item = &NodeRecord>| {
        records.map(|record| format!("{} ({})", shown(record), record.node)).collect::<Vec<_>>()
    };
    match found.as_slice() {
        [one] => Ok((*one).clone()),
        [] if all.is_empty() => {
            refused(format!("there is no node {called}; the cluster has no nodes"))
        }
        [] => refused(format!(
            "there is no node {called}; there are {}",
            list(&mut all.iter()).join(", ")
        )),
        several => refused(format!(
            "{} nodes are called {called}; give the id of one: {}",
            several.len(),
            list(&mut several.iter().copied()).join(", ")
        )),
    }
}

/// Returns a node's display name, or its id if it has none.
fn shown(record: &NodeRecord) -> String {
    let name = NodeDescription::decode(&record.about).name;
    if name.is_empty() { record.node.to_string() } else { name }
}

/// Returns incarnation and heartbeat of a node, which change while it is alive.
fn moment(record: &NodeRecord) -> (u64, u64) {
    (record.incarnation, record.beat)
}

fn is_alive(name: &str) -> Failure {
    Failure::Refused(Refused::Unusable(format!(
        "node {name} is alive: stop it first, and wait until another node has taken over its shards"
    )))
}

fn refused<T>(why: String) -> Result<T, Failure> {
    Err(Failure::Refused(Refused::Unusable(why)))
}

/// Sends a request, which is repeated if unanswered, since all requests here are idempotent.
async fn ask<L: Ledger>(ledger: &L, request: Request) -> Result<Reply, Failure> {
    ledger::ask(ledger, request, (ATTEMPTS, PAUSE)).await.map_err(Failure::Failed)
}

async fn nodes<L: Ledger>(ledger: &L) -> Result<Vec<NodeRecord>, Failure> {
    match ask(ledger, Request::ReadNodes).await? {
        Reply::Nodes(all) => Ok(all.into_iter().filter(|node| !node.is_forgotten()).collect()),
        _ => Err(Failure::Failed("unexpected answer of the ledger".to_owned())),
    }
}

async fn shard_record<L: Ledger>(ledger: &L, shard: u32) -> Result<Option<ShardRecord>, Failure> {
    match ask(ledger, Request::ReadShardSerial { shard }).await? {
        Reply::Shard(record) => Ok(record),
        _ => Err(Failure::Failed("unexpected answer of the ledger".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed setup fails the test")]

    use std::sync::atomic::{AtomicU32, Ordering};

    use auth::Secret;
    use cluster::{LedgerFault, MemoryLedger, Unanswered};

    use super::*;

    const PLACE: &str = "0000000000000000000000000000000000000000000000000000000000000000";

    fn cluster() -> ClusterRecord {
        let (id, secret) = (Uuid::nil(), Secret::from_bytes(Vec::new()));
        let clock = "system".to_owned();
        ClusterRecord { format: 1, id, shards: 1, clock, secret }
    }

    async fn done(ledger: &MemoryLedger, request: Request) {
        let reply = ledger.execute(request).await.unwrap();
        assert_eq!(reply, Reply::Swapped(Swapped::Done));
    }

    /// Creates a ledger with nodes of these names, numbered from 1.
    async fn ledger(names: &[&str]) -> MemoryLedger {
        let ledger = MemoryLedger::new();
        for (number, name) in (1..).zip(names) {
            let about = NodeDescription { name: (*name).to_owned(), ..NodeDescription::default() }
                .encode(PLACE);
            let node = Uuid::from_u128(number);
            done(&ledger, Request::Enter { node, before: 0, about }).await;
        }
        ledger
    }

    async fn forget_now(ledger: &MemoryLedger, called: &str) -> Result<Uuid, String> {
        let forgotten = forget(ledger, &cluster(), called, Duration::ZERO).await;
        forgotten.map(|forgotten| forgotten.node).map_err(|failure| {
            assert!(matches!(failure, Failure::Refused(_)), "{failure}");
            failure.to_string()
        })
    }

    async fn names(ledger: &MemoryLedger) -> Vec<String> {
        nodes(ledger).await.unwrap().iter().map(shown).collect()
    }

    #[tokio::test]
    async fn a_node_is_forgotten_by_its_name_or_its_id_and_may_come_back() {
        let ledger = ledger(&["a", "b", "b"]).await;
        let [a, b, other] = [1, 2, 3].map(Uuid::from_u128);
        let missing = forget_now(&ledger, "c").await.unwrap_err();
        assert!(missing.contains("no node c; there are a (") && missing.contains(&b.to_string()));
        let ambiguous = forget_now(&ledger, "b").await.unwrap_err();
        for id in [b, other] {
            assert!(ambiguous.contains(&id.to_string()), "{ambiguous}");
        }
        assert!(!ambiguous.contains(&a.to_string()), "{ambiguous}");
        assert_eq!(forget_now(&ledger, &other.to_string()).await.unwrap(), other);
        assert_eq!(forget_now(&ledger, "b").await.unwrap(), b);
        assert_eq!(names(&ledger).await, ["a"]);
        forget_now(&ledger, "b").await.unwrap_err();
        // A lost reply is requested again.
        let mut lost = 0;
        ledger.set_faults(move |_| {
            lost += 1;
            if lost % 2 == 1 { LedgerFault::AnswerLost } else { LedgerFault::None }
        });
        assert_eq!(forget_now(&ledger, "a").await.unwrap(), a);
        ledger.set_faults(|_| LedgerFault::None);
        let nobody = forget_now(&ledger, "a").await.unwrap_err();
        assert!(nobody.contains("no nodes"), "{nobody}");
        // A removed node that is running learns from its next heartbeat that it was removed, and
        // joins again.
        let beat = Request::Beat { node: a, incarnation: 1, beat: 0, terms: Vec::new() };
        let refusal = ledger.execute(beat).await.unwrap();
        assert!(matches!(refusal, Reply::Swapped(Swapped::Refused(Some(_)))));
        let about = NodeDescription { name: "a again".to_owned(), ..NodeDescription::default() }
            .encode(PLACE);
        done(&ledger, Request::Enter { node: a, before: 1, about }).await;
        assert_eq!(names(&ledger).await, ["a again"]);
    }

    /// A ledger in which a node executes its own request `moved` just before the nth request.
    struct Moving {
        inner: MemoryLedger,
        moved: Request,
        left: AtomicU32,
    }

    impl Ledger for Moving {
        async fn execute(&self, request: Request) -> Result<Reply, Unanswered> {
            if self.left.fetch_sub(1, Ordering::Relaxed) == 1 {
                done(&self.inner, self.moved.clone()).await;
            }
            self.inner.execute(request).await
        }
    }

    #[tokio::test]
    async fn a_node_that_moves_is_not_forgotten() {
        let node = Uuid::from_u128(1);
        let beat = Request::Beat { node, incarnation: 1, beat: 0, terms: Vec::new() };
        let about =
            NodeDescription { name: "a".to_owned(), ..NodeDescription::default() }.encode(PLACE);
        for moved in [beat, Request::Enter { node, before: 1, about }] {
            // The node sends its request during the wait, or after the last check.
            for asked in [2, 4] {
                let (inner, moved) = (ledger(&["a"]).await, moved.clone());
                let moving = Moving { inner, moved, left: AtomicU32::new(asked) };
                let refusal = forget(&moving, &cluster(), "a", Duration::ZERO).await.unwrap_err();
                assert!(refusal.to_string().contains("a is alive: stop it first"), "{refusal}");
                assert_eq!(names(&moving.inner).await, ["a"]);
            }
        }
    }

    #[tokio::test]
    async fn the_owner_is_not_forgotten_until_another_has_the_shard() {
        let ledger = ledger(&["a", "b"]).await;
        let [a, b] = [1, 2].map(Uuid::from_u128);
        let (shard, clock) = (0, Bytes::new());
        done(&ledger, Request::MakeShard { shard }).await;
        let claim = |node: Uuid, before| {
            let (claim, clock) = (node, Bytes::new());
            Request::Claim { shard, before, claim, node, incarnation: 1, clock }
        };
        done(&ledger, claim(a, 0)).await;
        for phase in [Phase::Sealing, Phase::Open] {
            let refusal = forget_now(&ledger, "a").await.unwrap_err();
            assert!(refusal.contains("owns shard 0"), "{phase:?}: {refusal}");
            let _ = ledger.execute(Request::Open { shard, claim: a, epoch: 1, ends: vec![] }).await;
        }
        done(&ledger, claim(b, 1)).await;
        assert_eq!(forget_now(&ledger, "a").await.unwrap(), a);
        // A released shard has no owner.
        done(&ledger, Request::Open { shard, claim: b, epoch: 2, ends: vec![(1, 0)] }).await;
        forget_now(&ledger, "b").await.unwrap_err();
        done(&ledger, Request::Release { shard, claim: b, clock }).await;
        assert_eq!(forget_now(&ledger, "b").await.unwrap(), b);
    }

    #[test]
    fn it_waits_for_longer_than_others_wait_for_an_owner() {
        let settings = Settings::new(Uuid::nil(), 0, Uuid::nil(), Bytes::new());
        assert!(Duration::from_nanos(settings.lease + settings.margin) < silence());
    }
}
