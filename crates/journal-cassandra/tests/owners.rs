//! Tests of cluster stores whose ledger is in a real Cassandra, which tests/cluster/run starts and
//! EBB_CASSANDRA lists: owners are killed and hand over under load without loss of acknowledged
//! data.

#![allow(clippy::unwrap_used, reason = "a failed assumption fails the test")]

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use clock::{ClockMode, ClockSource as _, Machine};
use cluster::{BaseRecord, Ledger as _, Reply, Request, Settings};
use journal_cassandra::{CassandraLedger, Options, Replication};
use store::{Commit, Mutation, Outcome, Space, Store as _};
use store_shared::{
    NodeOptions, Role, ShardClock, ShardClockOptions, ShardOptions, SharedNode, SharedShard,
};
use store_tree::TreeOptions;
use tempfile::TempDir;
use uuid::Uuid;

const WRITERS: u64 = 32;
const OWNERS: usize = 6;
/// Duration of the load per owner, and timeout when waiting for a role.
const LOAD: Duration = Duration::from_secs(2);
const PATIENCE: Duration = Duration::from_secs(60);

struct Node {
    node: SharedNode,
    shared: Arc<SharedShard>,
    _directory: TempDir,
}

fn start(ledger: &Arc<CassandraLedger>) -> Node {
    start_with(ledger, |_| {})
}

fn start_with(ledger: &Arc<CassandraLedger>, change: impl FnOnce(&mut Settings)) -> Node {
    let mut settings = Settings::new(Uuid::from_u128(1), 0, Uuid::new_v4(), Bytes::new());
    change(&mut settings);
    let directory = TempDir::new().unwrap();
    let clock = ShardClock::new(ShardClockOptions {
        mode: ClockMode::System,
        sources: Arc::new(|| Box::new(Machine)),
        boot_id: fastrand::u128(..).to_le_bytes(),
        lease_ms: 3_000,
    });
    let options = NodeOptions {
        settings,
        boot_clock: Arc::new(|| u64::try_from(Machine.boot_ns()).unwrap()),
        shards: vec![ShardOptions {
            tree: TreeOptions::new(directory.path()),
            clock: clock.clone(),
            time: clock,
        }],
    };
    let node = SharedNode::open(options, Arc::clone(ledger)).unwrap();
    let shared = Arc::clone(node.shard(0).unwrap());
    Node { node, shared, _directory: directory }
}

async fn wait_until_serving(node: &Node) {
    let mut role = node.shared.role();
    let serving = role.wait_for(|role| matches!(role, Role::Serving { .. }));
    let waited = tokio::time::timeout(PATIENCE, serving).await.map(|waited| waited.is_ok());
    assert_eq!(waited, Ok(true), "{:?}", node.shared);
}

type Acknowledged = BTreeMap<String, u64>;

/// Puts increasing numbers under the writer's key until it is stopped or fails.
async fn write(
    node: Arc<SharedShard>,
    writer: u64,
    from: u64,
    stop: Arc<AtomicBool>,
) -> (u64, u64) {
    let (mut last, mut count) = (0, 0);
    for number in from.. {
        let commit = Commit::new(vec![], move |_| {
            let value = number.to_be_bytes().to_vec().into();
            let key = format!("writer {writer}").into();
            vec![Mutation::Put { space: Space::Catalog, key, value }]
        });
        match node.tree().commit(vec![commit]).await {
            Ok(outcomes) => assert!(matches!(outcomes[..], [Outcome::Committed(_)])),
            Err(_) => break,
        }
        (last, count) = (number, count + 1);
        if stop.load(Ordering::SeqCst) {
            break;
        }
    }
    (last, count)
}

async fn value_of(node: &Node, key: &str) -> u64 {
    let held = node.shared.tree().snapshot().get(Space::Catalog, key.as_bytes()).await.unwrap();
    held.map_or(0, |value| u64::from_be_bytes(value[..].try_into().unwrap()))
}

async fn ledger_for(name: &str) -> Arc<CassandraLedger> {
    let contact_points = std::env::var("EBB_CASSANDRA").expect("tests/cluster/run sets it");
    let contact_points = contact_points.split(',').map(str::to_owned).collect();
    let options = Options::new(contact_points, format!("ebb_{name}_{}", std::process::id()));
    CassandraLedger::create(&options, &Replication::Simple(3)).await.unwrap();
    Arc::new(CassandraLedger::connect(&options).await.unwrap())
}

async fn bases_of(ledger: &CassandraLedger) -> Vec<BaseRecord> {
    match ledger.execute(Request::ReadShardSerial { shard: 0 }).await {
        Ok(Reply::Shard(Some(record))) => record.bases,
        _ => Vec::new(),
    }
}

/// The journal is truncated as bases (full copies of the shard) are written; an empty node loads a
/// base and takes over.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_with_nothing_is_made_of_a_base_under_load() {
    let ledger = ledger_for("bases").await;
    let small = |settings: &mut Settings| {
        (settings.base_bytes, settings.piece_bytes) = (256 << 10, 16 << 10);
        settings.segment_bytes = 64 << 10;
    };
    let owner = start_with(&ledger, small);
    wait_until_serving(&owner).await;
    let stop = Arc::new(AtomicBool::new(false));
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| tokio::spawn(write(Arc::clone(&owner.shared), writer, 1, Arc::clone(&stop))))
        .collect();
    let began = clock::monotonic_time();
    // When the second base is written, the journal up to the first one is truncated.
    while bases_of(&ledger).await.len() < 2 {
        assert!(clock::monotonic_time() - began < PATIENCE, "{:?}", bases_of(&ledger).await);
        std::thread::park_timeout(Duration::from_millis(50));
    }
    let next = start_with(&ledger, small);
    let before = next.shared.role();
    while next.shared.tree().published() == 0 {
        assert!(clock::monotonic_time() - began < 2 * PATIENCE, "{before:?}");
        std::thread::park_timeout(Duration::from_millis(50));
    }
    stop.store(true, Ordering::SeqCst);
    let mut acknowledged = Acknowledged::new();
    for (writer, written) in (0..).zip(writers) {
        acknowledged.insert(format!("writer {writer}"), written.await.unwrap().0);
    }
    owner.shared.hand_over();
    wait_until_serving(&next).await;
    for (key, number) in &acknowledged {
        assert_eq!(value_of(&next, key).await, *number, "{key}");
    }
    let cut = bases_of(&ledger).await[0];
    let (shard, epoch, segment, after, limit) = (0, cut.epoch, 0, 0, 1);
    let read = Request::ReadEntries { shard, epoch, segment, after, limit };
    println!("{cut:?} after {:.1} s", (clock::monotonic_time() - began).as_secs_f64());
    // The last truncation may still be running.
    while ledger.execute(read.clone()).await != Ok(Reply::Parts(Vec::new())) {
        assert!(clock::monotonic_time() - began < 3 * PATIENCE, "{cut:?}");
        std::thread::park_timeout(Duration::from_millis(50));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_acknowledged_is_lost_over_owners_under_load() {
    let ledger = ledger_for("owners").await;
    let mut owner = start(&ledger);
    wait_until_serving(&owner).await;
    let mut acknowledged = Acknowledged::new();
    for round in 0..OWNERS {
        let next = start(&ledger);
        let stop = Arc::new(AtomicBool::new(false));
        let from = u64::try_from(round + 1).unwrap() << 32;
        let began = clock::monotonic_time();
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let (node, stop) = (Arc::clone(&owner.shared), Arc::clone(&stop));
                tokio::spawn(write(node, writer, from, stop))
            })
            .collect();
        while clock::monotonic_time() - began < LOAD {
            tokio::task::yield_now().await;
            std::thread::park_timeout(Duration::from_millis(5));
        }
        let by_word = round % 2 == 1;
        let ended = clock::monotonic_time();
        match by_word {
            true => owner.shared.hand_over(),
            false => owner.node.stop(),
        }
        let mut count = 0;
        for (writer, written) in (0..).zip(writers) {
            let (last, commits) = written.await.unwrap();
            count += commits;
            if 0 < commits {
                acknowledged.insert(format!("writer {writer}"), last);
            }
        }
        stop.store(true, Ordering::SeqCst);
        wait_until_serving(&next).await;
        let (load, gap) = (ended - began, clock::monotonic_time() - ended);
        let rate = f64::from(u32::try_from(count).unwrap()) / load.as_secs_f64();
        println!(
            "owner {round}: {rate:.0} commits a second by {WRITERS} writers; {} after {:.2} s",
            if by_word { "handed over" } else { "taken over" },
            gap.as_secs_f64()
        );
        for (key, number) in &acknowledged {
            // Unacknowledged writes may exist, too.
            let held = value_of(&next, key).await;
            assert!(*number <= held, "{key}: {held} instead of {number}");
        }
        owner = next;
    }
}
