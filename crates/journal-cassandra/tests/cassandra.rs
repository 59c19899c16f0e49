//! Tests of the ledger with a real Cassandra of three nodes, started by tests/cluster/run.
//! EBB_CASSANDRA lists them as HOST:PORT,... Each test has its own keyspace.

use std::{
    path::PathBuf,
    process::Command,
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use bytes::Bytes;
use cluster::{EntryPart, Ledger, Phase, Record, Reply, Request, Swapped, laws};
use journal_cassandra::{CassandraLedger, Options, Replication};
use scylla::client::session_builder::SessionBuilder;
use store::Kind;
use uuid::Uuid;

/// Returns options with a unique keyspace.
fn options() -> Options {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let nodes = std::env::var("EBB_CASSANDRA").expect("tests/cluster/run sets EBB_CASSANDRA");
    let nodes = nodes.split(',').map(str::to_owned).collect();
    Options::new(nodes, format!("ebb_{}_{number}", std::process::id()))
}

async fn fresh(options: &Options) -> CassandraLedger {
    CassandraLedger::create(options, &Replication::Simple(3)).await.expect("tables are made");
    CassandraLedger::connect(options).await.expect("what was made is good")
}

#[tokio::test]
async fn it_passes_the_laws() {
    laws::check(&fresh(&options()).await).await;
}

#[tokio::test]
async fn what_is_there_is_not_made_again() {
    let options = options();
    let ledger = fresh(&options).await;
    let made = ledger.execute(Request::MakeShard { shard: 0 }).await.unwrap();
    assert_eq!(made, Reply::Swapped(Swapped::Done));
    CassandraLedger::create(&options, &Replication::Simple(3)).await.unwrap();
    let again = CassandraLedger::connect(&options).await.unwrap();
    let shard = again.execute(Request::ReadShardSerial { shard: 0 }).await.unwrap();
    assert!(matches!(shard, Reply::Shard(Some(_))), "{shard:?}");
}

#[tokio::test]
async fn what_cannot_be_used_is_refused_by_name() {
    let options = options();
    let refused = async |said: &str| {
        let error = CassandraLedger::connect(&options).await.unwrap_err();
        assert!(error.message.contains(said), "{said}: {}", error.message);
        error.kind
    };
    assert_eq!(refused(&format!("there is no keyspace {}", options.keyspace)).await, Kind::Refused);
    CassandraLedger::create(&options, &Replication::Simple(1)).await.unwrap();
    assert_eq!(refused("the keyspace has 1 replicas").await, Kind::Refused);

    let session = SessionBuilder::new().known_nodes(&options.contact_points).build().await.unwrap();
    let keyspace = &options.keyspace;
    let three = "{'class': 'SimpleStrategy', 'replication_factor': 3}";
    let widen = format!("ALTER KEYSPACE {keyspace} WITH replication = {three}");
    session.query_unpaged(widen, ()).await.unwrap();
    session.query_unpaged(format!("DROP TABLE {keyspace}.journal"), ()).await.unwrap();
    assert_eq!(refused("journal").await, Kind::Refused);
}

#[tokio::test]
async fn nobody_there_is_an_outage() {
    let mut options = options();
    options.contact_points = vec!["127.0.0.1:1".to_owned()];
    let error = CassandraLedger::connect(&options).await.unwrap_err();
    assert_eq!(error.kind, Kind::Unavailable, "{}", error.message);
}

fn claim(claim: Uuid, before: u64) -> Request {
    let clock = Bytes::new();
    Request::Claim { shard: 0, before, claim, node: claim, incarnation: 1, clock }
}

/// Of concurrent claims of a shard exactly one is applied; the replies to the others have the shard
/// record with the applied one. A claim without a reply is repeated, as by nodes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_claims_at_the_same_time_one_is_done() {
    let ledger = fresh(&options()).await;
    ledger.execute(Request::MakeShard { shard: 0 }).await.unwrap();
    for before in 0..5 {
        let ids: Vec<Uuid> = (0..4).map(|_| Uuid::new_v4()).collect();
        let ask = async |id: &Uuid| {
            loop {
                if let Ok(reply) = ledger.execute(claim(*id, before)).await {
                    return reply;
                }
            }
        };
        let answers = futures_util::future::join_all(ids.iter().map(ask)).await;
        let done = answers.iter().filter(|answer| **answer == Reply::Swapped(Swapped::Done));
        assert_eq!(done.count(), 1, "{answers:?}");
        let Ok(Reply::Shard(Some(shard))) = ledger.execute(Request::ReadShard { shard: 0 }).await
        else {
            panic!("the shard is there")
        };
        assert_eq!((shard.epoch, shard.phase), (before + 1, Phase::Sealing));
        for (id, answer) in ids.iter().zip(answers) {
            let expected = if *id == shard.claim {
                Swapped::Done
            } else {
                Swapped::Refused(Some(Record::Shard(shard.clone())))
            };
            assert_eq!(answer, Reply::Swapped(expected));
        }
    }
}

/// Sends a request and usually drops it before a reply; it may be applied nevertheless.
async fn send_and_drop(ledger: &CassandraLedger, request: &Request) {
    let patience = Duration::from_millis(3);
    drop(tokio::time::timeout(patience, ledger.execute(request.clone())).await);
}

/// Repeated changes of a shard record are reported as done, whichever attempt was applied; a
/// repeated heartbeat is done, or refused with a record that shows that it was applied.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_got_no_answer_is_told_when_it_is_asked_again() {
    let ledger = fresh(&options()).await;
    let done = Reply::Swapped(Swapped::Done);
    retry_until_reply(&ledger, &Request::MakeShard { shard: 0 }).await;
    let node = Uuid::new_v4();
    retry_until_reply(&ledger, &Request::Enter { node, before: 0, about: Bytes::new() }).await;
    for round in 0..40 {
        let (shard, id) = (0, Uuid::new_v4());
        let clock = Bytes::from(format!("{round}"));
        let requests = [
            claim(id, round),
            Request::Confirm { shard, claim: id },
            Request::Open { shard, claim: id, epoch: round + 1, ends: vec![(round, 7)] },
            Request::Release { shard, claim: id, clock: clock.clone() },
        ];
        for request in &requests {
            send_and_drop(&ledger, request).await;
            assert_eq!(retry_until_reply(&ledger, request).await.0, done, "{request:?}");
        }
        let (shown, _) = retry_until_reply(&ledger, &Request::ReadShard { shard }).await;
        let Reply::Shard(Some(shown)) = shown else { panic!("{shown:?}") };
        assert_eq!((shown.epoch, shown.claim, shown.phase), (round + 1, id, Phase::Released));
        assert_eq!((shown.clock, shown.ends), (clock, vec![(round, 7)]));

        let beat = Request::Beat { node, incarnation: 1, beat: round, terms: Vec::new() };
        send_and_drop(&ledger, &beat).await;
        match retry_until_reply(&ledger, &beat).await.0 {
            Reply::Swapped(Swapped::Done) => {}
            Reply::Swapped(Swapped::Refused(Some(Record::Node(shown)))) => {
                assert_eq!(shown.beat, round + 1);
            }
            other => panic!("{other:?}"),
        }
    }
}

/// Runs tests/cluster/cassandra for a running node.
fn cluster(command: &str, node: &str) {
    let script = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it"))
        .join("../../tests/cluster/cassandra");
    let folder = std::env::var("EBB_CASSANDRA_DIR").expect("tests/cluster/run sets it");
    let status = Command::new(script).args([command, &folder, node]).status().expect("bash runs");
    assert!(status.success(), "{command} {node}: {status}");
}

/// Repeats a request until a reply; returns it with the number of attempts without one.
async fn retry_until_reply(ledger: &CassandraLedger, request: &Request) -> (Reply, u32) {
    let mut unanswered = 0;
    loop {
        match ledger.execute(request.clone()).await {
            Ok(reply) => return (reply, unanswered),
            Err(_) if unanswered < 100 => unanswered += 1,
            Err(error) => panic!("{request:?}: {error}"),
        }
    }
}

/// The test's name sorts last, because the other tests need all nodes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_a_node_dead_all_goes_on() {
    let options = options();
    let ledger = fresh(&options).await;
    let node = Uuid::new_v4();
    let enter = Request::Enter { node, before: 0, about: Bytes::new() };
    assert_eq!(retry_until_reply(&ledger, &enter).await.0, Reply::Swapped(Swapped::Done));
    let mut written = Vec::new();
    for n in 1..=60 {
        if n == 10 {
            cluster("kill", "2");
        }
        let part = EntryPart { n, part: 0, body: Bytes::from(vec![1; 1000]) };
        written.push(part.clone());
        let append = Request::Append { shard: 0, epoch: 1, segment: 0, parts: vec![part] };
        assert_eq!(retry_until_reply(&ledger, &append).await.0, Reply::Written);
        let beat = Request::Beat { node, incarnation: 1, beat: n - 1, terms: Vec::new() };
        match retry_until_reply(&ledger, &beat).await {
            (Reply::Swapped(Swapped::Done), _) => {}
            // Applied by an attempt without a reply: an earlier one, or the one at the killed node.
            (Reply::Swapped(Swapped::Refused(Some(Record::Node(shown)))), _) => {
                assert_eq!((shown.incarnation, shown.beat), (1, n));
            }
            other => panic!("{other:?}"),
        }
    }
    let connected = CassandraLedger::connect(&options).await.unwrap();
    let all = Request::ReadEntries { shard: 0, epoch: 1, segment: 0, after: 0, limit: 1 << 20 };
    assert_eq!(retry_until_reply(&connected, &all).await.0, Reply::Parts(written));
    cluster("start-node", "2");
}
