//! Nodes with several shards: each shard has its own owner, journal and copy, and everything that a
//! node owns depends on one lease.

use std::collections::BTreeMap;

use cluster::{Ledger as _, NodeRecord, NodeState, Reply, Request};
use store::{Kind, Store as _, laws::ManualTime};
use store_shared::{Role, SharedNode, SharedShard};

use crate::{
    faulty::Disk,
    nodes::{Machine, Nodes, serves, wait_for, wait_until_level},
    take_over::{assert_has, put, value_of, write},
};

const SHARDS: u32 = 3;

type Acknowledged = [BTreeMap<String, u64>; SHARDS as usize];

fn shard(node: &SharedNode, number: u32) -> &SharedShard {
    node.shard(number).unwrap()
}

async fn node_records(nodes: &Nodes) -> Vec<NodeRecord> {
    match nodes.ledger.execute(Request::ReadNodes).await {
        Ok(Reply::Nodes(records)) => records,
        other => panic!("{other:?}"),
    }
}

/// Writes different data to each of these shards.
async fn write_to(node: &SharedNode, shards: &[u32], from: u64, acknowledged: &mut Acknowledged) {
    for number in shards {
        let noted = &mut acknowledged[*number as usize];
        write(shard(node, *number), from + u64::from(*number) * 1_000, noted).await;
    }
}

async fn assert_all(node: &SharedNode, acknowledged: &Acknowledged) {
    for (number, noted) in (0..).zip(acknowledged) {
        assert_has(shard(node, number), noted).await;
    }
}

/// A node owns all shards, hands one over, and is killed: the other node takes over all its shards
/// when its one lease expires.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_shard_has_its_own_owner_and_a_node_one_lease() {
    let nodes = Nodes::new(ManualTime::default());
    let (machine, other_machine) = (Machine::new(), Machine::new());
    let (first, _) = nodes.start_many(&machine, SHARDS);
    let mut acknowledged = Acknowledged::default();
    for number in 0..SHARDS {
        nodes.take_over(shard(&first, number));
    }
    write_to(&first, &[0, 1, 2], 0, &mut acknowledged).await;
    let (second, _) = nodes.start_many(&other_machine, SHARDS);
    for number in 0..SHARDS {
        wait_until_level(shard(&second, number), shard(&first, number));
    }
    shard(&first, 1).hand_over();
    wait_for(shard(&second, 1), serves).await;
    write_to(&second, &[1], 100, &mut acknowledged).await;
    write_to(&first, &[0, 2], 100, &mut acknowledged).await;
    let refused = shard(&first, 1).tree().commit(vec![put("refused", 1)]).await.unwrap_err();
    assert_eq!(refused.kind, Kind::Moved);
    // One heartbeat carries the epochs of all owned shards.
    let owned =
        |record: &NodeRecord| record.terms.iter().map(|term| term.shard).collect::<Vec<_>>();
    for (id, shards) in [(machine.id, vec![0, 2]), (other_machine.id, vec![1])] {
        for attempt in 0.. {
            let records = node_records(&nodes).await;
            let record = records.iter().find(|record| record.node == id).unwrap();
            if owned(record) == shards {
                break;
            }
            assert!(attempt < 1_000, "{record:?}");
            tokio::task::yield_now().await;
            nodes.boot.skip(20);
            std::thread::park_timeout(std::time::Duration::from_millis(5));
        }
    }
    first.stop();
    for number in [0, 2] {
        nodes.take_over(shard(&second, number));
    }
    let records = node_records(&nodes).await;
    let fenced = records.iter().filter(|record| record.state == NodeState::Fenced);
    assert_eq!(fenced.map(|record| record.node).collect::<Vec<_>>(), [machine.id]);
    write_to(&second, &[0, 1, 2], 200, &mut acknowledged).await;
    assert_all(&second, &acknowledged).await;
    assert_eq!(value_of(shard(&second, 1), "refused").await, None);
    // A node restarted on its directories follows all shards.
    drop(first);
    let (back, _) = nodes.start_many(&machine, SHARDS);
    for number in 0..SHARDS {
        wait_until_level(shard(&back, number), shard(&second, number));
    }
    assert_all(&back, &acknowledged).await;
}

/// A node whose copy of one shard fails loses that shard; it keeps the others and its lease.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_whose_copy_of_one_shard_fails_goes_on_with_the_others() {
    let nodes = Nodes::new(ManualTime::default());
    let (machine, other_machine) = (Machine::new(), Machine::new());
    let (first, disk) = nodes.start_many(&machine, SHARDS);
    for number in 0..SHARDS {
        nodes.take_over(shard(&first, number));
    }
    let mut acknowledged = Acknowledged::default();
    write_to(&first, &[0, 1, 2], 0, &mut acknowledged).await;
    let (second, _) = nodes.start_many(&other_machine, SHARDS);
    for number in 0..SHARDS {
        wait_until_level(shard(&second, number), shard(&first, number));
    }
    disk.set(Disk::Broken);
    let unknown = shard(&first, 2).tree().commit(vec![put("key 0", 999)]).await.unwrap_err();
    assert_eq!(unknown.kind, Kind::Unavailable, "{unknown}");
    acknowledged[2].insert("key 0".to_owned(), 999);
    wait_for(shard(&second, 2), serves).await;
    // Time passes far beyond a lease, in steps short enough for heartbeats in between.
    for round in 0..200 {
        nodes.boot.skip(50);
        std::thread::park_timeout(std::time::Duration::from_millis(5));
        if round % 50 == 0 {
            write_to(&first, &[0, 1], 100 + round, &mut acknowledged).await;
            write_to(&second, &[2], 100 + round, &mut acknowledged).await;
        }
    }
    let records = node_records(&nodes).await;
    assert!(records.iter().all(|record| record.state == NodeState::Up), "{records:?}");
    assert!([0, 1].iter().all(|number| serves(&shard(&first, *number).role().borrow())));
    disk.set(Disk::Works);
    wait_for(shard(&first, 2), |role| *role == Role::Following).await;
    wait_until_level(shard(&first, 2), shard(&second, 2));
    assert_has(shard(&first, 2), &acknowledged[2]).await;
}
