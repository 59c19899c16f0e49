//! A committed entry is lost, and no node serves until an operator accepts the loss. Then all data
//! before it is available, and no node keeps anything after it.

use std::{fs, time::Duration};

use bytes::Bytes;
use cluster::{BaseRecord, Ledger as _, NodeState, Reply, Request, ShardRecord};
use store::{Error, Kind, Store as _, laws::ManualTime};
use store_shared::{Loss, LossInspection, Role};
use uuid::Uuid;

use crate::{
    nodes::{Machine, Nodes, OneShard, serves, wait_until_level},
    take_over::{put, value_of},
};

fn key(number: u64) -> String {
    format!("number {number}")
}

/// Writes one cluster entry for each number.
async fn write(owner: &OneShard, numbers: std::ops::Range<u64>) {
    for number in numbers {
        owner.tree().commit(vec![put(&key(number), number)]).await.unwrap();
    }
}

/// Returns the numbers of the range that a node has.
async fn held(node: &OneShard, numbers: std::ops::Range<u64>) -> Vec<u64> {
    let mut held = Vec::new();
    for number in numbers {
        held.extend(value_of(node, &key(number)).await);
    }
    held
}

async fn shard(nodes: &Nodes) -> ShardRecord {
    let read = nodes.ledger.execute(Request::ReadShardSerial { shard: 0 }).await;
    let Ok(Reply::Shard(Some(record))) = read else { panic!("{read:?}") };
    record
}

fn accepting(nodes: &Nodes) -> LossInspection<'_, cluster::MemoryLedger> {
    let silence = Duration::from_millis(50);
    LossInspection { ledger: &*nodes.ledger, cluster: Uuid::from_u128(1), shard: 0, silence }
}

async fn accept(nodes: &Nodes, loss: &Loss) -> Result<(), Error> {
    accepting(nodes).accept(loss, |_, _| Ok(Bytes::new())).await
}

fn misses(role: &Role) -> bool {
    matches!(role, Role::Failed(why) if why.contains("is missing in the cluster's journal"))
}

/// Waits until a node reports a missing entry, skipping the waits for leases to expire.
fn wait_until_it_misses(nodes: &Nodes, node: &OneShard) {
    for _ in 0..20_000 {
        if misses(&node.role().borrow()) {
            return;
        }
        nodes.boot.skip(20);
        std::thread::park_timeout(Duration::from_millis(1));
    }
    panic!("{node:?} does not miss anything");
}

fn place_of(machine: &Machine) -> std::path::PathBuf {
    machine.directory.path().join("place")
}

/// Waits until an idle node has saved its position. It does so once a second, so it has if the file
/// has been unchanged for longer.
fn wait_until_noted(machine: &Machine) {
    let (mut noted, mut looks) = (Vec::new(), 0);
    for _ in 0..1_000 {
        let now = fs::read(place_of(machine)).unwrap();
        looks = if now == noted { looks + 1 } else { 0 };
        noted = now;
        if looks == 150 {
            return;
        }
        std::thread::park_timeout(Duration::from_millis(10));
    }
    panic!("it goes on noting its place");
}

/// Checks that a node that was ahead of the owner has wiped and rebuilt its copy.
async fn assert_made_again(node: &OneShard, owner: &OneShard, numbers: std::ops::Range<u64>) {
    for _ in 0..6_000 {
        if node.discarded_copies() == 1 && *node.role().borrow() == Role::Following {
            break;
        }
        std::thread::park_timeout(Duration::from_millis(5));
    }
    assert_eq!(node.discarded_copies(), 1, "{node:?}");
    wait_until_level(node, owner);
    assert_eq!(node.tree().last_entry(), owner.tree().last_entry());
    assert_eq!(held(node, numbers.clone()).await, held(owner, numbers).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_before_a_lost_entry_is_served_and_nobody_keeps_what_was_behind() {
    let nodes = Nodes::new(ManualTime::default());
    let [ahead, may_have_diverged, behind] = [(); 3].map(|()| Machine::new());
    let owner = nodes.start(&ahead);
    nodes.take_over(&owner);
    let doubtful = nodes.start(&may_have_diverged);
    write(&owner, 0..20).await;
    wait_until_level(&doubtful, &owner);
    let follower = nodes.start(&behind);
    wait_until_level(&follower, &owner);
    wait_until_noted(&behind);
    drop((follower, doubtful));
    // The state after a crash: the position was saved before the last entries were applied.
    let position = place_of(&may_have_diverged);
    let noted = fs::read(&position).unwrap();
    let doubtful = nodes.start(&may_have_diverged);
    write(&owner, 20..60).await;
    wait_until_level(&doubtful, &owner);
    drop((owner, doubtful));
    fs::write(&position, noted).unwrap();
    // The first entry was appended when the epoch was opened; the entry after the next 30 is lost.
    let lost = 1 + 30 + 1;
    let back = nodes.ledger.lose_entry(0, 1, lost);
    assert_eq!(back.len(), 1);
    let node = nodes.start(&behind);
    wait_until_it_misses(&nodes, &node);
    let loss = accepting(&nodes).find().await.unwrap();
    let missing = loss.missing;
    assert_eq!((missing.epoch, missing.end, loss.base), (1, lost - 1, 0));
    assert_eq!((missing.committed, loss.given_up), (61, 30));
    assert!(!serves(&node.role().borrow()));
    accept(&nodes, &loss).await.unwrap();
    nodes.take_over(&node);
    assert_eq!(held(&node, 0..60).await, Vec::from_iter(0..30));
    assert_eq!(node.discarded_copies(), 0);
    // The copy is wiped whether or not new entries arrive before the node checks its position.
    let doubtful = nodes.start(&may_have_diverged);
    assert_made_again(&doubtful, &node, 0..60).await;
    write(&node, 60..100).await;
    let former = nodes.start(&ahead);
    assert_made_again(&former, &node, 0..100).await;
    assert_made_again(&doubtful, &node, 0..100).await;
    // The lost entry is restored after the loss was accepted, and one of the wiped nodes becomes
    // the owner: the entry stays lost.
    nodes.ledger.execute(back[0].clone()).await.unwrap();
    drop((node, doubtful));
    nodes.take_over(&former);
    let all = Vec::from_iter((0..30).chain(60..100));
    assert_eq!(held(&former, 0..100).await, all);
    let again = nodes.start(&Machine::new());
    wait_until_level(&again, &former);
    assert_eq!(held(&again, 0..100).await, all);
    let nothing = accepting(&nodes).find().await.unwrap_err();
    assert_eq!(nothing.kind, Kind::Refused);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_entry_of_a_closed_epoch_takes_the_later_epochs_with_it() {
    let nodes = Nodes::new(ManualTime::default());
    let [first, second] = [(); 2].map(|()| Machine::new());
    let owner = nodes.start(&first);
    nodes.take_over(&owner);
    write(&owner, 0..20).await;
    let next = nodes.start(&second);
    wait_until_level(&next, &owner);
    drop(owner);
    nodes.take_over(&next);
    write(&next, 20..40).await;
    drop(next);
    nodes.ledger.lose_entry(0, 1, 11);
    let late = nodes.start(&Machine::new());
    wait_until_it_misses(&nodes, &late);
    let loss = accepting(&nodes).find().await.unwrap();
    // The lost entries include all entries that the last heartbeat of the second epoch's owner
    // counts as committed.
    assert_eq!((loss.missing.epoch, loss.missing.end), (1, 10));
    assert!((11..=32).contains(&loss.given_up), "{loss:?}");
    accept(&nodes, &loss).await.unwrap();
    nodes.take_over(&late);
    assert_eq!(held(&late, 0..40).await, Vec::from_iter(0..9));
    write(&late, 40..90).await;
    for machine in [&first, &second] {
        let node = nodes.start(machine);
        assert_made_again(&node, &late, 0..90).await;
    }
    // An owner that was cut off publishes a base late, which contains the lost data.
    let record = shard(&nodes).await;
    let (id, segment, checksum, pieces, bytes) = (7, 0, 1, 1, 1);
    let base = BaseRecord { id, epoch: 1, segment, n: 20, checksum, pieces, bytes };
    let set = Request::SetBase { shard: 0, before: record.base(), bases: vec![base] };
    nodes.ledger.execute(set).await.unwrap();
    let without = nodes.start(&Machine::new());
    wait_until_level(&without, &late);
    assert_eq!(held(&without, 0..90).await, held(&late, 0..90).await);
    let (_, made) = late.make_base(None).await.unwrap();
    made.await.unwrap();
    assert!(shard(&nodes).await.bases.iter().all(|base| base.id != id));
    let ends = shard(&nodes).await.ends;
    assert_eq!(ends.iter().filter(|(epoch, end)| (*epoch, *end) == (0, 10)).count(), 1, "{ends:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_given_up_that_is_there_again_or_is_served() {
    let nodes = Nodes::new(ManualTime::default());
    let machine = Machine::new();
    let owner = nodes.start(&machine);
    nodes.take_over(&owner);
    write(&owner, 0..20).await;
    let back = nodes.ledger.lose_entry(0, 1, 5);
    // The owner sends heartbeats as time passes, and has all data.
    let (boot, node) = (nodes.boot.clone(), owner.role());
    let beating = std::thread::spawn(move || {
        while serves(&node.borrow()) && boot.skipped_ms() < 60_000 {
            boot.skip(20);
            std::thread::park_timeout(Duration::from_millis(1));
        }
    });
    let alive = LossInspection { silence: Duration::from_millis(500), ..accepting(&nodes) };
    let refused = alive.find().await.unwrap_err();
    assert!(refused.to_string().contains("a node serves shard 0"), "{refused}");
    drop(owner);
    beating.join().unwrap();
    let loss = accepting(&nodes).find().await.unwrap();
    for request in back {
        nodes.ledger.execute(request).await.unwrap();
    }
    let refused = accept(&nodes, &loss).await.unwrap_err();
    assert!(refused.to_string().contains("entry 5 exists again"), "{refused}");
    // The failed attempts have not blocked the shard: a node can claim it.
    let owner = nodes.start(&machine);
    nodes.take_over(&owner);
    assert_eq!(held(&owner, 0..20).await, Vec::from_iter(0..20));
    assert_eq!(owner.discarded_copies(), 0);
    let Ok(Reply::Nodes(records)) = nodes.ledger.execute(Request::ReadNodes).await else {
        panic!("no nodes");
    };
    let hidden = records.iter().filter(|node| node.is_forgotten()).count();
    assert_eq!((records.len(), hidden), (2, 1));
    assert!(records.iter().any(|node| node.state == NodeState::Up));
    // An epoch was opened since the loss was found.
    let refused = accept(&nodes, &loss).await.unwrap_err();
    assert_eq!(refused.kind, Kind::Refused);
    assert_eq!(held(&owner, 0..20).await, Vec::from_iter(0..20));
}

/// No loss has to be accepted if a base contains the entry that is missing in the journal.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_base_behind_a_lost_entry_is_loaded_instead() {
    for is_closed in [false, true] {
        let nodes = Nodes { base_bytes: Some(1 << 30), ..Nodes::new(ManualTime::default()) };
        let machines = [(); 2].map(|()| Machine::new());
        let owner = nodes.start(&machines[0]);
        nodes.take_over(&owner);
        write(&owner, 0..20).await;
        let behind = nodes.start(&machines[1]);
        wait_until_level(&behind, &owner);
        // The position is saved first: a node without one would load the base anyway.
        wait_until_noted(&machines[1]);
        drop(behind);
        write(&owner, 20..40).await;
        let (entry, made) = owner.make_base(None).await.unwrap();
        assert!(entry <= made.await.unwrap());
        let epoch = shard(&nodes).await.epoch;
        drop(owner);
        if is_closed {
            // The epoch with the lost entry is closed by another owner. Its journal is kept, as
            // there is only one base.
            let next = nodes.start(&Machine::new());
            nodes.take_over(&next);
            write(&next, 40..50).await;
        }
        assert_eq!(nodes.ledger.lose_entry(0, epoch, 31).len(), 1);
        let node = nodes.start(&machines[1]);
        nodes.take_over(&node);
        let last = if is_closed { 50 } else { 40 };
        assert_eq!(held(&node, 0..last).await, Vec::from_iter(0..last));
        drop(node);
        let refused = accepting(&nodes).find().await.unwrap_err();
        assert!(refused.to_string().contains("after the newest base"), "{refused}");
    }
}
