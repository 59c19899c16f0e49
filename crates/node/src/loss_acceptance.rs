//! Recovery from a lost committed entry, after an operator has confirmed the loss.

use std::time::Duration;

use cluster::{ClusterRecord, Ledger, NodeRecord, ShardRecord};
use server_base::{data_dir::Refused, failure::Failure};
use store::{Error, Kind};
use store_shared::{Loss, LossInspection};

use super::{dump::clock_of, ledger::ledger_failure};

/// Reports the loss of a committed entry and, if `yes`, lets the shard continue without the entry.
/// An owner counts as dead after `silence` without a heartbeat.
pub(super) async fn accept_loss<L: Ledger>(
    ledger: &L,
    cluster: &ClusterRecord,
    shard: u32,
    (yes, silence): (bool, Duration),
    report: &mut (dyn FnMut(&Loss) + Send),
) -> Result<(), Failure> {
    let refused = |why: String| Err(Failure::Refused(Refused::Unusable(why)));
    if cluster.shards <= shard {
        return refused(format!("there is no shard {shard}: the cluster has {}", cluster.shards));
    }
    let loss_acceptance = LossInspection { ledger, cluster: cluster.id, shard, silence };
    let loss = loss_acceptance.find().await.map_err(ledger_failure)?;
    report(&loss);
    if !yes {
        return refused(
            "nothing was changed: repair Cassandra ('nodetool repair -full' on all nodes), and \
             start all nodes of the cluster, since a node with a longer copy has the missing \
             entries; if nothing helps, --yes continues without them"
                .to_owned(),
        );
    }
    let clock = |record: &ShardRecord, nodes: &[NodeRecord]| match clock_of(record, nodes) {
        Ok(clock) => Ok(clock.encode().into()),
        Err(failure) => Err(Error::new(Kind::Refused, failure.to_string())),
    };
    loss_acceptance.accept(&loss, clock).await.map_err(ledger_failure)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed setup fails the test")]

    use std::sync::Arc;

    use cluster::MemoryLedger;

    use super::*;
    use crate::{
        ledger::read_cluster,
        tests::{Node, ledger, start, try_start},
    };

    async fn accept(ledger: &Arc<MemoryLedger>, shard: u32, yes: bool) -> (Vec<u64>, String) {
        let record = read_cluster(&**ledger).await.unwrap();
        let mut reported = Vec::new();
        let mut report = |loss: &Loss| reported.push(loss.given_up);
        let silence = Duration::from_millis(10);
        let done = accept_loss(&**ledger, &record, shard, (yes, silence), &mut report).await;
        let text = done.map_or_else(
            |failure| {
                assert!(matches!(failure, Failure::Refused(_)), "{failure}");
                failure.to_string()
            },
            |()| String::new(),
        );
        (reported, text)
    }

    async fn now_ms(node: &Node) -> i64 {
        node.server.ask_well("GET", "/_ebb/clock", "").await["now_ms"].as_i64().unwrap()
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn documents_before_a_lost_entry_are_served_and_time_does_not_go_back() {
        let ledger = ledger("manual").await;
        let one = start(&ledger, "one").await;
        for id in 0..10 {
            one.insert(id).await;
        }
        one.server.move_forward(3_600.0).await;
        let before_ms = now_ms(&one).await;
        let (reported, why) = accept(&ledger, 1, true).await;
        assert_eq!((reported, why.contains("no shard 1")), (vec![], true), "{why}");
        one.server.stop().await;
        let (reported, why) = accept(&ledger, 0, true).await;
        assert_eq!((reported, why.contains("no committed entry")), (vec![], true), "{why}");
        // The fifth entry from the end is lost, the later four are restored: they record that it
        // was committed.
        let lost = (1..100).rev().map(|n| ledger.lose_entry(0, 1, n));
        let lost: Vec<_> = lost.filter(|lost| !lost.is_empty()).take(5).collect();
        for request in lost.into_iter().take(4).flatten() {
            ledger.execute(request).await.unwrap();
        }
        let (reported, why) = accept(&ledger, 0, false).await;
        assert_eq!((reported.len(), why.contains("--yes")), (1, true), "{why}");
        assert_eq!(accept(&ledger, 0, true).await, (reported, String::new()));
        let two = start(&ledger, "two").await;
        two.wait_for("owner").await;
        let ids = two.ids().await;
        assert!(!ids.is_empty() && ids.len() < 10, "{ids:?}");
        assert_eq!(ids, Vec::from_iter(0..i32::try_from(ids.len()).unwrap()));
        assert!(before_ms <= now_ms(&two).await);
        two.insert(100).await;
        let again = try_start(&ledger, "one", &one.directory).await.unwrap();
        let one = Node { server: again, directory: one.directory };
        two.hand_over_to("one").await;
        assert_eq!(one.ids().await, [ids, vec![100]].concat());
        one.server.stop().await;
        two.server.stop().await;
    }
}
