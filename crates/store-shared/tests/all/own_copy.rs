//! Nodes whose local copy of the journal is slow, cannot be written or is damaged: their memory
//! stays bounded, they stop serving, and they recover by themselves.

use std::{collections::BTreeMap, time::Duration};

use cluster::{Backlog, Ledger as _, NodeState, Reply, Request};
use store::{Kind, Store as _, laws::ManualTime};
use store_shared::Role;

use crate::{
    faulty::{Disk, FaultyFolder},
    nodes::{
        HOLD_BYTES, HOLD_ENTRIES, Machine, Nodes, OneShard, READ_BYTES, serves, wait_for,
        wait_until_level,
    },
    take_over::{assert_has, put, put_bytes, value_of, write},
};

/// Starts a node on a disk that fails on demand.
fn start(nodes: &Nodes, machine: &Machine) -> (OneShard, FaultyFolder) {
    let disk = FaultyFolder::new(nodes.tree_options(machine).journal_of_copy());
    (nodes.start_on(machine, disk.clone()), disk)
}

/// Waits until a condition holds.
fn wait_until(what: &str, holds: impl Fn() -> bool) {
    for _ in 0..6_000 {
        if holds() {
            return;
        }
        std::thread::park_timeout(Duration::from_millis(5));
    }
    panic!("{what} does not come to be");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_follower_with_a_slow_disk_holds_no_more_than_it_may() {
    let nodes = Nodes::new(ManualTime::default());
    let (first, machine) = (Machine::new(), Machine::new());
    let owner = nodes.start(&first);
    nodes.take_over(&owner);
    let (slow, disk) = start(&nodes, &machine);
    let mut acknowledged = BTreeMap::new();
    write(&owner, 0, &mut acknowledged).await;
    wait_until_level(&slow, &owner);
    let waiting = disk.wait();
    // Four times the limit in bytes, then as many small entries.
    let mut most = Backlog::default();
    let look = |most: &mut Backlog| {
        let held = slow.backlog();
        most.bytes = most.bytes.max(held.bytes);
        most.entries = most.entries.max(held.entries);
    };
    for number in 0..4 * HOLD_BYTES / 8_192 {
        owner.tree().commit(vec![put_bytes("large", 8_192, number)]).await.unwrap();
        look(&mut most);
    }
    wait_until("a full backlog", || HOLD_BYTES <= slow.backlog().bytes);
    for _ in 0..100 {
        std::thread::park_timeout(Duration::from_millis(1));
        look(&mut most);
    }
    assert!(most.bytes <= HOLD_BYTES + 2 * READ_BYTES as u64, "{most:?}");
    // The slow node's copy lags, so it may not claim the shard.
    assert!(slow.tree().last_entry().unwrap() < owner.tree().last_entry().unwrap());
    drop(waiting);
    write(&owner, 100, &mut acknowledged).await;
    wait_until_level(&slow, &owner);
    assert_has(&slow, &acknowledged).await;
    wait_until("no backlog", || slow.backlog() == Backlog::default());
    let waiting = disk.wait();
    for round in 0..HOLD_ENTRIES / 10 {
        write(&owner, round * 100, &mut acknowledged).await;
    }
    wait_until("a full backlog", || HOLD_ENTRIES <= slow.backlog().entries);
    let of_a_reading = READ_BYTES as u64 / 50 + 10;
    assert!(slow.backlog().entries <= HOLD_ENTRIES + of_a_reading, "{:?}", slow.backlog());
    drop(waiting);
    wait_until_level(&slow, &owner);
    // The node whose disk was slow can still become the owner.
    owner.stop();
    nodes.take_over(&slow);
    assert_has(&slow, &acknowledged).await;
}

fn has_failed(role: &Role) -> bool {
    matches!(role, Role::Failed(_))
}

/// Checks that two stores have the same last entry and all acknowledged values.
async fn assert_equal(node: &OneShard, other: &OneShard, acknowledged: &BTreeMap<String, u64>) {
    wait_until_level(node, other);
    assert_eq!(node.tree().last_entry(), other.tree().last_entry());
    assert_eq!(node.tree().published(), other.tree().published());
    assert_has(node, acknowledged).await;
    assert_has(other, acknowledged).await;
}

/// An owner whose disk fails releases the shard at once, and follows again once the disk works.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_owner_whose_own_copy_fails_gives_the_shard_up_and_comes_back() {
    for fault in [Disk::Full, Disk::Broken] {
        let nodes = Nodes::new(ManualTime::default());
        let (first, machine) = (Machine::new(), Machine::new());
        let (owner, disk) = start(&nodes, &first);
        nodes.take_over(&owner);
        let follower = nodes.start(&machine);
        let mut acknowledged = BTreeMap::new();
        write(&owner, 0, &mut acknowledged).await;
        wait_until_level(&follower, &owner);
        disk.set(fault);
        // The write is only in the cluster's journal: its outcome is unknown to the client.
        let unknown = owner.tree().commit(vec![put("key 0", 999)]).await.unwrap_err();
        assert_eq!(unknown.kind, Kind::Unavailable, "{unknown}");
        acknowledged.insert("key 0".to_owned(), 999);
        wait_for(&owner, has_failed).await;
        wait_for(&follower, serves).await;
        // The shard was released: no node had to be fenced.
        let Ok(Reply::Nodes(records)) = nodes.ledger.execute(Request::ReadNodes).await else {
            panic!("no nodes");
        };
        assert!(records.iter().all(|record| record.state == NodeState::Up), "{fault:?}");
        write(&follower, 100, &mut acknowledged).await;
        let refused = owner.tree().commit(vec![put("refused", 1)]).await.unwrap_err();
        assert!(matches!(refused.kind, Kind::Moved | Kind::Unavailable), "{refused}");
        // On a full disk, the node resumes, and fails again with the next entry.
        wait_for(&owner, has_failed).await;
        disk.set(Disk::Works);
        wait_for(&owner, |role| *role == Role::Following).await;
        write(&follower, 200, &mut acknowledged).await;
        assert_equal(&owner, &follower, &acknowledged).await;
        follower.stop();
        nodes.take_over(&owner);
        write(&owner, 300, &mut acknowledged).await;
        assert_has(&owner, &acknowledged).await;
        assert_eq!(value_of(&owner, "refused").await, None);
    }
}

/// Acknowledged data is in the cluster's journal, even if the local copy is lost or damaged.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_owner_whose_own_copy_cannot_be_synced_gives_the_shard_up_and_comes_back() {
    let nodes = Nodes::new(ManualTime::default());
    let (first, machine) = (Machine::new(), Machine::new());
    let (owner, disk) = start(&nodes, &first);
    nodes.take_over(&owner);
    let follower = nodes.start(&machine);
    let mut acknowledged = BTreeMap::new();
    disk.set(Disk::Unsynced);
    for number in 0..10_000 {
        let key = format!("while it lasts {number}");
        if owner.tree().commit(vec![put(&key, number)]).await.is_err() {
            break;
        }
        acknowledged.insert(key, number);
    }
    assert!(!acknowledged.is_empty());
    wait_for(&owner, has_failed).await;
    wait_for(&follower, serves).await;
    assert_has(&follower, &acknowledged).await;
    write(&follower, 100, &mut acknowledged).await;
    disk.set(Disk::Works);
    wait_for(&owner, |role| *role == Role::Following).await;
    assert_equal(&owner, &follower, &acknowledged).await;
    follower.stop();
    nodes.take_over(&owner);
    write(&owner, 300, &mut acknowledged).await;
    assert_has(&owner, &acknowledged).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_owner_that_is_alone_serves_again_once_its_disk_works() {
    let nodes = Nodes::new(ManualTime::default());
    let machine = Machine::new();
    let (owner, disk) = start(&nodes, &machine);
    nodes.take_over(&owner);
    let mut acknowledged = BTreeMap::new();
    for round in 0..3 {
        write(&owner, round * 100, &mut acknowledged).await;
        disk.set(Disk::Broken);
        owner.tree().commit(vec![put("key 3", 7_000 + round)]).await.unwrap_err();
        acknowledged.insert("key 3".to_owned(), 7_000 + round);
        wait_for(&owner, has_failed).await;
        disk.set(Disk::Works);
        nodes.take_over(&owner);
        assert_has(&owner, &acknowledged).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_follower_whose_own_copy_fails_says_so_and_goes_on() {
    let nodes = Nodes::new(ManualTime::default());
    let (first, machine) = (Machine::new(), Machine::new());
    let owner = nodes.start(&first);
    nodes.take_over(&owner);
    let (follower, disk) = start(&nodes, &machine);
    let mut acknowledged = BTreeMap::new();
    for (round, fault) in [Disk::Full, Disk::Broken, Disk::Full].into_iter().enumerate() {
        write(&owner, round as u64 * 1000, &mut acknowledged).await;
        wait_until_level(&follower, &owner);
        disk.set(fault);
        for more in 1..10 {
            write(&owner, round as u64 * 1000 + more * 100, &mut acknowledged).await;
        }
        wait_for(&follower, has_failed).await;
        disk.set(Disk::Works);
        wait_for(&follower, |role| *role == Role::Following).await;
        assert_equal(&follower, &owner, &acknowledged).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn damage_that_was_found_by_a_reader_is_mended_from_the_cluster() {
    let nodes = Nodes::new(ManualTime::default());
    let (first, machine) = (Machine::new(), Machine::new());
    let owner = nodes.start(&first);
    nodes.take_over(&owner);
    let follower = nodes.start(&machine);
    let mut acknowledged = BTreeMap::new();
    write(&owner, 0, &mut acknowledged).await;
    wait_until_level(&follower, &owner);
    follower.report_damage("damage on purpose");
    let told = |role: &Role| matches!(role, Role::Failed(why) if why.contains("rebuilt"));
    wait_for(&follower, told).await;
    wait_for(&follower, |role| *role == Role::Following).await;
    assert_equal(&follower, &owner, &acknowledged).await;
    owner.report_damage("damage on purpose");
    wait_for(&follower, serves).await;
    write(&follower, 100, &mut acknowledged).await;
    wait_for(&owner, |role| *role == Role::Following).await;
    assert_equal(&owner, &follower, &acknowledged).await;
}

fn files(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// A bit of the local journal flips while the node is down: in the end the node has all data, as if
/// its copy had been rebuilt.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_whose_journal_was_damaged_makes_its_copy_again() {
    let nodes = Nodes::new(ManualTime::default());
    let (first, machine) = (Machine::new(), Machine::new());
    let owner = nodes.start(&first);
    nodes.take_over(&owner);
    let mut rng = fastrand::Rng::with_seed(3);
    let (mut acknowledged, mut wiped) = (BTreeMap::new(), 0);
    for round in 0..8 {
        let follower = nodes.start(&machine);
        write(&owner, round * 100, &mut acknowledged).await;
        assert_equal(&follower, &owner, &acknowledged).await;
        follower.stop();
        // Dropping the node waits until its store is closed.
        drop(follower);
        let mut all = files(&machine.directory.path().join("journal"));
        all.retain(|path| std::fs::read(path).unwrap().iter().any(|byte| *byte != 0));
        let path = rng.choice(&all).unwrap();
        let mut bytes = std::fs::read(path).unwrap();
        // Selects a byte with data rather than padding between groups.
        let said: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at] != 0).collect();
        bytes[*rng.choice(&said).unwrap()] ^= 1 << rng.u8(..8);
        std::fs::write(path, bytes).unwrap();
        let follower = nodes.start(&machine);
        wiped += follower.discarded_copies();
        write(&owner, round * 100 + 50, &mut acknowledged).await;
        assert_equal(&follower, &owner, &acknowledged).await;
        wait_for(&follower, |role| *role == Role::Following).await;
    }
    assert!(0 < wiped);
}
